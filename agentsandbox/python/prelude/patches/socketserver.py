"""Servers in steps: `serve_forever` answers while other threads wait, and the other way round.

The library has no source that could be compiled as a generator, so the steps are written by hand:
they do what CPython's methods do. A handler works in steps, too, if it is one of HTTP or its
`handle` has source; then a connection that is kept open keeps nobody else waiting. A method that a
script overrides (`process_request`, `finish_request`) is called in one piece.
"""

from _agentsandbox.patches import threading as turns
from _agentsandbox.suspending import flattened
from _agentsandbox.waiting import POLL_READ, is_ready


def serve_steps(self, poll_interval=0.5):
    """Do `serve_forever`."""
    self._BaseServer__is_shut_down.clear()
    try:
        fd = self.fileno()
        watch = ((fd, POLL_READ),)

        def ready():
            return self._BaseServer__shutdown_request or is_ready(fd, POLL_READ)

        while not self._BaseServer__shutdown_request:
            found = yield ("until", (ready, poll_interval, watch), {})
            if self._BaseServer__shutdown_request:
                break
            if found:
                yield from request_steps(self)
            self.service_actions()
            yield None
    finally:
        self._BaseServer__shutdown_request = False
        self._BaseServer__is_shut_down.set()


def handle_request_steps(self):
    """Do `handle_request`."""
    times = [time for time in (self.socket.gettimeout(), self.timeout) if time is not None]
    if (yield ("readable", (self.fileno(), min(times, default=None)), {})):
        return (yield from request_steps(self))
    return self.handle_timeout()


def request_steps(self):
    """Accept a connection and answer it."""
    try:
        request, client_address = self.get_request()
    except OSError:
        return
    if not self.verify_request(request, client_address):
        self.shutdown_request(request)
        return
    try:
        yield from process_steps(self, request, client_address)
    except Exception:
        self.handle_error(request, client_address)
        self.shutdown_request(request)
    except BaseException:
        self.shutdown_request(request)
        raise


def process_steps(self, request, client_address):
    """Do `process_request`."""
    process = type(self).process_request
    if process is Originals.process:
        yield from finish_steps(self, request, client_address)
        self.shutdown_request(request)
        return
    turns.Turns.defers = process is Originals.process_in_thread
    try:
        self.process_request(request, client_address)
    finally:
        turns.Turns.defers = False


def thread_steps(self, request, client_address):
    """Do `process_request_thread`."""
    try:
        yield from finish_steps(self, request, client_address)
    except Exception:
        self.handle_error(request, client_address)
    finally:
        self.shutdown_request(request)


def finish_steps(self, request, client_address):
    """Do `finish_request`: make a handler, which does all the work."""
    kind = self.RequestHandlerClass
    is_usual = isinstance(kind, type) and kind.__init__ is Originals.init_handler
    if not is_usual or type(self).finish_request is not Originals.finish:
        self.finish_request(request, client_address)
        return
    handler = kind.__new__(kind)
    handler.request, handler.client_address, handler.server = request, client_address, self
    handler.setup()
    try:
        code = getattr(kind.handle, "__code__", None)
        if getattr(code, "co_filename", "") == Originals.http:
            yield from http_steps(handler)
        elif (steps := turns.steps_of(handler.handle)) is not None:
            yield from steps()
        else:
            handler.handle()
    finally:
        handler.finish()


def http_steps(handler):
    """Do `handle` of a handler of HTTP: wait for each request, then answer it in one piece."""
    handler.close_connection = False
    while not handler.close_connection:
        if not (yield ("input", (handler.rfile, handler.connection), {})):
            handler.log_error("Request timed out: %r", TimeoutError("timed out"))
            return
        handler.close_connection = True
        handler.handle_one_request()


class Originals:
    """CPython's methods, to see what a script overrides."""

    process = process_in_thread = finish = init_handler = None
    http = ""


def apply(module):
    """Serve in steps, in threads or not."""
    server, mixin = module.BaseServer, module.ThreadingMixIn
    Originals.process, Originals.finish = server.process_request, server.finish_request
    Originals.process_in_thread = mixin.process_request
    Originals.init_handler = module.BaseRequestHandler.__init__
    place = server.serve_forever.__code__.co_filename
    Originals.http = place.replace("socketserver.py", "http/server.py")

    def serve_forever(self, poll_interval=0.5):
        """Handle requests until `shutdown`; call `service_actions` at least so often."""
        return turns.Turns.do(flattened(serve_steps(self, poll_interval)))

    def handle_request(self):
        """Handle one request, or call `handle_timeout` if none comes in time."""
        return turns.Turns.do(flattened(handle_request_steps(self)))

    for function, steps in ((serve_forever, serve_steps), (handle_request, handle_request_steps)):
        function._sandbox_steps = steps
        function.__qualname__ = f"BaseServer.{function.__name__}"
        function.__module__ = server.__module__
        setattr(server, function.__name__, function)
    mixin.process_request_thread._sandbox_steps = thread_steps
