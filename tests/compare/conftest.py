"""The traces of the studies' tests, which the comparison is held to, too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "studies"))
