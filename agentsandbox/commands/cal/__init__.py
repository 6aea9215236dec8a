"""Calendars: `cal` and `ncal`."""
