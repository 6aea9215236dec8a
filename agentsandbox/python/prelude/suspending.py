"""Functions that can stop in the middle: how threads take turns without a kernel.

WASI has one thread, and CPython cannot leave a frame and come back to it, except to the frame of a
generator. So the function that a thread runs is compiled again as a generator: where its own code
calls what may wait (`queue.get()`, `event.wait()`, `time.sleep(1)`, `for line in pipe`, `with
lock:`) it yields a *request* instead, (function, arguments, keywords). `threading` answers when
the answer is there, and lets other threads go on until then. `while` loops yield None, so that one
that only looks at a flag does not keep the others waiting.

A function that such a function calls is not changed: while it waits others go on, too, but on top
of it, so it goes on after them. A function without source stays as it is.
"""

import ast
import inspect
from opcode import opmap
from types import FunctionType, MethodType

WAITING = frozenset(
    """
    accept acquire get handle_request join put read readline recv recv_into recvfrom result select
    send sendall serve_forever sleep wait wait_for
    """.split()
)
"""Names of calls that may wait; what else has such a name (`dict.get`) is just called."""
JUMP = opmap["JUMP_BACKWARD"]


KNOWN = {}


def generator_of(work, calls_only=False):
    """Return a function whose generators do what `work` does, or None if it never waits.

    With `calls_only` a loop alone is no reason.
    """
    function = getattr(work, "__func__", work)
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        return None
    if WAITING.isdisjoint(code.co_names) and (calls_only or JUMP not in code.co_code[::2]):
        return None
    key = (code, function) if code.co_freevars else code
    if key not in KNOWN:
        KNOWN[key] = rewritten(function, code)
    changed = KNOWN[key]
    if changed is None:
        return None
    return MethodType(changed, work.__self__) if function is not work else changed


def flattened(steps):
    """Yield the requests of a thread's steps and of the calls in them that have steps, too.

    A function of the standard library may have its steps as `_sandbox_steps`: a generator function
    that yields requests.
    """
    stack, value, error = [steps], None, None
    while True:
        try:
            request = stack[-1].send(value) if error is None else stack[-1].throw(error)
        except BaseException as failure:
            stack.pop()
            ended = isinstance(failure, StopIteration)
            if not stack:
                if ended:
                    return failure.value
                raise
            value, error = (failure.value, None) if ended else (None, failure)
            continue
        value = error = None
        if request is not None and (inner := written_steps(request[0])) is not None:
            stack.append(inner(*request[1], **request[2]))
            continue
        try:
            value = yield request
        except GeneratorExit:
            for each in reversed(stack):
                each.close()
            raise
        except BaseException as failure:
            error = failure


def written_steps(work):
    """Return the `_sandbox_steps` of a function or method, bound as it is; None for none."""
    function = getattr(work, "__func__", work)
    steps = getattr(function, "_sandbox_steps", None)
    return steps if steps is None or function is work else steps.__get__(work.__self__)


def rewritten(function, code):
    """Return the function as a generator function, or None."""
    try:
        lines, first = inspect.getsourcelines(code)
        source = "".join(lines)
        if source[:1].isspace():
            source, first = "if 1:\n" + source, first - 1
        node = ast.parse(source).body[0]
        if isinstance(node, ast.If):
            node = node.body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    if not isinstance(node, ast.FunctionDef) or node.name != function.__name__:
        return None
    rewriter = Rewriter()
    node.body = rewriter.bodies(node.body)
    if not rewriter.count:
        return None
    node.decorator_list = []
    module = enclosed(node, function.__qualname__, code.co_freevars)
    ast.increment_lineno(ast.fix_missing_locations(module), first - 1)
    new = find_code(compile(module, code.co_filename, "exec", dont_inherit=True), node.name)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    made = FunctionType(
        new,
        function.__globals__,
        node.name,
        function.__defaults__,
        tuple(cells[name] for name in new.co_freevars),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def enclosed(node, qualname, names):
    """Return a module in which the function has its outer variables, and its class for `__x`."""
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    body = [ast.FunctionDef("outer", arguments, [node], [], None, None, [])] if names else [node]
    outer = qualname.split(".")[-2:-1]
    if outer and outer[0].isidentifier():
        body = [ast.ClassDef(outer[0], [], [], body, [], [])]
    return ast.Module(body, [])


def find_code(code, name):
    """Return the code object of the function `name` inside another one."""
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            if constant.co_name == name and constant.co_flags & inspect.CO_GENERATOR:
                return constant
            if (found := find_code(constant, name)) is not None:
                return found
    return None


class Rewriter(ast.NodeTransformer):
    """Put requests where a function's own code may wait."""

    def __init__(self):
        self.count = 0

    def bodies(self, statements):
        """Return rewritten statements."""
        return self.visit(ast.Module(statements, [])).body

    def _leave(self, node):
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _leave
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _leave

    def request(self, function, args=(), keywords=()):
        """Return the expression that yields a request."""
        self.count += 1
        names = [None if k.arg is None else ast.Constant(k.arg) for k in keywords]
        given = ast.Dict(names, [k.value for k in keywords])
        parts = [function, ast.Tuple(list(args), ast.Load()), given]
        return ast.Yield(ast.Tuple(parts, ast.Load()))

    def visit_Call(self, node):
        """Make a call that may wait a request."""
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name not in WAITING:
            return node
        return placed(self.request(node.func, node.args, node.keywords), node)

    def visit_With(self, node):
        """Wait for a lock before the statement takes it."""
        self.generic_visit(node)
        before = [
            placed(ast.Expr(self.request(ast.Constant("enter"), [item.context_expr])), node)
            for item in node.items
            if isinstance(item.context_expr, (ast.Name, ast.Attribute))
        ]
        return [*before, node]

    def visit_While(self, node):
        """Let others go on in each turn of a loop."""
        self.generic_visit(node)
        self.count += 1
        node.body.insert(0, placed(ast.Expr(ast.Yield(None)), node))
        return node

    def visit_For(self, node):
        """Wait for each line of a pipe."""
        self.generic_visit(node)
        source, last = node.iter, None
        if isinstance(source, ast.Call) and getattr(source.func, "id", "") == "iter":
            if len(source.args) != 2:
                return node
            source, last = source.args
        elif not isinstance(source, (ast.Name, ast.Attribute)):
            return node
        here, item, end = (f"sandbox_{kind}_{self.count}" for kind in ("iter", "item", "last"))
        if last is None:
            set_up = [assign(here, self.request(ast.Constant("iter"), [source]))]
            step = self.request(ast.Constant("next"), [load(here)])
            ended, value = ast.UnaryOp(ast.Not(), load(item)), first_of(item)
        else:
            set_up = [assign(here, source), assign(end, last)]
            step = self.request(load(here))
            ended, value = ast.Compare(load(item), [ast.Eq()], [load(end)]), load(item)
        body = [
            assign(item, step),
            ast.If(ended, [*node.orelse, ast.Break()], []),
            ast.Assign([node.target], value),
        ]
        loop = ast.While(ast.Constant(True), body, [])
        made = [placed(each, node) for each in (*set_up, loop)]
        loop.body += node.body
        return made


def placed(new, node):
    """Give a new node and those below it the place of the one that they replace."""
    return ast.fix_missing_locations(ast.copy_location(new, node))


def load(name):
    """Return the expression of a variable."""
    return ast.Name(name, ast.Load())


def first_of(name):
    """Return the expression of a variable's first item."""
    return ast.Subscript(load(name), ast.Constant(0), ast.Load())


def assign(name, value):
    """Return the statement that sets a variable."""
    return ast.Assign([ast.Name(name, ast.Store())], value)
