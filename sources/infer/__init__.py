"""Finding the arguments and inputs with which a module runs, and whether what runs is worth keeping."""
