"""Writes down what the installed PyTorch does with every new case: ``python tests/torch/record.py``.

What is recorded stays, as its last digits depend on the machine; ``--all`` records everything anew.
"""

import gzip
import importlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def main():
    sys.path.insert(0, str(HERE))
    behaviour = importlib.import_module("behaviour")
    torch = importlib.import_module("torch")
    path = HERE / "recorded.json.gz"
    known = {} if "--all" in sys.argv else json.loads(gzip.decompress(path.read_bytes()))
    tables = {}
    for table in (
        "operations",
        "semantics",
        "printing",
        "more",
        "programs",
        "printed",
        "scripts",
        "distributions",
        "arguments",
        "random",
        "statements",
        "numbers",
        "meta",
        "kinds",
    ):
        cases = importlib.import_module(f"cases_{table}").cases()
        held = known.get(table, {})
        tables[table] = {
            code: held[code] if code in held else behaviour.outcome(torch, code) for _, code in cases
        }
    text = json.dumps(tables, sort_keys=True).encode()
    path.write_bytes(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    main()
