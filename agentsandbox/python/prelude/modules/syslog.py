"""The system log: the sandbox has none, so each use says so."""

LOG_EMERG, LOG_ALERT, LOG_CRIT, LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG = range(8)
LOG_USER, LOG_DAEMON, LOG_LOCAL0 = 8, 24, 128
LOG_PID = 1


def openlog(*args, **more):
    """Refuse: there is no system log."""
    raise NotImplementedError(
        "the system log is not available in this sandbox's Python; write to a file or to stderr"
    )


syslog = openlog
