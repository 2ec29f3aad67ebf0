"""One check a file: what a pair must be to enter the published set."""
