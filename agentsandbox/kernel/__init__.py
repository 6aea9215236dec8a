"""What everything stands on: streams, processes, budgets, filesystems, patterns, quoting."""
