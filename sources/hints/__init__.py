"""What a package itself tells of arguments and inputs: calls, defaults, configurations, names."""
