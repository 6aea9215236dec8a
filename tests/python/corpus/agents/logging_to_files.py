import logging, logging.handlers, sys, io

logging.basicConfig(
    level=logging.INFO, format="%(levelname)s:%(name)s:%(lineno)d %(message)s", stream=sys.stdout
)
log = logging.getLogger("app")
log.info("start %d", 1)
log.debug("no")
try:
    1 / 0
except ZeroDivisionError:
    log.exception("oops")
h = logging.handlers.RotatingFileHandler("app.log", maxBytes=100, backupCount=2)
h.setFormatter(logging.Formatter("%(message)s %(threadName)s %(process)d"[:26]))
log.addHandler(h)
for i in range(10):
    log.warning("w%d" % i)
import os

print(sorted(x for x in os.listdir() if x.startswith("app.log")))
