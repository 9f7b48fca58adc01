"""Extension points, the built-in plugins, and the registry that loads both by one door."""
