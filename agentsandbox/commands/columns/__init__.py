"""Text in columns: column, colrm, expand, unexpand."""
