"""What several commands know of time: dates in words, durations, times of files."""
