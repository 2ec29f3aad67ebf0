"""What processes that do not trust each other hand over: tensors, their guard bars, files, and what was raised."""
