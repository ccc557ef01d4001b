"""``python -m funcgrad info``: what a result depends on, for the reader and for reports of bugs.

Imports no peer: whether one is there, and its version, are read from what is installed.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.command.page import bytes_words, rows_of_facts
from funcgrad.compile.engines.llvm import host_cpu
from funcgrad.processors import available_processors, configured_threads

PACKAGES = ("numpy", "scipy", "numba", "llvmlite")
PEERS = ("torch", "jax", "autograd")
AROUND = ("jupyterlab", "matplotlib", "tqdm")

VARIABLES = {
    "FUNCGRAD_CACHE": "0 turns the disk cache off",
    "FUNCGRAD_CACHE_DIR": "where the disk cache is",
    "FUNCGRAD_CACHE_SIZE": "the most bytes it keeps",
    "FUNCGRAD_NOTICES": "0 hides notices of long compilations",
    "FUNCGRAD_NUM_THREADS": "threads that long loops are divided between",
    "FUNCGRAD_TRACEBACKS": "full shows the library's own frames",
}

VECTORS = (
    # The first that a processor has names its width.
    ("+avx512f", "AVX-512", 512),
    ("+sve2", "SVE2", None),
    ("+sve", "SVE", None),
    ("+avx2", "AVX2", 256),
    ("+avx", "AVX", 256),
    ("+sse2", "SSE2", 128),
    ("+neon", "NEON", 128),
)
EXTRAS = ("fma", "f16c", "avx512vl", "avx512bf16", "avx512fp16", "bf16", "dotprod", "amx-tile")


def facts() -> dict[str, Any]:
    """Everything as plain data: what ``info --json`` prints."""
    return {
        "funcgrad": fg.__version__,
        "python": {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        },
        "packages": versions(PACKAGES),
        "blas": blas(),
        "processor": processor(),
        "threads": configured_threads(),
        "cache": cache(),
        "peers": versions(PEERS),
        "around": versions(AROUND),
        "variables": {name: os.environ[name] for name in sorted(os.environ) if name.startswith("FUNCGRAD_")},
    }


def versions(names: tuple[str, ...]) -> dict[str, str | None]:
    """The version of each package that is installed; None for the others. Imports none of them."""
    found: dict[str, str | None] = {}
    for name in names:
        try:
            found[name] = version(name) if find_spec(name) is not None else None
        except PackageNotFoundError:
            found[name] = "of an unknown version"
    return found


def blas() -> str:
    """The library that NumPy multiplies matrices with."""
    config: Any = np.show_config(mode="dicts")
    found = (config or {}).get("Build Dependencies", {}).get("blas", {})
    return " ".join([str(found[key]) for key in ("name", "version") if found.get(key)]) or "unknown"


def processor() -> dict[str, Any]:
    """The processor's name, its vectors, and how many of its cores are ours."""
    name, features = host_cpu()
    flags = features.split(",")
    vectors, bits = next(((text, bits) for flag, text, bits in VECTORS if flag in flags), ("none", None))
    return {
        "name": processor_name(),
        "llvm": name,
        "vectors": vectors,
        "vector_bits": bits,
        "features": [extra for extra in EXTRAS if f"+{extra}" in flags],
        "cores": os.cpu_count(),
        "available": available_processors(),
    }


def processor_name() -> str:
    """What its maker calls it, where the system tells."""
    if sys.platform.startswith("linux"):
        try:
            lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            lines = []
        for line in lines:
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    if sys.platform == "darwin":
        asked = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.stdout.strip():
            return asked.stdout.strip()
    return platform.processor() or platform.machine()


def cache() -> dict[str, Any]:
    """Where compiled code is kept, and how much of it."""
    found = fg.cache_info()
    return {
        "enabled": found.enabled,
        "directory": found.directory,
        "entries": found.entries,
        "bytes": found.bytes,
        "limit": found.limit,
    }


# -- as text ----------------------------------------------------------------------------------------------


def info_json() -> str:
    """The facts as JSON."""
    return json.dumps(facts(), indent=2)


def info_text() -> str:
    """The facts as a table of two columns."""
    found = facts()
    rows = [
        ("funcgrad", found["funcgrad"]),
        ("Python", f"{found['python']['version']} ({found['python']['implementation']})"),
        ("system", found["python"]["system"]),
        ("packages", listed(found["packages"])),
        ("BLAS", found["blas"]),
        ("processor", processor_words(found["processor"])),
        ("vectors", vector_words(found["processor"])),
        ("threads", threads_words(found)),
        ("cache", cache_words(found["cache"])),
        ("peers", listed(found["peers"])),
        ("around", listed(found["around"])),
        ("variables", variables_words(found["variables"])),
    ]
    return rows_of_facts(rows)


def listed(found: dict[str, str | None]) -> str:
    """Packages and versions in a line, those that are missing at the end."""
    there = [f"{name} {text}" for name, text in found.items() if text is not None]
    missing = [name for name, text in found.items() if text is None]
    words = ", ".join(there)
    if not missing:
        return words
    absent = f"not installed: {', '.join(missing)}"
    return f"{words}; {absent}" if words else absent


def processor_words(found: dict[str, Any]) -> str:
    """The processor in a line."""
    cores = f"{found['cores']} core{'s' if found['cores'] != 1 else ''}"
    if found["available"] != found["cores"]:
        cores += f", {found['available']} of them available"
    return f"{found['name']} ({found['llvm']}), {cores}"


def vector_words(found: dict[str, Any]) -> str:
    """Vectors in a line: how many numbers one instruction takes."""
    bits = found["vector_bits"]
    size = f", {bits} bits: {bits // 64} float64 or {bits // 32} float32 at once" if bits else ""
    extras = f"; {', '.join(found['features'])}" if found["features"] else ""
    return f"{found['vectors']}{size}{extras}"


def threads_words(found: dict[str, Any]) -> str:
    """The threads that long loops use."""
    set_by = " by FUNCGRAD_NUM_THREADS" if "FUNCGRAD_NUM_THREADS" in found["variables"] else ""
    return f"{found['threads']} for long loops{set_by}"


def cache_words(found: dict[str, Any]) -> str:
    """The disk cache in a line."""
    if not found["enabled"]:
        return "off: every process compiles anew"
    kept = (
        f"{found['entries']} entries, {bytes_words(found['bytes'])} of at most {bytes_words(found['limit'])}"
    )
    return f"{found['directory']} ({kept})"


def variables_words(found: dict[str, str]) -> str:
    """The environment variables that are set, and those that mean nothing here."""
    words = [
        f"{name}={value}" if name in VARIABLES else f"{name}={value} (not one of funcgrad's)"
        for name, value in found.items()
    ]
    return ", ".join(words) or "none of FUNCGRAD_* is set"
