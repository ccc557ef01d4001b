"""Pages made of other files of the repository: the benchmark table, the changelog, the guide, the notebooks.

Everything written here is ignored by git: under ``docs/_generated`` what pages include, and the copies of
the notebooks under ``docs/notebooks``.
"""

from __future__ import annotations

import base64
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

# What the landing page quotes: a row of the table, and what it is called there.
HEADLINES = {
    "four-operations": "four operations on 10 elements, not jitted",
    "logistic": "logistic regression, 1000×20, not jitted",
    "jit-scalar": "nine operations on a number",
    "jit-mlp-32x64": "three-layer MLP, batch 32, width 64",
    "jit-chain30": "30 operations on 10⁶ elements",
    "jit-lstm-1x16": "LSTM of 500 steps",
    "jit-gaussian-process": "Gaussian process, n = 500",
    "cold-warm-mlp": "first call of a new process, caches warm",
}
REMARK = (
    "The time of funcgrad, then how many times as long the peer takes: above 1 funcgrad is faster, below 1 "
    "the peer is. Where nothing else is said funcgrad's function is jitted; `jax.jit` compiles the whole "
    "call in every row. One machine: {machine}. {score}: the [whole table](/benchmarks.md) has those that "
    "miss, and [speed](/design/speed.md) says why they do. `jax.cached` is JAX with its cache on disk."
)
PEERS = ("torch", "torch.compile", "autograd", "jax", "jax.jit", "jax.cached")
LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")


def table_rows(text: str) -> list[dict[str, str]]:
    """The rows of the first table of the benchmarks' page, each by the names of its columns.

    >>> table_rows("| workload | torch |\\n|---|--:|\\n| `a`<br>words | 2 ms (3×) |\\n")
    [{'workload': 'a', 'torch': '2 ms (3×)'}]
    """
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("| workload"))
    header = [cell.strip() for cell in lines[start].strip("|").split("|")]
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        row = dict(zip(header, (cell.strip() for cell in line.strip("|").split("|")), strict=True))
        row["workload"] = row["workload"].split("<br>")[0].strip("`")
        rows.append(row)
    return rows


def ratio(cell: str) -> str:
    """What stands in parentheses: the peer's time over ours.

    >>> ratio("43.4 µs (2.05×)"), ratio("–")
    ('2.05×', '–')
    """
    found = re.search(r"\(([^)]+)\)", cell)
    return found.group(1) if found else "–"


def headline(text: str) -> str:
    """The rows that the landing page quotes, with the machine and the score, as Markdown."""
    rows = {row["workload"]: row for row in table_rows(text)}
    machine = next(line for line in text.splitlines() if line.startswith("- processor"))[2:]
    score = text.strip().splitlines()[-1]
    lines = [
        "| value and gradient | funcgrad | " + " | ".join(PEERS) + " |",
        "|---|--:|" + "--:|" * len(PEERS),
    ]
    for workload, words in HEADLINES.items():
        if workload in rows:
            row = rows[workload]
            cells = (ratio(row.get(peer, "–")) for peer in PEERS)
            lines.append(f"| {words} | {row['funcgrad']} | " + " | ".join(cells) + " |")
    return "\n".join(
        [
            *lines,
            "",
            REMARK.format(machine=machine, score=score),
            "",
        ]
    )


def with_links_from(text: str, folder: str = "") -> str:
    """Links of a page of the repository's root, as seen from ``docs``; what the site has no page for is code.

    >>> with_links_from("[a](docs/design) [c](CHANGELOG.md) [l](LICENSE)")
    '[a](/design/index.md) [c](/changelog.md) `LICENSE`'
    """
    known = {
        "CHANGELOG.md": "/changelog.md",
        "CONTRIBUTING.md": "/contributing.md",
        "docs/design": "/design/index.md",
    }

    def replaced(match: re.Match[str]) -> str:
        target = match.group(1)
        if target in known:
            return f"]({known[target]})"
        if target.startswith("docs/") and target.endswith(".md"):
            return f"](/{target.removeprefix('docs/')})"
        return f"](missing:{target})"

    text = LINK.sub(replaced, text)
    return re.sub(r"\[[^\]]*\]\(missing:([^)]+)\)", r"`\1`", text)


def with_links_that_lead_on(notebook: str, folder: Path) -> str:
    """The notebook, whose links to pages of this site lead there; those to what is not there are words."""
    content = json.loads(notebook)
    for cell in content["cells"]:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            text = re.sub(r"\]\(\.\./docs/([^)\s]+)\)", r"](/\1)", text)
            for words, target in re.findall(r"\[([^\]]*)\]\(([^)\s:/#]+\.ipynb)\)", text):
                if not (folder / target).exists():
                    text = text.replace(f"[{words}]({target})", words)
            cell["source"] = text
    return json.dumps(content)


WORDS_A_MINUTE = 130  # Of sentences and code: the first notebook then takes the ten minutes it says.
SENTENCE = re.compile(r"^\d+\. \[(.+?)\]\((.+?)\.ipynb\): (.+?)(?=^\d+\. \[|\n\n)", re.MULTILINE | re.DOTALL)


def minutes_of(notebook: dict[str, Any]) -> int:
    """How long the notebook takes to read, in whole minutes up."""
    words = sum(len("".join(cell["source"]).split()) for cell in notebook["cells"])
    return math.ceil(words / WORDS_A_MINUTE)


def picture_of(notebook: dict[str, Any]) -> tuple[str, bytes] | None:
    """The ending and the content of the first picture that the notebook shows, if it shows one."""
    shown = [out.get("data", {}) for cell in notebook["cells"] for out in cell.get("outputs", [])]
    for data in shown:
        if "image/png" in data:
            return "png", base64.b64decode("".join(data["image/png"]))
    drawn = ["".join(data["image/svg+xml"]) for data in shown if "image/svg+xml" in data]
    return ("svg", drawn[0].encode()) if drawn else None


def cards(source: Path, target: Path) -> list[str]:
    """The lines of a gallery: of each notebook its first picture, a sentence and the minutes it takes."""
    lines = ["::::{grid} 1 2 2 2", ":gutter: 3", ""]
    for title, stem, sentence in SENTENCE.findall((source / "README.md").read_text(encoding="utf-8")):
        notebook = json.loads((source / f"{stem}.ipynb").read_text(encoding="utf-8"))
        lines += [f":::{{grid-item-card}} {title}", f":link: {stem}", ":link-type: doc"]
        if (picture := picture_of(notebook)) is not None:
            name = f"{stem}.{picture[0]}"
            (target / name).write_bytes(picture[1])
            lines += [f":img-top: {name}", f":img-alt: {title.replace('`', '')}"]
        words = " ".join(sentence.split())
        lines += [
            "",
            words[:1].upper() + words[1:],
            "",
            f"{minutes_of(notebook)} minutes to read.",
            ":::",
            "",
        ]
    return [*lines, "::::", ""]


def copy_notebooks(source: Path, target: Path) -> None:
    """The stored notebooks, with a gallery of them; the page also says so where there are none."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    names = []
    for notebook in sorted(source.glob("*.ipynb")) if source.is_dir() else []:
        text = notebook.read_text(encoding="utf-8")
        (target / notebook.name).write_text(with_links_that_lead_on(text, source), encoding="utf-8")
        names.append(notebook.stem)
    page = ["# Notebooks", ""]
    if names:
        page += [
            "Executed and stored with their outputs in the folder `notebooks` of the repository. Open them",
            "with `jupyter lab notebooks`, after `pip install '.[notebook]'` in a clone.",
            "",
            *cards(source, target),
            "```{toctree}",
            ":hidden:",
            "",
            *names,
            "```",
            "",
        ]
    else:
        page += ["This copy of the documentation was built without the notebooks.", ""]
    (target / "index.md").write_text("\n".join(page), encoding="utf-8")


def write(docs: Path) -> None:
    """Write what is generated from other files."""
    root, generated = docs.parent, docs / "_generated"
    generated.mkdir(exist_ok=True)
    benchmarks = (root / "benchmarks" / "results" / "latest.md").read_text(encoding="utf-8")
    texts = {
        "headline.md": headline(benchmarks),
        "benchmarks.md": benchmarks.split("\n", 1)[1],
        "changelog.md": with_links_from((root / "CHANGELOG.md").read_text(encoding="utf-8")),
        "contributing.md": with_links_from((root / "CONTRIBUTING.md").read_text(encoding="utf-8")),
    }
    for name, text in texts.items():
        (generated / name).write_text(text, encoding="utf-8")
    copy_notebooks(root / "notebooks", docs / "notebooks")
