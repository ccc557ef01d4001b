"""What PyTorch refuses in words of its C++, and ours in other words."""

import pytest

from funcgrad import torch

ROWS = [
    ("torch.pow(2, 3)", TypeError, "must be Tensor"),
    ("torch.special.zeta(2, 3)", TypeError, "must be Tensor"),
    ("torch.bitwise_left_shift(2, 3)", TypeError, "must be Tensor"),
    ("torch.special.hermite_polynomial_h(2, 3)", TypeError, "must be Tensor"),
    ("torch.tensor([1j]).abs_()", RuntimeError, "cannot hold"),
    ("torch.ones(2).float_power_(2)", RuntimeError, "cannot hold"),
    ("torch.sort(torch.ones(2), out=(torch.ones(2).double(), torch.ones(2).long()))", RuntimeError, "out="),
    ("torch.gather(torch.ones(2), 0, torch.tensor([0]), out=torch.ones(1).double())", RuntimeError, "out="),
    ("torch.nn.functional.max_pool1d(torch.ones(1, 1, 4), 2, stride=0)", RuntimeError, "stride must be"),
    (
        "torch.nn.functional.max_pool2d(torch.ones(1, 0, 4, 4), 2)",
        RuntimeError,
        "only the batch may be empty",
    ),
    (
        "torch.nn.functional.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2), torch.ones(1).double())",
        RuntimeError,
        "bias type",
    ),
]


@pytest.mark.parametrize(("code", "kind", "words"), ROWS)
def test_what_was_taken_is_refused(code: str, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        eval(code, {"torch": torch})


def test_what_is_next_to_it_is_taken() -> None:
    x = torch.arange(4.0)
    assert torch.max(x, x.flip(0), out=x) is x
    assert torch.pow(2, torch.tensor(3.0)) == torch.pow(torch.tensor(2.0), 3) == 8
    assert torch.pow(2, exponent=torch.tensor(3.0)) == 8
    assert torch.nn.functional.max_pool1d(torch.ones(0, 1, 4), 2).shape == (0, 1, 2)
    assert torch.nn.functional.avg_pool1d(torch.ones(1, 1, 3), 4, 2, ceil_mode=True).shape == (1, 1, 1)


def test_overlapping_windows_are_not_written_in_place():
    """PyTorch writes one element after the other, and changes each as often as it is seen."""
    for view in (
        lambda x: x.unfold(0, 3, 1),
        lambda x: x.as_strided((3, 2), (1, 1)),
        lambda x: x.as_strided((2, 2, 2), (3, 2, 1)),
    ):
        x = torch.arange(8.0)
        with pytest.raises(RuntimeError, match="clone"):
            view(x).mul_(2)
        assert x.tolist() == list(range(8))
        assert view(x).zero_().sum() == 0
    x = torch.arange(8.0)
    x.unfold(0, 2, 2).mul_(2)
    x.as_strided((2, 2), (3, 2)).add_(1)  # interleaved, no element twice
    assert x.tolist() == [1.0, 2.0, 5.0, 7.0, 8.0, 11.0, 12.0, 14.0]


@pytest.mark.parametrize("data", [False, True])
@pytest.mark.parametrize("pivots", [False, True])
def test_lu_unpack_gives_only_what_is_asked_for(data, pivots):
    import funcgrad.torch as torch

    factors = torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    p, lower, upper = torch.lu_unpack(*factors, unpack_data=data, unpack_pivots=pivots)
    assert [tuple(t.shape) for t in (p, lower, upper)] == [
        (2, 2) if asked else (0,) for asked in (pivots, data, data)
    ]
