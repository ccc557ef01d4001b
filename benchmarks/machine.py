"""What the numbers were measured on: enough to judge them, nothing that names a computer or a person."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.libraries import loaded

ROOT = Path(__file__).parents[1]

PACKAGES = ("numpy", "scipy", "numba", "torch", "jax", "jaxlib", "autograd")


def machine() -> dict[str, str]:
    """Processor, cores, memory, system and Python."""
    return {
        "processor": processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def processor() -> str:
    """The processor's name, family, model and vector instructions, where Linux tells them."""
    facts: dict[str, str] = {}
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            facts.setdefault(key.strip(), value.strip())
    if "model name" not in facts:
        return platform.processor() or platform.machine()
    flags = facts.get("flags", "").split()
    vectors = next((name for name in ("avx512f", "avx2", "avx") if name in flags), "")
    kind = f"family {facts.get('cpu family')}, model {facts.get('model')}"
    return ", ".join(part for part in (facts["model name"], kind, vectors) if part)


def memory() -> str:
    """The machine's memory."""
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return "unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"


def versions() -> dict[str, str]:
    """The versions of funcgrad and of every installed package that has a part in the numbers."""
    found = {"funcgrad": loaded("funcgrad").__version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def load() -> str:
    """How many processes wanted to run in the last minute; much above one, the numbers are doubtful."""
    return f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"


def revision() -> str:
    """The commit that was measured, with a plus if files of the package differ from it."""
    commit = git("rev-parse", "--short", "HEAD")
    return commit + "+" * bool(git("status", "--porcelain", "--", "funcgrad")) if commit else "unknown"


def git(*arguments: str) -> str:
    """What git says; empty outside of a checkout or without git."""
    try:
        process = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return process.stdout.strip()
