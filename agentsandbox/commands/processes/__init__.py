"""Processes: ps, pgrep, pkill, kill, watch."""
