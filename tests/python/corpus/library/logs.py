import io
import logging
import logging.handlers
import sys
import warnings

root = logging.getLogger()
logging.basicConfig(
    level=logging.INFO, format="%(levelname)-8s %(name)s: %(message)s", stream=sys.stdout
)
log = logging.getLogger("app.db")
log.debug("hidden")
log.info("connected to %s:%d", "host", 5432)
log.warning("slow %(q)s", {"q": "SELECT"})
handler = logging.handlers.RotatingFileHandler("app.log", maxBytes=60, backupCount=1)
handler.setFormatter(logging.Formatter("{levelname[0]} {message}", style="{"))
log.addHandler(handler)
log.propagate = False
for i in range(6):
    log.error("failure number %s", i)
try:
    1 / 0
except ZeroDivisionError:
    log.exception("while dividing")
handler.close()
print(
    open("app.log").read().splitlines()[0],
    log.getEffectiveLevel(),
    log.isEnabledFor(10),
    logging.getLevelName(40),
)
adapter = logging.LoggerAdapter(logging.getLogger("x"), {"user": "me"})
adapter.info("adapted")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("old", DeprecationWarning)
    print(caught[0].category.__name__, caught[0].message)
logging.captureWarnings(True)
warnings.warn("to the log")
log2 = logging.getLogger("bad")
log2.info("wrong %d", "x")
print("after")
logging.getLogger("y").critical("the end", stack_info=False)
warnings.simplefilter("error")
logging.captureWarnings(False)
warnings.warn("fatal", UserWarning)
