"""`python -m headwater` is `headwater`."""

from __future__ import annotations

import sys

from headwater.cli.main import main

sys.exit(main())
