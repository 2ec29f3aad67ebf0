"""Prefect flows: they compose stages and hold no logic of their own."""
