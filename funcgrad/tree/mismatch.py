"""Owns how two structures that should be alike are told apart: the first place, and what stands there.

Only words: whether a mismatch is an error, and which, is the caller's business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from funcgrad.tree.keys import DictKey, Key, KeyPath, keystr

if TYPE_CHECKING:
    from funcgrad.tree.treedef import TreeDef


class Difference(NamedTuple):
    """The first place at which two structures differ, and what each of them has there."""

    path: KeyPath
    expected: TreeDef
    got: TreeDef


def explain_mismatch(expected: TreeDef, got: TreeDef) -> str:
    """Say at which path two structures first differ, and how.

    >>> expected, got = fg.tree.structure({"w": [(1, 2)]}), fg.tree.structure({"w": [[1, 2, 3]]})
    >>> fg.tree.explain_mismatch(expected, got)
    "at ['w'][0]: expected a tuple of 2, got a list of 3"
    """
    return _sentence(_first_difference(expected, got, (), _must_match))


def explain_prefix_mismatch(expected: TreeDef, got: TreeDef) -> str:
    """Say where ``expected`` fails to be a prefix of ``got``; its leaves stand for any subtree."""
    return _sentence(_first_difference(expected, got, (), _expected_is_leaf))


def explain_value_mismatch(expected: TreeDef, got: TreeDef) -> str:
    """Say where ``got`` fails to be a prefix of ``expected``; its leaves stand for any subtree."""
    return _sentence(_first_difference(expected, got, (), _got_is_leaf))


def _must_match(expected: TreeDef, got: TreeDef) -> bool:
    return False


def _expected_is_leaf(expected: TreeDef, got: TreeDef) -> bool:
    return expected.node_type is None


def _got_is_leaf(expected: TreeDef, got: TreeDef) -> bool:
    return got.node_type is None


def _first_difference(
    expected: TreeDef, got: TreeDef, path: KeyPath, is_free: Callable[[TreeDef, TreeDef], bool]
) -> Difference | None:
    """The first difference that is not below a place where anything may stand."""
    if is_free(expected, got) or expected == got:
        return None
    if not expected.has_same_container(got):
        return Difference(path, expected, got)
    for key, child, other in zip(_keys(expected), expected.children(), got.children(), strict=True):
        found = _first_difference(child, other, (*path, key), is_free)
        if found is not None:
            return found
    return None


def _sentence(difference: Difference | None) -> str:
    if difference is None:
        return "the structures do not differ"
    path, expected, got = difference
    wanted, found = _two_nouns(expected, got)
    return f"at {keystr(path) or 'the root'}: expected {wanted}, got {found}"


def _two_nouns(expected: TreeDef, got: TreeDef) -> tuple[str, str]:
    """What to call two containers, with as much detail as it takes to tell them apart."""
    wanted, found = _noun(expected), _noun(got)
    if expected.node_type is None or got.node_type is None:
        return wanted, found
    if expected.node_type.cls is got.node_type.cls:
        return _two_nouns_of_one_class(expected, got)
    if wanted == found:
        return f"{wanted} ({_full_name(expected)})", f"{found} ({_full_name(got)})"
    return wanted, found


def _two_nouns_of_one_class(expected: TreeDef, got: TreeDef) -> tuple[str, str]:
    wanted, found = _noun(expected), _noun(got)
    keys, other_keys = _dict_keys(expected), _dict_keys(got)
    if set(keys) != set(other_keys):
        return wanted, _different_keys(keys, other_keys)
    if keys != other_keys:
        return f"the keys in the order {_listed(keys)}", f"the order {_listed(other_keys)}"
    if wanted == found:
        return f"{wanted} with static data {expected.aux!r}", f"one with {got.aux!r}"
    return wanted, found


def _noun(treedef: TreeDef) -> str:
    node_type = treedef.node_type
    return "a leaf" if node_type is None else node_type.noun(len(treedef.children()))


def _full_name(treedef: TreeDef) -> str:
    assert treedef.node_type is not None
    cls = treedef.node_type.cls
    return f"{cls.__module__}.{cls.__qualname__}"


def _keys(treedef: TreeDef) -> tuple[Key, ...]:
    assert treedef.node_type is not None
    return treedef.node_type.keys(treedef.aux, len(treedef.children()))


def _dict_keys(treedef: TreeDef) -> list[object]:
    """The keys of a dict of any kind; none for other containers."""
    return [key.key for key in _keys(treedef) if type(key) is DictKey]


def _different_keys(expected: list[object], got: list[object]) -> str:
    missing = [key for key in expected if key not in got]
    extra = [key for key in got if key not in expected]
    parts = []
    if missing:
        parts.append(f"without {_listed(missing)}")
    if extra:
        parts.append(f"with the extra {'key' if len(extra) == 1 else 'keys'} {_listed(extra)}")
    return f"one {' and '.join(parts)}"


def _listed(keys: list[object], most: int = 6) -> str:
    shown = ", ".join(repr(key) for key in keys[:most])
    return shown if len(keys) <= most else f"{shown}, ..."
