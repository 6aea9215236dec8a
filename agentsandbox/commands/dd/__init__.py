"""dd: blocks copied and converted."""
