"""``match`` as ``if`` and ``elif``, where its patterns compare values and bind names.

Patterns that look into what the subject is (classes, mappings, sequences of unknown length) stay Python's:
what they ask has an answer while a function is recorded.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import NamedTuple

from funcgrad.tracing.python.escapes import PREFIX, assigned, at, attribute, name
from funcgrad.tracing.python.names import COMPREHENSIONS, FUNCTIONS


class Stays(Exception):
    """Raised where a pattern is none that compares values."""


class Case(NamedTuple):
    """What a pattern asks of the subject, and the names that it binds, with what they are bound to."""

    tests: tuple[ast.expr, ...] = ()
    binds: tuple[tuple[str, str], ...] = ()


class MatchLowering(ast.NodeTransformer):
    """Lowers the matches of one function in place."""

    def __init__(self) -> None:
        self._count = 0

    def visit_Match(self, node: ast.Match) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        self._count += 1
        parts = node.subject.elts if isinstance(node.subject, ast.Tuple) else None
        subject = f"{PREFIX}subject_{self._count}"
        elements = None if parts is None else [f"{subject}_{k}" for k in range(len(parts))]
        try:
            cases = [asked(case.pattern, subject, elements) for case in node.cases]
            lowered = branches(node.cases, cases)
        except Stays:
            return asking_for_classes(node)
        if elements is None:
            start = assigned(subject, node.subject)
        else:
            targets = ast.Tuple([name(x, ast.Store) for x in elements], ast.Store())
            start = ast.Assign([targets], node.subject)
        return [at(node, start), *lowered]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node


def asking_for_classes(node: ast.Match) -> ast.stmt | list[ast.stmt]:
    """A ``match`` whose patterns ask for what stands for their classes, which is looked up before it."""
    asked: list[ast.stmt] = []
    for case in node.cases:
        for pattern in ast.walk(case.pattern):
            if isinstance(pattern, ast.MatchClass):
                place = f"{PREFIX}class_{pattern.lineno}_{pattern.col_offset}"
                found = ast.Call(attribute("pattern_class"), [pattern.cls], [])
                asked.append(at(node, assigned(place, found)))
                pattern.cls = at(pattern.cls, name(place))
    return [*asked, node] if asked else node


def with_matches_as_branches(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of a function, with their matches lowered."""
    if not any(isinstance(x, ast.Match) for statement in body for x in ast.walk(statement)):
        return list(body)
    lowering = MatchLowering()
    out: list[ast.stmt] = []
    for statement in body:
        made = lowering.visit(statement)
        out += made if isinstance(made, list) else [made]
    return out


def asked(pattern: ast.pattern, subject: str, elements: Sequence[str] | None) -> Case:
    """The tests and bindings of a pattern; raises Stays where it asks for more."""
    if isinstance(pattern, ast.MatchAs):
        inner = Case() if pattern.pattern is None else asked(pattern.pattern, subject, elements)
        if pattern.name is None:
            return inner
        if elements is not None:
            raise Stays
        return Case(inner.tests, (*inner.binds, (pattern.name, subject)))
    if isinstance(pattern, ast.MatchSequence) and elements is not None:
        return asked_in_order(pattern, elements)
    if elements is not None:
        raise Stays
    if isinstance(pattern, ast.MatchValue):
        return Case((compared(pattern, subject, ast.Eq(), pattern.value),))
    if isinstance(pattern, ast.MatchSingleton):
        return Case((compared(pattern, subject, ast.Is(), ast.Constant(pattern.value)),))
    if isinstance(pattern, ast.MatchOr):
        return asked_of_either(pattern, subject)
    raise Stays


def asked_in_order(pattern: ast.MatchSequence, elements: Sequence[str]) -> Case:
    """The tests and bindings of a sequence of patterns for a tuple that is written out."""
    stars = any(isinstance(x, ast.MatchStar) for x in pattern.patterns)
    if stars or len(pattern.patterns) != len(elements):
        raise Stays
    found = [asked(x, element, None) for x, element in zip(pattern.patterns, elements, strict=True)]
    tests = tuple([test for case in found for test in case.tests])
    return Case(tests, tuple([bind for case in found for bind in case.binds]))


def asked_of_either(pattern: ast.MatchOr, subject: str) -> Case:
    """The test of alternatives, which bind nothing."""
    found = [asked(x, subject, None) for x in pattern.patterns]
    if any(case.binds for case in found):
        raise Stays
    if not all(case.tests for case in found):
        return Case()
    tests: list[ast.expr] = [joined(case.tests, ast.And()) for case in found]
    return Case((at(pattern, joined(tests, ast.Or())),))


def compared(pattern: ast.pattern, subject: str, operator: ast.cmpop, value: ast.expr) -> ast.expr:
    """``subject == value``"""
    return at(pattern, ast.Compare(name(subject), [operator], [value]))


def joined(tests: Sequence[ast.expr], operator: ast.boolop) -> ast.expr:
    """Several tests as one."""
    return tests[0] if len(tests) == 1 else ast.BoolOp(operator, list(tests))


def branches(cases: Sequence[ast.match_case], found: Sequence[Case]) -> list[ast.stmt]:
    """The cases from the first on, as an ``if`` with the others in its ``else``."""
    if not cases:
        return []
    (case, *others), (first, *rest) = cases, found
    binds: list[ast.stmt] = [
        at(case.pattern, assigned(bound, name(subject))) for bound, subject in first.binds
    ]
    tests = list(first.tests)
    if case.guard is not None:
        tests.append(with_subjects(case.guard, dict(first.binds)))
    if not tests:
        return [*binds, *case.body]
    test = at(case.pattern, joined(tests, ast.And()))
    return [at(case.pattern, ast.If(test, [*binds, *case.body], branches(others, rest)))]


def with_subjects(guard: ast.expr, binds: dict[str, str]) -> ast.expr:
    """A guard in terms of the subjects: names are bound where the branch begins, which is after it."""
    if any(isinstance(x, (*FUNCTIONS, *COMPREHENSIONS, ast.NamedExpr)) for x in ast.walk(guard)):
        raise Stays
    made = copy.deepcopy(guard)
    for x in ast.walk(made):
        if isinstance(x, ast.Name) and x.id in binds:
            x.id = binds[x.id]
    return made
