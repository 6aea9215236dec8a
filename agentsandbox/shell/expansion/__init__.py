"""What a word becomes: variables, parameters, braces, tildes, splitting, globbing, quoting."""
