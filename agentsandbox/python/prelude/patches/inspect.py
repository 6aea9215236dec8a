"""`inspect.stack` shows the script's own frames only."""

from _agentsandbox import OWN_CODE


def apply(module):
    """End the list of outer frames at the script's first one."""
    original = module.getouterframes

    def getouterframes(frame, context=1):
        """Return the frames from `frame` outwards."""
        found = []
        for info in original(frame, context):
            if info.filename.startswith(OWN_CODE + "/launching"):
                break
            if not info.filename.startswith(OWN_CODE):
                found.append(info)
        return found

    module.getouterframes = getouterframes
