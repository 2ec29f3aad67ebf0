"""Tasks from PyTorch's own operators: its operator database, its layers, and short chains of both."""
