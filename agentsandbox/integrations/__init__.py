"""Translations of `tools` into frameworks, each imported only when asked for: its framework is an
optional dependency.
"""
