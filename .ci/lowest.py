"""Print the lowest versions that pyproject.toml admits, as pins for pip: what we need, and what tests need.

Tools with an upper bound (the formatter, the type checker) say nothing about the library and are left out.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

LOWER_BOUND = re.compile(r"(?P<name>[\w.-]+)>=(?P<version>[\d.]+)")


def pins(requirements: list[str]) -> list[str]:
    """Each requirement that is a lower bound and nothing else, at that bound."""
    found = [LOWER_BOUND.fullmatch(requirement) for requirement in requirements]
    return [f"{match['name']}=={match['version']}" for match in found if match]


def main() -> None:
    """Print them, one on a line."""
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = pins(project["dependencies"])
    if len(needed) != len(project["dependencies"]):
        raise SystemExit(f"a dependency without a plain lower bound: {project['dependencies']}")
    print("\n".join([*needed, *pins(project["optional-dependencies"]["test"])]))  # noqa: T201 - its purpose


if __name__ == "__main__":
    main()
