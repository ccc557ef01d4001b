"""Prints the Pythons of this machine that funcgrad is tested with, one a line: version, and path or "-".

Looks on PATH, at what pyenv and uv have installed, and where images of continuous integration put them. A
name on PATH may be a shim for a version that is not there, so each candidate is run before it counts.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.14t")
ASKS = (
    "import sys, sysconfig, venv, ensurepip;"
    "print('%d.%d' % sys.version_info[:2] + ('t' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''))"
)


def candidates(version: str) -> Iterator[str]:
    """Where a version may be."""
    yield sys.executable
    name = f"python{version}"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield os.path.join(folder, name)
    plain = version.removesuffix("t")
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    uv = os.environ.get("UV_PYTHON_INSTALL_DIR", os.path.expanduser("~/.local/share/uv/python"))
    tools = os.environ.get("RUNNER_TOOL_CACHE", "/opt/hostedtoolcache")
    patterns = (
        f"{pyenv}/versions/{plain}*/bin/{name}",
        f"{uv}/*{plain}*/bin/{name}",
        f"{tools}/Python/{plain}*/*/bin/{name}",
        f"/opt/python/cp{plain.replace('.', '')}-cp{version.replace('.', '')}/bin/python",
        f"/usr/local/bin/{name}",
        f"/opt/homebrew/bin/{name}",
        f"/Library/Frameworks/Python*.framework/Versions/{plain}/bin/{name}",
    )
    for pattern in patterns:
        yield from sorted(glob.glob(pattern), reverse=True)
    if shutil.which("uv"):
        asked = ["uv", "python", "find", "--no-python-downloads", version]
        yield subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()


def is_version(path: str, version: str) -> bool:
    """Whether a path runs this version, with what an environment of its own needs."""
    if not path or not os.access(path, os.X_OK):
        return False
    try:
        said = subprocess.run(
            [path, "-I", "-c", ASKS], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return said.stdout.strip() == version


def found(version: str) -> str:
    """The path of a version, or "-"."""
    return next((path for path in dict.fromkeys(candidates(version)) if is_version(path, version)), "-")


if __name__ == "__main__":
    for version in VERSIONS:
        sys.stdout.write(f"{version} {found(version)}\n")
