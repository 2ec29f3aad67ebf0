"""Inputs for a ``forward``: first guesses by what its text and layers say, and what a failed call asks to change."""
