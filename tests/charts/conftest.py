"""The movies of the movie tests, which the film is held to, too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "movie"))
