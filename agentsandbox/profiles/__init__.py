"""Tools for models, independent of any framework: one module per vocabulary (profile)."""
