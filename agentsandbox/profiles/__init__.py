"""Tools for models, framework-neutral: one module per vocabulary."""
