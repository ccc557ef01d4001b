"""Names in the pages: ``fg.grad`` in code becomes a link to its entry, and entries are headed ``fg.grad``."""

from __future__ import annotations

import re
from typing import Any

NAME = re.compile(r"(?:fg|funcgrad)((?:\.[A-Za-z_]\w*)+)(?:\(.*\))?\Z", re.DOTALL)


def full_name(text: str) -> str | None:
    """The full name that a piece of code spells, if it is a name of ours.

    >>> full_name("fg.numpy.where(c, a, b)"), full_name("np.where")
    ('funcgrad.numpy.where', None)
    """
    match = NAME.match(text)
    return f"funcgrad{match.group(1)}" if match else None


def tidy(app: Any, doctree: Any) -> None:
    """Sphinx's event ``doctree-read``: entries show the name that one writes, ``fg.`` in front.

    Blank lines at the end of examples go.
    """
    from docutils import nodes  # noqa: PLC0415 - pytest imports this file without Sphinx
    from sphinx import addnodes  # noqa: PLC0415

    for block in doctree.findall(nodes.literal_block):  # doctest wants a blank line before the closing fence
        if block.astext().endswith("\n\n") or (
            block.get("language") == "pycon" and block.astext()[-1:] == "\n"
        ):
            text = block.astext().rstrip("\n")
            block.rawsource = text
            block.children = [nodes.Text(text)]
    for node in doctree.findall(addnodes.desc_addname):
        text = node.astext()
        if text.startswith("funcgrad."):
            node.clear()
            node.append(nodes.Text("fg." + text.removeprefix("funcgrad.")))


def entry_or_page(entries: Any, name: str) -> Any:
    """The entry of a name in the reference, or the page of the module whose table has it."""
    if name in entries:
        return entries[name]
    module = entries.get(name.rpartition(".")[0])
    return module if module is not None and module.objtype == "module" else None


def link_names(app: Any, doctree: Any, docname: str) -> None:
    """Sphinx's event ``doctree-resolved``: code that names something in the reference links to it."""
    from docutils import nodes  # noqa: PLC0415 - likewise
    from sphinx.util.nodes import make_refnode  # noqa: PLC0415

    entries = app.env.get_domain("py").objects
    for literal in list(doctree.findall(nodes.literal)):
        name = full_name(literal.astext())
        entry = entry_or_page(entries, name) if name else None
        inside = literal.parent
        while inside is not None and not isinstance(inside, nodes.reference | nodes.title):
            inside = inside.parent
        if entry is None or inside is not None:
            continue
        link = make_refnode(app.builder, docname, entry.docname, entry.node_id, literal.deepcopy(), name)
        literal.replace_self(link)
