"""`ProcessPoolExecutor` refused by name."""

REFUSAL = (
    "ProcessPoolExecutor is not available in this sandbox's Python: there is one process; "
    "use ThreadPoolExecutor, which runs the calls one after the other"
)


def apply(module):
    """Refuse to make an executor."""

    def init(self, *args, **more):
        raise NotImplementedError(REFUSAL)

    module.ProcessPoolExecutor.__init__ = init
