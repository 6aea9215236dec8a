"""What several commands know of processes: listing them, and programs that run programs."""
