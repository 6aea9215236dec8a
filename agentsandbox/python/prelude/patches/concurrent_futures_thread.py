"""`ThreadPoolExecutor` in one thread: `submit` calls the function and returns a finished future."""


def apply(module):
    """Let `submit` do the work itself."""
    from concurrent.futures._base import Future

    def submit(self, fn, /, *args, **kwargs):
        """Call `fn` and return the future that holds its result or exception."""
        with self._shutdown_lock:
            if self._broken:
                raise module.BrokenThreadPool(self._broken)
            if self._shutdown:
                raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        future.set_running_or_notify_cancel()
        try:
            initialize(self)
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future

    def initialize(self):
        """Call the initializer of the workers once."""
        context = getattr(self, "_initializer", None)
        if context is not None:
            self._initializer = None
            context(*self._initargs)

    original = module.ThreadPoolExecutor.__init__

    def init(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=(), **more):
        original(self, max_workers, thread_name_prefix, None, (), **more)
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self._initializer, self._initargs = initializer, initargs

    module.ThreadPoolExecutor.__init__ = init
    module.ThreadPoolExecutor.submit = submit
