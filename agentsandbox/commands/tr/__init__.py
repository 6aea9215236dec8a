"""tr: characters translated."""
