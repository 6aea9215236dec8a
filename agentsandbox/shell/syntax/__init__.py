"""The shell's grammar: from text to nodes with positions, and back."""
