"""`traceback` and `inspect` show the script's own stack, which ends at its `__main__`."""

from _agentsandbox import OWN_CODE


def apply(module):
    """Leave the frames of the prelude out of stacks."""
    original = module.walk_stack

    def walk_stack(f):
        """Walk a stack from `f` outwards up to the script's first frame."""
        for frame, line in original(f):
            name = frame.f_code.co_filename
            if name.startswith(OWN_CODE + "/launching"):
                return
            if not name.startswith(OWN_CODE):
                yield frame, line

    module.walk_stack = walk_stack
