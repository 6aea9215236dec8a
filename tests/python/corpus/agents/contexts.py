import warnings, contextlib, io, sys

warnings.warn("careful", DeprecationWarning)
warnings.warn("user")
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    warnings.warn("x")
    print(len(w), w[0].category.__name__)
b = io.StringIO()
with contextlib.redirect_stdout(b):
    print("in")
print(repr(b.getvalue()))
with contextlib.suppress(ZeroDivisionError):
    1 / 0
with contextlib.chdir("/tmp"):
    import os

    print(os.getcwd())
