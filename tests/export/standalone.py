"""Runs the text of exported modules in a process that has no funcgrad."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RUNNER = """
import collections, pickle, sys, types, warnings

def plain(x):
    # The process that reads results knows no classes of the module.
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (tuple, list)):
        return tuple([plain(value) for value in x]) if isinstance(x, tuple) else [plain(v) for v in x]
    return x

class NoFuncgrad:
    def find_spec(self, name, *others):
        if name.partition(".")[0] == "funcgrad":
            raise ImportError("exported modules need no funcgrad")

sys.meta_path.insert(0, NoFuncgrad())
warnings.simplefilter("error")
# Machine code warns of nothing; Python's interpreter does.
warnings.filterwarnings("ignore", "(overflow|invalid value|divide by zero|underflow)", RuntimeWarning)
with open(sys.argv[1], "rb") as file:
    jobs = pickle.load(file)
answers = []
for name, text, calls in jobs:
    module = types.ModuleType("exported")
    found = []
    try:
        exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    except Exception as error:
        found.append(error)
        answers.append(found)
        continue
    for args in calls:
        try:
            found.append(plain(getattr(module, name)(*args)))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    answers.append(found)
with open(sys.argv[2], "wb") as file:
    pickle.dump(answers, file)
"""

Job = tuple[str, str, Sequence[tuple[Any, ...]]]
"""The name of a function, the text of its module, and the arguments of each call."""


def run_standalone(jobs: Sequence[Job], folder: Path, *, compiled: bool = True) -> list[list[Any]]:
    """The results of every call of every module; of a call that raises, the words of the error.

    Without `compiled` Numba leaves the functions to Python: what they compute is then tested, and not the
    seconds that Numba takes for each.
    """
    given, back = folder / "jobs.pickle", folder / "answers.pickle"
    given.write_bytes(pickle.dumps([(name, str(text), list(calls)) for name, text, calls in jobs]))
    kept = ("PATH", "HOME", "SYSTEMROOT", "TEMP", "TMP")
    environment = {key: os.environ[key] for key in kept if key in os.environ}
    environment["PYTHONPATH"] = str(Path(__file__).parent)
    environment["NUMBA_DISABLE_JIT"] = "0" if compiled else "1"
    command = [sys.executable, "-c", RUNNER, str(given), str(back)]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[list[Any]] = pickle.loads(back.read_bytes())
    return found
