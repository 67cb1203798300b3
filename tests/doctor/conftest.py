"""Batches of the tests of the trace."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
