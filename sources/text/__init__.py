"""Reading and editing the text of Python programs that are never imported."""
