"""Definitions cut out of a package, each with what it needs."""
