"""`queue` without the C queue, which cannot let another thread go on while it waits."""


def apply(module):
    """Use the queue in Python."""
    module.SimpleQueue = module._PySimpleQueue
