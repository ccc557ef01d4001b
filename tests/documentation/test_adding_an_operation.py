"""The guide to adding an operation, followed to the letter in a copy of the library."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_adding_a_row_touches_one_file_and_brings_its_tests(docs: Path, tmp_path: Path) -> None:
    guide = (docs / "howto/add-an-operation.md").read_text(encoding="utf-8")
    section = guide.split("\n## In the library itself\n")[1]
    rows = re.findall(r"`(funcgrad/ops/[\w/]+\.py)`.*?:\n\n```python\n(.*?)```", section, flags=re.DOTALL)
    assert [path for path, _ in rows] == [
        "funcgrad/ops/elementwise/special.py",
        "funcgrad/ops/reducing/exponential_sums.py",
    ]
    (command,) = re.findall(r"```sh\n(.*?)\n```", section)
    for name in ("funcgrad", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for path, text in rows:
        file = tmp_path / path
        before = f"{file.read_text(encoding='utf-8')}\n\n" if file.exists() else ""
        file.write_text(before + text, encoding="utf-8")
    names = ["softsign", "reduce_logaddexp"]
    program, *words = shlex.split(command.replace("-k softsign", f"-k '{' or '.join(names)}'"))
    assert program == "python"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, *words, "-v", "-p", "no:cacheprovider", "-n", "0"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout[-3000:]
    for name in names:
        assert len(re.findall(rf"::\w+\[{name}\b.*PASSED", found.stdout)) > 15, name
        assert f"test_primitives[{name}] PASSED" in found.stdout
