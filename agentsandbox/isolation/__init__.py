"""Executions in a process of their own: a boundary that does not depend on our code."""
