"""chmod, chown, chgrp."""
