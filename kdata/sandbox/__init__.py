"""Running code that nobody has read: warm child processes under limits."""
