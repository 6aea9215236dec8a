"""The subcommands: each module has a table `COMMANDS`, and usage texts in `USAGES`."""
