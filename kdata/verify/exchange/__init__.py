"""What processes that do not trust each other hand over: tensors, their guard bars, and the names of files."""
