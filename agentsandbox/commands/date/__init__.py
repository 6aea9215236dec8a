"""The command date and its words."""
