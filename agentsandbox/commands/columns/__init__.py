"""Text in columns: colrm, column, expand, unexpand."""
