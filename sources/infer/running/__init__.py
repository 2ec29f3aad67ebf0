"""Running a module at little cost: what a call takes, how far it came, whether what it gives is worth keeping."""
