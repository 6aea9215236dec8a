"""`python -m agentsandbox`"""

from __future__ import annotations

import sys

from agentsandbox.cli import main

sys.exit(main())
