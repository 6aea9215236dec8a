"""`queue` for threads that take turns (see `patches/threading.py`)."""


def apply(module):
    """Use the queue in Python: its lock lets other threads go on."""
    module.SimpleQueue = module._PySimpleQueue
