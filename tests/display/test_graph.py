"""Pictures of Programs: every equation has its box, large ones are put together, all can be read."""

from __future__ import annotations

import re
from collections import Counter
from time import process_time

import numpy as np
import pytest
from picture_reading import ReadPicture, ends_of, read_picture, require_readable

import funcgrad as fg
from funcgrad.display.drawing.svg import text_width
from funcgrad.display.graph import program_graph
from funcgrad.ir.program import Program


def logistic(w, x, y):
    z = x @ w
    return np.mean(np.logaddexp(0, z) - y * z)


def layer(w, b, x):
    return np.tanh(x @ w + b)


def network(params, x):
    for w, b in params:
        x = layer(w, b, x)
    return np.sum(x**2)


def unrolled(x, a):
    for _ in range(40):
        y = np.sin(x) * a
        x = x + 0.1 * y - 0.01 * x**3
    return np.sum(x)


def descent(w, x, y):
    for _ in range(12):
        w = w - 0.1 * fg.grad(logistic)(w, x, y)
    return np.sum(w**2)


def recurrent(w, u, xs):
    def cell(h, x):
        h = np.tanh(x @ w + h @ u)
        return h, h

    return np.sum(fg.scan(cell, np.zeros(3), xs)[1])


def branching(x):
    def grow(x):
        return fg.while_loop(lambda c: c[1] < 10, lambda c: (np.sin(c[0]), c[1] + 1), (x, 0))[0]

    return fg.cond(np.sum(x) > 0, grow, np.exp, x)


def network_args(depth):
    return [(np.full((4, 4), 0.1), np.zeros(4))] * depth, np.ones((5, 4))


DATA = np.ones(3), np.ones((5, 3)), np.ones(5)
PROGRAMS = {
    "small": fg.make_program(lambda x, y: np.sum(np.tanh(x * y) + 2.0 * x))(np.ones(3), np.ones(3)),
    "logistic": fg.make_program(fg.value_and_grad(logistic))(*DATA),
    "hessian": fg.make_program(fg.hessian(logistic))(*DATA),
    "network": fg.make_program(fg.value_and_grad(network))(*network_args(2)),
    "deep": fg.make_program(fg.value_and_grad(network))(*network_args(14)),
    "unrolled": fg.make_program(fg.grad(unrolled))(np.ones(3), np.ones(3)),
    "descent": fg.make_program(fg.grad(descent))(*DATA),
    "recurrent": fg.make_program(fg.grad(recurrent))(np.ones((4, 3)), np.ones((3, 3)), np.ones((7, 4))),
    "branching": fg.make_program(branching)(np.ones(3)),
    "without equations": fg.make_program(lambda x: (x, x, 1.0))(np.ones(3)),
    "captured": fg.make_program(lambda x: x @ np.arange(300.0).reshape(100, 3).T)(np.ones(3)),
}


def picture_of(program: Program, **options: object) -> ReadPicture:
    return read_picture(str(program_graph(program, **options)))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("direction", ["down", "right"])
def test_pictures_are_self_contained_and_readable(name, direction) -> None:
    picture = picture_of(PROGRAMS[name], direction=direction)
    require_readable(picture, sideways=direction == "right")
    assert len(picture.boxes) < 130


@pytest.mark.parametrize(
    "name", ["small", "logistic", "hessian", "network", "recurrent", "branching", "deep"]
)
def test_every_equation_has_its_box_and_every_value_its_line(name) -> None:
    program = PROGRAMS[name]
    picture = picture_of(program, collapse="equation", nested=False)
    boxes = [box for box in picture.boxes if box.kind in ("forward", "backward")]
    found = Counter(box.words.partition("(")[0] for box in boxes)
    assert found == Counter(equation.primitive.name for equation in program)
    backward = sum(equation.source is not None and equation.source.backward for equation in program)
    assert sum(box.kind == "backward" for box in boxes) == backward
    assert len(picture.lines) == len(lines_of(program))


def lines_of(program: Program) -> set[tuple[object, ...]]:
    """A line for each value and each box that uses it; one for all values where there are more than three."""
    made = {v: ("head", v) for v in (*program.inputs, *[v for v, _ in program.captured])}
    made |= {v: ("equation", k) for k, e in enumerate(program) for v in e.outputs}
    uses = {(v, ("equation", k)) for k, e in enumerate(program) for v in e.inputs if v in made}
    uses |= {(v, ("output", v)) for v in program.outputs if v in made}
    between = Counter((made[v], box) for v, box in uses)
    return {(made[v], box) if between[made[v], box] > 3 else (v, box) for v, box in uses}


def test_lines_join_what_the_names_say() -> None:
    picture = picture_of(PROGRAMS["logistic"])
    for line in picture.lines:
        source, target = ends_of(picture, line)
        name = line.tooltip.partition(":")[0]
        assert source.words.startswith(name) or f"\n{name}: " in f"\n{source.words}"
        if target.kind != "result":
            operands = target.words.partition("(")[2].partition(")")[0].split(", ")
            assert name in operands
        assert line.kind == source.kind


def test_inputs_constants_and_outputs_differ_in_shape() -> None:
    text = str(program_graph(PROGRAMS["captured"]))
    picture = read_picture(text)
    assert [box.kind for box in picture.boxes] == ["leaf", "constant", "forward", "result"]
    constant = picture.boxes[1]
    assert "captured" in constant.tooltip
    assert "from 0 to 299, mean 149.5" in constant.tooltip
    assert "f64[3,100]" in constant.words
    assert "fg-inner" in text  # the second outline of the result


def test_hovering_shows_the_equation_its_bytes_and_the_users_line() -> None:
    picture = picture_of(PROGRAMS["logistic"])
    first = next(box for box in picture.boxes if box.words.startswith("dot_general"))
    assert "a: f64[5] = dot_general(x, w, subscripts='ij,j->i')" in first.tooltip
    assert "40 B" in first.tooltip
    assert "flops" in first.tooltip
    assert "test_graph.py:" in first.tooltip
    assert "z = x @ w" in first.tooltip
    last = [box for box in picture.boxes if box.words.startswith("dot_general")][-1]
    assert "backward of test_graph.py:" in last.tooltip
    assert any("x: f64[5,3]\n120 B" in line.tooltip for line in picture.lines)


def test_large_programs_stand_for_the_users_lines_with_counts() -> None:
    program = PROGRAMS["deep"]
    picture = picture_of(program)
    assert len(program) > 120
    assert len(picture.boxes) < 30
    words = "\n".join([box.words for box in picture.boxes])
    assert "return np.tanh(x @ w + b)" in words
    assert "layer, line " in words
    kinds = {box.kind for box in picture.boxes}
    assert {"forward", "backward"} <= kinds
    assert "plain" not in kinds


@pytest.mark.parametrize("name", ["deep", "unrolled", "descent", "network"])
@pytest.mark.parametrize("collapse", ["line", "function"])
def test_collapsing_keeps_the_equations_and_the_structure(name, collapse) -> None:
    program = PROGRAMS[name]
    picture = picture_of(program, collapse=collapse, most=400)
    shown = 0
    for box in picture.boxes:
        if box.kind not in ("leaf", "result", "constant"):
            count = box.tooltip.partition(" equation")[0]
            shown += int(count) if count.isdigit() else 1
    forms = sum(e.primitive.name in ("broadcast", "reshape", "cast", "permute") for e in program)
    assert len(program) - forms <= shown <= len(program)
    reached = {picture.boxes.index(box) for line in picture.lines for box in ends_of(picture, line)}
    used = {v for e in program for v in e.inputs} | set(program.outputs)
    if all(v in used for v in program.inputs):
        assert reached == set(range(len(picture.boxes)))


def test_collapsing_by_function_lists_lines_with_counts() -> None:
    picture = picture_of(PROGRAMS["unrolled"])
    forward, backward = (
        next(box for box in picture.boxes if box.kind == kind) for kind in ("forward", "backward")
    )
    for box, way in ((forward, "forward"), (backward, "backward")):
        assert box.words.startswith(f"unrolled\n{way} · ")
        assert "y = np.sin(x) * a  ×" in box.words
        assert "sin × " in box.tooltip or "mul × " in box.tooltip


def test_what_goes_to_and_fro_is_one_box() -> None:
    picture = picture_of(PROGRAMS["descent"], collapse="function", most=5)
    (box,) = [box for box in picture.boxes if box.kind == "plain"]
    assert "logistic" in box.words
    assert " ⇄ " in box.words
    assert "forward and backward" in box.words


def test_programs_inside_equations_are_drawn_in_their_boxes() -> None:
    picture = picture_of(PROGRAMS["recurrent"])
    clusters = [box for box in picture.boxes if box.cluster]
    assert [box.words.partition("(")[0] for box in clusters] == ["scan", "scan"]
    assert [box.kind for box in clusters] == ["forward", "backward"]
    assert any(box.depth and box.words.startswith("tanh") for box in picture.boxes)
    flat = picture_of(PROGRAMS["recurrent"], nested=False)
    assert not any(box.depth for box in flat.boxes)
    assert any("\nholds " in box.words for box in flat.boxes)


def test_branches_and_conditions_say_what_they_are() -> None:
    text = str(program_graph(PROGRAMS["branching"]))
    for role in ("branches[0]", "branches[1]", "cond", "body"):
        assert f">{role}<" in text


def test_options_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="'down' or 'right'"):
        program_graph(PROGRAMS["small"], direction="up")
    with pytest.raises(ValueError, match="'equation', 'line', 'function'"):
        program_graph(PROGRAMS["small"], collapse="file")


def test_names_of_the_user_cannot_break_the_picture() -> None:
    def f(x):
        return x * 1.0

    f.__name__ = '<script>&"'
    program = fg.make_program(f)(np.ones(3))
    hostile = Program(
        program.inputs, program.captured, program.equations, program.outputs, f.__name__ + "\x00"
    )
    assert "<script" not in str(program_graph(hostile))
    read_picture(str(program_graph(hostile)))


def test_pictures_are_saved_and_displayed(tmp_path) -> None:
    picture = PROGRAMS["small"].graph()
    assert read_picture(picture.save(tmp_path / "a.svg").read_text("utf-8")).boxes
    assert picture.save(str(tmp_path / "a.html")).read_text("utf-8").startswith("<!DOCTYPE html>")
    assert picture._repr_svg_() == str(picture)
    assert str(picture) in picture._repr_html_()
    assert "overflow:auto" in picture._repr_html_()
    assert repr(picture) == "<Picture of function: 5 equations>"


def test_saved_pictures_have_colours_for_programs_that_know_no_variables(tmp_path) -> None:
    text = PROGRAMS["small"].graph().save(tmp_path / "a.svg").read_text("utf-8")
    assert "fill:#e6f1fc;fill:var(--fg-forward-soft)" in text
    assert not re.search(r"(?<!;)(fill|stroke):var", text)


def test_the_style_is_for_pictures_alone() -> None:
    picture = PROGRAMS["small"].graph()
    assert 'class="fg-display fg-picture"' in str(picture)
    rules = [line for line in read_picture(str(picture)).style.splitlines() if "--fg-ink:" not in line]
    assert all(part.startswith(".fg-picture") for line in rules for part in line.partition("{")[0].split(","))
    assert " id=" not in str(picture)


def test_one_program_has_one_picture() -> None:
    first, second = (fg.make_program(fg.value_and_grad(logistic))(*DATA) for _ in range(2))
    assert str(first.graph()) == str(second.graph())


def test_light_and_dark_are_in_the_picture() -> None:
    style = picture_of(PROGRAMS["small"]).style
    assert "@media (prefers-color-scheme:dark)" in style
    assert '[data-jp-theme-light="false"]' in style


def test_pictures_of_thousands_of_equations_come_soon() -> None:
    def long(x, trips):
        for _ in range(trips):
            x = np.sin(x) * 1.1 + x
        return np.sum(x)

    program = fg.make_program(fg.grad(long), static_argnums=1)(np.ones(3), 500)
    shorter = fg.make_program(fg.grad(long), static_argnums=1)(np.ones(3), 100)
    assert len(program) > 2000
    start = process_time()
    assert len(picture_of(program).boxes) < 10
    assert len(picture_of(shorter, collapse="equation").boxes) > 400
    assert process_time() - start < 12.0


def test_the_width_of_wide_characters_counts() -> None:
    assert text_width("σ", 10) == pytest.approx(text_width("s", 10))
    assert text_width("漢", 10) == pytest.approx(2 * text_width("s", 10))


def test_programs_that_were_read_back_have_no_lines_and_a_picture() -> None:
    parsed = fg.parse(PROGRAMS["unrolled"].text())
    picture = picture_of(parsed)
    require_readable(picture)
    (box,) = [box for box in picture.boxes if box.kind == "forward"]
    assert box.words.startswith("without a line")


def test_custom_rules_show_the_function_and_not_its_derivative() -> None:
    @fg.custom_vjp
    def square(x):
        return x * x

    square.defvjp(lambda x: (square(x), x), lambda x, g: (2.0 * x * np.cos(g),))
    picture = picture_of(fg.make_program(square)(np.ones(3)))
    assert any(box.cluster and box.words.startswith("custom_vjp") for box in picture.boxes)
    assert not any(box.words.startswith("cos") for box in picture.boxes)


def test_constants_that_are_not_numbers_do_not_warn() -> None:
    odd = np.array([np.nan, np.inf, 1.0])
    picture = picture_of(fg.make_program(lambda x: x * odd)(np.ones(3)))
    require_readable(picture)
    assert "a = [nan, inf, 1.0]" in picture.boxes[1].words
