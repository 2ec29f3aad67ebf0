"""Arguments for a constructor: by its signature, calls and configurations, and by what went wrong with others."""
