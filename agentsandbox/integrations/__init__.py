"""Adapters of `tools` to frameworks. Each needs its framework, an optional dependency."""
