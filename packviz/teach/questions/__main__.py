"""Run one entry and write its answer to a file: `python -m packviz.teach.questions KEY FILE`."""

import pickle
import sys
from dataclasses import replace
from pathlib import Path

from packviz.teach.questions import ENTRIES, answer

if __name__ == "__main__":
    key, path = sys.argv[1:]
    done = answer(next(entry for entry in ENTRIES if entry.key == key))
    wrong, right = (replace(program, names={}, value=None) for program in (done.wrong, done.right))
    Path(path).write_bytes(pickle.dumps(replace(done, wrong=wrong, right=right)))
