#!/usr/bin/env python3
"""Record what the real curl and wget answer to the cases of tests/network, as `record.py` does.

    tests/record/network.py FILE...          fill in stdout, stderr and status of every case
    tests/record/network.py --check FILE...  change nothing, report what differs

While the tools run, the site of tests/network/server.py is served on 127.0.0.1, port 8765, and
what is not HTTP on port 8766.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.network.server import PORT, RAW_PORT, serving, serving_raw
from tests.record.record import main

if __name__ == "__main__":
    with serving(PORT), serving_raw(RAW_PORT):
        sys.exit(main())
