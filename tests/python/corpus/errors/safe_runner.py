"""Run a function and print what went wrong, as tools with a --debug option do."""

import io
import linecache
import sys
import traceback


def work(n):
    if n == 0:
        raise ValueError("bottom")
    work(n - 1)


try:
    work(2)
except ValueError as e:
    print(traceback.format_exc(limit=1))
    print(
        traceback.extract_tb(e.__traceback__)[-1].lineno,
        [f.name for f in traceback.extract_tb(e.__traceback__)],
    )
    print("".join(traceback.format_exception_only(e)), end="")
    traceback.print_exc(file=sys.stdout)
    print(e.__traceback__.tb_frame.f_code.co_name, sys.exc_info()[0].__name__, repr(e), e.args)
print("".join(traceback.format_list(traceback.extract_stack())).strip())
print(repr(linecache.getline(__file__, 1)))
try:
    try:
        1 / 0
    except ZeroDivisionError as inner:
        raise KeyError("outer") from inner
except KeyError as e:
    print(type(e.__cause__).__name__, e.__context__ is e.__cause__, e.__suppress_context__)
    traceback.print_exception(e, file=sys.stdout)
try:
    raise ExceptionGroup("g", [ValueError(1), ExceptionGroup("h", [TypeError(2)])])
except ExceptionGroup as g:
    print(g.subgroup(TypeError), g.split(ValueError)[0], len(g.exceptions))
    traceback.print_exc(file=sys.stdout)
if "--debug" not in sys.argv:
    sys.tracebacklimit = 0
work(1)
