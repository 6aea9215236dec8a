"""Shell patterns: matchers, wildcards in linear time, names of files."""
