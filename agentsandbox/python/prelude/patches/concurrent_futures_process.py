"""`ProcessPoolExecutor` over the pool of `patches/multiprocessing.py`: `submit` does the call."""


def apply(module):
    """Let `submit` do the work itself."""
    from concurrent.futures._base import Executor, Future
    from multiprocessing import Pool

    def init(self, max_workers=None, mp_context=None, initializer=None, initargs=(), **more):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._max_workers = max_workers or 1
        self._pool = Pool(None, initializer, initargs)

    def submit(self, fn, /, *args, **kwargs):
        """Call `fn` and return the future that holds its result or exception."""
        if not self._pool._open:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(self._pool.apply(fn, args, kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Take no more calls."""
        self._pool.close()

    kind = module.ProcessPoolExecutor
    kind.__init__, kind.submit, kind.shutdown = init, submit, shutdown
    kind.map = lambda self, fn, *iterables, timeout=None, chunksize=1, **more: Executor.map(
        self, fn, *iterables, timeout=timeout
    )
