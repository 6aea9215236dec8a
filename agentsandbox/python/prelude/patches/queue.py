"""`queue` for threads that run one after the other (see `patches/threading.py`)."""


def apply(module):
    """Use the queue in Python, and let a full queue take one more item than to wait for ever.

    The thread that would make room begins when another one blocks, and it takes all it finds: what
    is put beyond `maxsize` waits in the queue instead of in the thread that puts it.
    """
    module.SimpleQueue = module._PySimpleQueue
    original = module.Queue.put

    def put(self, item, block=True, timeout=None):
        """Put an item into the queue; with a timeout or without `block`, `Full` may be raised."""
        if not block or timeout is not None or not 0 < self.maxsize <= self._qsize():
            return original(self, item, block, timeout)
        limit, self.maxsize = self.maxsize, 0
        try:
            return original(self, item)
        finally:
            self.maxsize = limit

    module.Queue.put = put
