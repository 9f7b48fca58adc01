"""Runners that hold our rules beside recorded decisions of Nutch's own programs."""
