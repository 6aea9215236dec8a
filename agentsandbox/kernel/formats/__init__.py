"""Formats that builtins and programs of the same name share: printf, echo, test, dates."""
