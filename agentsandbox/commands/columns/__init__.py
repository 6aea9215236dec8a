"""Text in columns: column, expand, unexpand."""
