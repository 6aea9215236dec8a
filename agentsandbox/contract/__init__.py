"""What a command is, and what it may declare about itself."""
