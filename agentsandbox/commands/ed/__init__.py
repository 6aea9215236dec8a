"""The line editor `ed`: its buffer, its commands, and the command line."""
