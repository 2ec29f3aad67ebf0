"""True arguments and inputs, seen while a package uses its own classes."""
