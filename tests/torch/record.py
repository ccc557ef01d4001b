"""Writes down what the installed PyTorch does with every case: ``python tests/torch/record.py``."""

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
    tables = {}
    for table in (
        "operations",
        "semantics",
        "printing",
        "more",
        "programs",
        "printed",
        "distributions",
        "arguments",
    ):
        cases = importlib.import_module(f"cases_{table}").cases()
        tables[table] = {code: behaviour.outcome(torch, code) for _, code in cases}
    text = json.dumps(tables, sort_keys=True).encode()
    (HERE / "recorded.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    main()
