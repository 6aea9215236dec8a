"""Formats that the shell's builtins and the programs of the same name share: printf, echo, test,
dates.
"""
