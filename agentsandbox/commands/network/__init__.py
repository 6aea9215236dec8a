"""curl and wget, which say that there is no network."""
