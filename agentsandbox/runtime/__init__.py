"""One sandbox at work: its session, its executions, the event loop and the observer."""
