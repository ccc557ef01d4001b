"""Pictures of histories: leaves, operations, what was saved and freed, and how gradients accumulate."""

from __future__ import annotations

import numpy as np
import pytest
from picture_reading import ReadBox, ReadPicture, ends_of, read_picture, require_readable

import funcgrad as fg
import funcgrad.torch as torch
from funcgrad.display.drawing.svg import Picture


def picture_of(y: object, params: object = None, **options: object) -> ReadPicture:
    picture = torch.graph(y, params, **options)
    assert isinstance(picture, Picture)
    found = read_picture(str(picture))
    require_readable(found, sideways=options.get("direction") == "right")
    return found


def box(picture: ReadPicture, start: str) -> ReadBox:
    (found,) = [b for b in picture.boxes if b.words.startswith(start)]
    return found


def joined(picture: ReadPicture) -> set[tuple[str, str]]:
    """The lines, as pairs of the first words of their boxes."""
    ends = [ends_of(picture, line) for line in picture.lines]
    return {(a.words.split()[0], b.words.split()[0]) for a, b in ends}


def test_how_backward_accumulates_can_be_seen() -> None:
    x = torch.ones(1, requires_grad=True)
    y, z = x**2, x**3
    params = {"x": x, "y": y, "z": z}

    before = picture_of([y, z], params)
    assert "x.grad is None" in box(before, "AccumulateGrad").words
    assert "2 uses: their gradients are added" in box(before, "AccumulateGrad").words
    assert [b.kind for b in before.boxes if b.words.startswith("Pow")] == ["forward", "forward"]

    y.backward()
    between = picture_of([y, z], params)
    assert "x.grad = tensor([2.])" in box(between, "AccumulateGrad").words
    assert box(between, "PowBackward0 → y").kind == "freed"
    assert "freed: self" in box(between, "PowBackward0 → y").words
    assert box(between, "PowBackward0 → z").kind == "forward"
    assert "saved self: (1,) float32" in box(between, "PowBackward0 → z").words
    assert [line.kind for line in between.lines].count("freed") == 2

    z.backward()
    after = picture_of([y, z], params)
    assert "x.grad = tensor([5.])" in box(after, "AccumulateGrad").words
    assert {b.kind for b in after.boxes if b.words.startswith("Pow")} == {"freed"}

    x.grad.zero_()
    assert "x.grad = tensor([0.])" in box(picture_of([y, z], params), "AccumulateGrad").words


def test_the_vector_of_the_seed_shows_writes_into_parts() -> None:
    x = torch.tensor([[0.3725], [0.4378]], requires_grad=True)
    y = torch.zeros(3, 1)
    y[0] = x[0] ** 2
    y[1] = x[1] ** 3
    y[2] = x[1] ** 4
    y.backward(gradient=torch.ones(y.size()))
    picture = picture_of(y, {"x": x})
    titles = [b.words.split()[0] for b in picture.boxes]
    assert titles.count("CopySlices") == 3
    assert titles.count("PowBackward0") == 3
    assert "changed in place: version 3" in box(picture, "result").words
    assert "x.grad = tensor([[0.7450], [0.9107]])" in box(picture, "AccumulateGrad").words
    assert "3 uses" in box(picture, "AccumulateGrad").words


def test_lines_are_those_of_next_functions() -> None:
    a = torch.ones(2, 3, requires_grad=True)
    b = torch.ones(3, requires_grad=True)
    picture = picture_of((a * b).sin().sum(), {"a": a, "b": b})
    assert joined(picture) == {
        ("a", "AccumulateGrad"),
        ("b", "AccumulateGrad"),
        ("AccumulateGrad", "MulBackward0"),
        ("MulBackward0", "SinBackward0"),
        ("SinBackward0", "SumBackward0"),
        ("SumBackward0", "result"),
    }
    assert box(picture, "a\n").words == "a\n(2, 3) float32"


def test_a_module_names_its_leaves() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    loss = torch.nn.functional.cross_entropy(model(torch.ones(5, 4)), torch.tensor([0, 1, 2, 0, 1]))
    loss.backward()
    picture = picture_of(loss, dict(model.named_parameters()))
    leaves = {b.words.split()[0] for b in picture.boxes if b.kind == "leaf"}
    assert leaves == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert "0.weight.grad = (8, 4) float32" in {
        b.words.split("\n")[1] for b in picture.boxes if b.words.startswith("AccumulateGrad")
    }
    freed = [b.words.split()[0] for b in picture.boxes if b.kind == "freed"]
    assert freed.count("AddmmBackward0") == 2


def test_retained_graphs_are_not_freed() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    picture = picture_of(y)
    assert "freed" not in {b.kind for b in picture.boxes}
    assert "saved result: (3,) float32" in box(picture, "ExpBackward0").words
    assert "12 B" in box(picture, "ExpBackward0").tooltip
    assert "leaf.grad = tensor([5.4366, 5.4366, 5.4366])" in box(picture, "AccumulateGrad").words


def test_what_was_saved_can_be_left_out() -> None:
    x = torch.ones(3, requires_grad=True)
    assert "saved" not in str(torch.graph(x.exp(), show_saved=False)).partition("</style>")[2]


def test_saved_values_that_were_changed_in_place_are_told() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.add_(1.0)
    picture = picture_of(y)
    assert "result was changed in place: version 1, saved 0" in box(picture, "ExpBackward0").words
    assert "changed in place: version 1" in box(picture, "result").words


def test_views_and_retained_gradients_are_told() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    v = y.view(4)
    assert "retained grad is None" in box(picture_of(v), "MulBackward0").words
    assert "a view" in box(picture_of(v), "result").words
    v.sum().backward()
    assert "retained grad = tensor([[1., 1.], [1., 1.]])" in box(picture_of(v), "MulBackward0").words


def test_functions_of_the_user_show_what_they_saved() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = torch.ones(3, requires_grad=True)
    y = Square.apply(x).sum()
    assert "saved: 1 tensor" in box(picture_of(y), "SquareBackward").words
    y.backward()
    assert box(picture_of(y), "SquareBackward").kind == "freed"


def test_results_have_names_from_a_dict_and_leaves_are_themselves() -> None:
    x = torch.ones(3, requires_grad=True)
    named = picture_of({"loss": (x * 2).sum()})
    assert box(named, "loss").kind == "result"
    alone = picture_of(x, {"x": x})
    assert [b.words.split()[0] for b in alone.boxes] == ["x", "AccumulateGrad"]
    without = picture_of(torch.ones(3))
    assert "has no history: requires_grad is False" in without.boxes[0].words


def test_long_histories_show_their_latest_operations() -> None:
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(300):
        y = torch.tanh(y * w)
    picture = picture_of(y, {"w": w, "x": x}, most=20)
    assert box(picture, "… 580 earlier operations").kind == "forward"
    assert len([b for b in picture.boxes if b.kind == "forward"]) == 21
    assert {b.words.split()[0] for b in picture.boxes if b.kind == "leaf"} >= {"w"}


def test_several_outputs_of_one_node_have_lines_of_their_own() -> None:
    x = torch.ones(4, requires_grad=True)
    a, b = x.split(2)
    picture = picture_of((a * b).sum())
    split = [line for line in picture.lines if ends_of(picture, line)[0].words.startswith("Split")]
    assert len(split) == 2
    assert len({line.points[0] for line in split}) == 2


def test_histories_inside_a_trace_are_drawn_without_values() -> None:
    pictures = []

    def loss(x):
        t = (x * 3.0).sin().sum()
        pictures.append(picture_of(t))
        return t

    fg.make_program(loss)(torch.ones(2))
    assert pictures


def test_arguments_that_are_no_tensors_are_refused() -> None:
    with pytest.raises(TypeError, match="not of ndarray"):
        torch.graph({"y": np.ones(3)})
    with pytest.raises(TypeError, match="not of float"):
        torch.graph(1.0)
    with pytest.raises(TypeError, match=r"params\['w'\] is no tensor but ndarray"):
        torch.graph(torch.ones(3), {"w": np.ones(3)})
    with pytest.raises(ValueError, match="'down' or 'right'"):
        torch.graph(torch.ones(3), direction="left")


def test_nodes_list_what_they_saved_as_pytorchs_do() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x**2
    assert [name for name in dir(y.grad_fn) if name.startswith("_saved_")] == [
        "_saved_exponent",
        "_saved_self",
    ]
    y.sum().backward()
    assert "_saved_self" in dir(y.grad_fn)
    with pytest.raises(RuntimeError, match="second time"):
        _ = y.grad_fn._saved_self
