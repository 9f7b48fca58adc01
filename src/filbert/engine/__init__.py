"""Engines: where relational work and page work run. Two methods, one SQL text."""
