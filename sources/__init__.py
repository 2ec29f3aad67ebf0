"""Where code comes from, and how tasks are cut out of it."""
