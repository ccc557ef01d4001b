"""Modules beside PyTorch's: what they print, compute, save and refuse."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from torch_pairs import arrays_in, compare, copy_parameters, error_of, leaves_of, numpy_of

import funcgrad.torch as ours

quiet = pytest.mark.filterwarnings("ignore::DeprecationWarning")
peers = pytest.mark.peers("torch")


def normal(*shape: int) -> Any:
    return np.random.default_rng(3).normal(size=shape).astype(np.float32)


LAYERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "linear": (lambda nn: nn.Linear(3, 4), (normal(2, 3),)),
    "linear_plain": (lambda nn: nn.Linear(3, 4, bias=False), (normal(5, 2, 3),)),
    "bilinear": (lambda nn: nn.Bilinear(3, 2, 4), (normal(5, 3), normal(5, 2))),
    "identity": (lambda nn: nn.Identity(3, x=4), (normal(2, 3),)),
    "flatten": (lambda nn: nn.Flatten(), (normal(2, 3, 4),)),
    "unflatten": (lambda nn: nn.Unflatten(1, (2, 2)), (normal(3, 4),)),
    "embedding": (lambda nn: nn.Embedding(5, 3, padding_idx=1), (np.array([0, 1, 4]),)),
    "conv1d": (lambda nn: nn.Conv1d(3, 4, 2, bias=False), (normal(2, 3, 6),)),
    "conv2d": (lambda nn: nn.Conv2d(2, 4, (3, 2), stride=2, padding=1, groups=2), (normal(2, 2, 6, 5),)),
    "conv2d_same": (lambda nn: nn.Conv2d(2, 4, 3, padding="same", dilation=2), (normal(2, 2, 6, 5),)),
    "conv2d_reflect": (
        lambda nn: nn.Conv2d(2, 4, 3, padding=1, padding_mode="reflect"),
        (normal(2, 2, 6, 5),),
    ),
    "conv3d": (lambda nn: nn.Conv3d(2, 3, 2), (normal(1, 2, 3, 4, 3),)),
    "transpose": (
        lambda nn: nn.ConvTranspose2d(2, 3, 3, stride=2, output_padding=1, padding=1),
        (normal(1, 2, 4, 3),),
    ),
    "batch_norm1d": (lambda nn: nn.BatchNorm1d(3), (normal(4, 3),)),
    "batch_norm2d": (lambda nn: nn.BatchNorm2d(3, momentum=None), (normal(4, 3, 2, 5),)),
    "batch_norm_eval": (lambda nn: nn.BatchNorm1d(3).eval(), (normal(4, 3),)),
    "batch_norm_plain": (
        lambda nn: nn.BatchNorm1d(3, affine=False, track_running_stats=False),
        (normal(4, 3),),
    ),
    "instance_norm": (lambda nn: nn.InstanceNorm2d(3, affine=True), (normal(4, 3, 2, 5),)),
    "layer_norm": (lambda nn: nn.LayerNorm((2, 5)), (normal(4, 2, 5),)),
    "layer_norm_plain": (lambda nn: nn.LayerNorm(5, elementwise_affine=False), (normal(4, 5),)),
    "rms_norm": (lambda nn: nn.RMSNorm(5), (normal(4, 5),)),
    "group_norm": (lambda nn: nn.GroupNorm(2, 4), (normal(2, 4, 3),)),
    "response_norm": (lambda nn: nn.LocalResponseNorm(2), (normal(2, 4, 3),)),
    "max_pool2d": (lambda nn: nn.MaxPool2d(2, ceil_mode=True), (normal(2, 3, 5, 4),)),
    "max_pool1d": (lambda nn: nn.MaxPool1d(3, 2, 1, return_indices=True), (normal(2, 3, 7),)),
    "avg_pool1d": (lambda nn: nn.AvgPool1d(3), (normal(2, 3, 7),)),
    "avg_pool2d": (lambda nn: nn.AvgPool2d((2, 3), 1), (normal(2, 3, 5, 4),)),
    "lp_pool": (lambda nn: nn.LPPool2d(2, 2), (np.abs(normal(2, 3, 5, 4)) + 1,)),
    "adaptive_avg": (lambda nn: nn.AdaptiveAvgPool2d((2, 3)), (normal(2, 3, 5, 4),)),
    "adaptive_max": (lambda nn: nn.AdaptiveMaxPool1d(2), (normal(2, 3, 8),)),
    "dropout": (lambda nn: nn.Dropout(0.2).eval(), (normal(3),)),
    "dropout2d": (lambda nn: nn.Dropout2d(inplace=True).eval(), (normal(1, 2, 3, 3),)),
    "zero_pad": (lambda nn: nn.ZeroPad2d((1, 0, 2, 1)), (normal(1, 2, 3, 3),)),
    "constant_pad": (lambda nn: nn.ConstantPad1d(2, 0.5), (normal(1, 2, 3),)),
    "reflection_pad": (lambda nn: nn.ReflectionPad2d(1), (normal(1, 2, 3, 3),)),
    "upsample": (lambda nn: nn.Upsample(scale_factor=2), (normal(1, 2, 3, 3),)),
    "upsample_size": (lambda nn: nn.Upsample(size=5, mode="linear"), (normal(1, 2, 3),)),
    "pixel_shuffle": (lambda nn: nn.PixelShuffle(2), (normal(1, 4, 3, 3),)),
    "reflection_pad3d": (lambda nn: nn.ReflectionPad3d(1), (normal(1, 2, 3, 3, 2),)),
    "channel_shuffle": (lambda nn: nn.ChannelShuffle(2), (normal(1, 4, 3, 3),)),
    "upsampling": (lambda nn: nn.UpsamplingBilinear2d(size=5), (normal(1, 2, 3, 3),)),
    "multi_margin": (lambda nn: nn.MultiMarginLoss(p=2, margin=0.5), (normal(3, 4), np.array([0, 3, 1]))),
    "unfold": (lambda nn: nn.Unfold(2), (normal(1, 4, 3, 3),)),
    "cosine": (lambda nn: nn.CosineSimilarity(), (normal(3, 4), normal(3, 4) + 1)),
    "mse": (lambda nn: nn.MSELoss(), (normal(3, 4), normal(3, 4) + 1)),
    "l1": (lambda nn: nn.L1Loss(reduction="sum"), (normal(3, 4), normal(3, 4) + 1)),
    "smooth_l1": (lambda nn: nn.SmoothL1Loss(beta=0.5), (normal(3, 4), normal(3, 4) + 1)),
    "huber": (lambda nn: nn.HuberLoss(), (normal(3, 4), normal(3, 4) + 1)),
    "cross_entropy": (
        lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1),
        (normal(3, 4), np.array([0, 3, 1])),
    ),
    "nll": (lambda nn: nn.NLLLoss(), (normal(3, 4), np.array([0, 3, 1]))),
    "kl": (lambda nn: nn.KLDivLoss(reduction="batchmean", log_target=True), (normal(3, 4), normal(3, 4) - 1)),
    "bce_logits": (lambda nn: nn.BCEWithLogitsLoss(), (normal(3), np.array([0.0, 1.0, 0.5], np.float32))),
    "triplet": (lambda nn: nn.TripletMarginLoss(), (normal(3, 4), normal(3, 4) + 1, normal(3, 4) - 0.2)),
    "prelu": (lambda nn: nn.PReLU(2), (normal(3, 2),)),
    "rnn": (lambda nn: nn.RNN(3, 4, nonlinearity="relu"), (normal(5, 2, 3),)),
    "lstm": (lambda nn: nn.LSTM(3, 4, 2, bidirectional=True), (normal(5, 2, 3),)),
    "lstm_batch_first": (lambda nn: nn.LSTM(3, 4, batch_first=True, bias=False), (normal(2, 5, 3),)),
    "lstm_one": (lambda nn: nn.LSTM(3, 4), (normal(5, 3),)),
    "gru": (lambda nn: nn.GRU(3, 4, num_layers=2), (normal(5, 2, 3), normal(2, 2, 4))),
    "rnn_cell": (lambda nn: nn.RNNCell(3, 4), (normal(2, 3),)),
    "lstm_cell": (lambda nn: nn.LSTMCell(3, 4), (normal(2, 3),)),
    "gru_cell": (lambda nn: nn.GRUCell(3, 4, bias=False), (normal(2, 3), normal(2, 4))),
    "attention": (
        lambda nn: nn.MultiheadAttention(8, 2),
        (normal(5, 3, 8), normal(4, 3, 8), normal(4, 3, 8)),
    ),
    "attention_sizes": (
        lambda nn: nn.MultiheadAttention(8, 2, kdim=3, vdim=5, bias=False, batch_first=True),
        (normal(2, 5, 8), normal(2, 4, 3), normal(2, 4, 5)),
    ),
    "attention_one": (lambda nn: nn.MultiheadAttention(4, 1), (normal(5, 4), normal(3, 4), normal(3, 4))),
    "encoder": (
        lambda nn: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu"), 2, nn.LayerNorm(8)
        ),
        (normal(5, 3, 8),),
    ),
    "encoder_norm_first": (
        lambda nn: nn.TransformerEncoderLayer(8, 4, 16, 0.0, norm_first=True, batch_first=True),
        (normal(3, 5, 8),),
    ),
    "transformer": (
        lambda nn: nn.Transformer(8, 2, 1, 2, 16, dropout=0.0),
        (normal(5, 3, 8), normal(4, 3, 8)),
    ),
    "sequential": (
        lambda nn: nn.Sequential(
            nn.Linear(3, 4), nn.GELU(), nn.Sequential(nn.Linear(4, 2), nn.Softmax(dim=1))
        ),
        (normal(2, 3),),
    ),
}
for _name, _text in {
    "ReLU": "()",
    "ReLU6": "()",
    "ELU": "(alpha=0.5)",
    "CELU": "()",
    "SELU": "()",
    "GELU": "('tanh')",
    "SiLU": "()",
    "Mish": "()",
    "Sigmoid": "()",
    "LogSigmoid": "()",
    "Tanh": "()",
    "Tanhshrink": "()",
    "Softsign": "()",
    "Softplus": "(2.0)",
    "Hardtanh": "(-0.5, 0.5)",
    "Hardsigmoid": "()",
    "Hardswish": "()",
    "Softshrink": "(0.3)",
    "Hardshrink": "()",
    "Threshold": "(0.1, 2)",
    "LeakyReLU": "(0.2)",
    "Softmin": "(1)",
    "LogSoftmax": "(dim=1)",
    "GLU": "()",
}.items():
    LAYERS[f"{_name}{_text}"] = (
        lambda nn, call=f"nn.{_name}{_text}": eval(call, {"nn": nn}),
        (normal(3, 4),),
    )


@quiet
@peers
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str) -> None:
    import torch as theirs

    make, args = LAYERS[name]
    mine, other = make(ours.nn), make(theirs.nn)
    assert repr(mine) == repr(other)
    copy_parameters(mine, other)
    held = {ours: mine, theirs: other}
    compare(lambda t, *xs: held[t](*xs), *args, rtol=2e-4, atol=2e-5, names=False)
    for p, q in zip(mine.parameters(), other.parameters(), strict=True):
        assert (p.grad is None) == (q.grad is None)
        if p.grad is not None:
            np.testing.assert_allclose(numpy_of(p.grad), numpy_of(q.grad), rtol=2e-4, atol=2e-4)
    for (key, a), (other_key, b) in zip(mine.state_dict().items(), other.state_dict().items(), strict=True):
        assert key == other_key
        np.testing.assert_allclose(numpy_of(a), numpy_of(b), rtol=1e-5, atol=1e-6)


PRINTED = {
    "dropout": lambda nn: nn.Dropout(0.1, inplace=True),
    "relu_inplace": lambda nn: nn.ReLU(inplace=True),
    "hardtanh_inplace": lambda nn: nn.Hardtanh(inplace=True),
    "rrelu": lambda nn: nn.RReLU(),
    "embedding": lambda nn: nn.Embedding(3, 4, max_norm=2.0),
    "module_list": lambda nn: nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)]),
    "empty_list": lambda nn: nn.ModuleList(),
    "nested_list": lambda nn: nn.ModuleList([nn.Sequential(nn.Linear(1, 2), nn.ReLU()) for _ in range(3)]),
    "module_dict": lambda nn: nn.ModuleDict({"a": nn.ReLU(), "b": nn.Sequential(nn.Linear(1, 2))}),
    "empty_sequential": lambda nn: nn.Sequential(),
    "named_sequential": lambda nn: nn.Sequential(OrderedDict(first=nn.Linear(2, 3), act=nn.Tanh())),
    "lstm": lambda nn: nn.LSTM(3, 4, 2, batch_first=True, dropout=0.2),
    "losses": lambda nn: nn.ModuleList([nn.MSELoss(), nn.CrossEntropyLoss(), nn.BCELoss(), nn.HuberLoss()]),
}


@quiet
@peers
@pytest.mark.parametrize("name", PRINTED)
def test_printed_form(name: str) -> None:
    import torch as theirs

    assert repr(PRINTED[name](ours.nn)) == repr(PRINTED[name](theirs.nn))


@quiet
@peers
def test_printed_parameters() -> None:
    import torch as theirs

    def texts(t: Any) -> list[str]:
        parameter = t.nn.Parameter(t.ones(2))
        return [
            repr(parameter),
            repr(t.nn.ParameterList([parameter, t.zeros(2, 3)])),
            repr(t.nn.ParameterDict({"a": parameter})),
            repr(t.nn.Linear(1, 1).load_state_dict(t.nn.Linear(1, 1).state_dict())),
        ]

    assert texts(ours) == texts(theirs)


def net(t: Any) -> Any:
    """A module with all kinds of members."""

    class Net(t.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4))
            self.heads = t.nn.ModuleList([t.nn.Linear(4, 1) for _ in range(2)])
            self.scale = t.nn.Parameter(t.ones(2))
            self.register_buffer("seen", t.zeros(1))
            self.register_buffer("scratch", t.zeros(1), persistent=False)
            self.tied = self.heads[0]

        def forward(self, x: Any) -> Any:
            x = self.body(x)
            return self.heads[0](x) * self.scale[0] + self.heads[1](x) * self.scale[1]

        def extra_repr(self) -> str:
            return "extra"

    return Net()


@quiet
@peers
def test_walks_over_names() -> None:
    import torch as theirs

    def names(t: Any) -> list[Any]:
        m = net(t)
        m.eval()
        return [
            repr(m),
            [name for name, _ in m.named_parameters()],
            [name for name, _ in m.named_parameters(recurse=False)],
            [name for name, _ in m.named_parameters(prefix="p", remove_duplicate=False)],
            [name for name, _ in m.named_buffers()],
            [name for name, _ in m.named_modules()],
            [name for name, _ in m.named_modules(remove_duplicate=False)],
            [name for name, _ in m.named_children()],
            [type(c).__name__ for c in m.children()],
            list(m.state_dict()),
            list(m.state_dict(prefix="x.")),
            [c.training for c in m.modules()],
            type(m.get_submodule("body.0")).__name__,
            m.get_parameter("body.0.bias").shape == (4,),
            [list(p.shape) for p in m.parameters()],
        ]

    assert names(ours) == names(theirs)


ERRORS: dict[str, Any] = {
    "missing_forward": lambda t: t.nn.Module()(1),
    "attribute": lambda t: t.nn.Linear(1, 2).weigth,
    "assign_tensor": lambda t: setattr(t.nn.Linear(1, 2), "weight", t.ones(2, 1)),
    "assign_module": lambda t: setattr(t.nn.Sequential(t.nn.ReLU()), "0", 3),
    "before_init": lambda t: type(
        "M", (t.nn.Module,), {"__init__": lambda self: setattr(self, "a", t.nn.ReLU())}
    )(),
    "parameter_before_init": lambda t: type(
        "M", (t.nn.Module,), {"__init__": lambda self: setattr(self, "a", t.nn.Parameter(t.ones(1)))}
    )(),
    "register_type": lambda t: t.nn.Module().register_parameter("a", t.ones(1)),
    "register_dot": lambda t: t.nn.Module().register_parameter("a.b", None),
    "register_empty": lambda t: t.nn.Module().register_buffer("", None),
    "register_twice": lambda t: t.nn.Module().register_buffer("training", None),
    "non_leaf": lambda t: t.nn.Module().register_parameter("a", t.nn.Parameter(t.ones(1)) * 2),
    "add_module": lambda t: t.nn.Module().add_module("a", 3),
    "train": lambda t: t.nn.Module().train("yes"),
    "load_missing": lambda t: t.nn.Linear(1, 2).load_state_dict({"weight": t.ones(2, 1)}),
    "load_unexpected": lambda t: t.nn.Linear(1, 1).load_state_dict(
        {"weight": t.ones(1, 1), "bias": t.ones(1), "more": t.ones(1)}
    ),
    "load_size": lambda t: t.nn.Sequential(t.nn.Linear(1, 2)).load_state_dict(
        {"0.weight": t.ones(1, 1), "0.bias": t.ones(2)}
    ),
    "load_all": lambda t: t.nn.Sequential(t.nn.Linear(1, 2), t.nn.ReLU()).load_state_dict({"1.x": t.ones(1)}),
    "submodule": lambda t: t.nn.Sequential(t.nn.ReLU()).get_submodule("1"),
    "sequential_index": lambda t: t.nn.Sequential(t.nn.ReLU())[3],
    "list_index": lambda t: t.nn.ModuleList()[0],
    "unknown_option": lambda t: t.nn.Module(1),
    "threshold": lambda t: t.nn.Dropout(2.0),
    "padding_mode": lambda t: t.nn.Conv2d(1, 1, 1, padding_mode="most"),
    "batch_norm_dims": lambda t: t.nn.BatchNorm2d(3)(t.ones(2, 3)),
    "rnn": lambda t: t.nn.RNN(1, 1, nonlinearity="sin"),
}


@quiet
@peers
@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    import torch as theirs

    (kind, words), (their_kind, their_words) = (error_of(ERRORS[name], t) for t in (ours, theirs))
    assert issubclass(kind, their_kind)
    if name != "padding_mode":  # prints a set
        assert words == their_words


@quiet
@peers
def test_hooks() -> None:
    import torch as theirs

    def seen(t: Any) -> list[Any]:
        log: list[Any] = []
        m = t.nn.Linear(2, 2)
        with t.no_grad():
            m.weight.copy_(t.tensor([[1.0, 2.0], [3.0, 4.0]]))
            m.bias.zero_()
        m.register_forward_pre_hook(lambda m, args: log.append(("pre", args[0].tolist())))
        m.register_forward_pre_hook(lambda m, args: (args[0] * 2,), prepend=True)
        m.register_forward_hook(lambda m, args, out: out + 1)
        handle = m.register_forward_hook(
            lambda m, args, kwargs, out: log.append(sorted(kwargs)), with_kwargs=True
        )
        m.register_full_backward_pre_hook(lambda m, g: log.append(("before", g[0].tolist())))
        m.register_full_backward_hook(
            lambda m, gi, go: (log.append((gi[0].tolist(), go[0].tolist())), (gi[0] * 10,))[1]
        )
        x = t.tensor([[1.0, 1.0]], requires_grad=True)
        out = m(x)
        out.sum().backward()
        handle.remove()
        log += [out.tolist(), x.grad.tolist(), m.weight.grad.tolist()]
        m(x)
        return log

    assert seen(ours) == seen(theirs)


def test_backward_hook_of_parameters_alone() -> None:
    seen = []
    layer = ours.nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].tolist())))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        layer(ours.ones(1, 2)).sum().backward()
    assert seen == [((None,), [[1.0]])]


def test_state_dict_shares_memory_and_loading_copies() -> None:
    a, b = net(ours), net(ours)
    state = a.state_dict()
    a.scale.data.fill_(5.0)
    assert state["scale"].tolist() == [5.0, 5.0]
    held = b.scale
    assert str(b.load_state_dict(state)) == "<All keys matched successfully>"
    assert b.scale is held
    assert b.scale.tolist() == [5.0, 5.0]
    a.scale.data.fill_(6.0)
    assert b.scale.tolist() == [5.0, 5.0]
    found = b.load_state_dict({"scale": ours.zeros(2), "x": ours.ones(1)}, strict=False)
    assert "x" in found.unexpected_keys
    assert "seen" in found.missing_keys


def test_copies_and_pickles() -> None:
    m = net(ours)
    for other in (copy.deepcopy(m.body), pickle.loads(pickle.dumps(m.body))):
        assert repr(other) == repr(m.body)
        for p, q in zip(m.body.parameters(), other.parameters(), strict=True):
            assert p is not q
            assert isinstance(q, ours.nn.Parameter)
            assert q.requires_grad
            assert p.tolist() == q.tolist()
            assert not np.shares_memory(numpy_of(p), numpy_of(q))
    tied = copy.deepcopy(m)
    assert tied.tied is tied.heads[0]


def test_conversion_keeps_parameters() -> None:
    m = ours.nn.Sequential(ours.nn.Linear(2, 3), ours.nn.BatchNorm1d(3))
    weight = m[0].weight
    assert m.double() is m
    assert m[0].weight is weight
    assert weight.dtype == ours.float64
    assert m[1].running_mean.dtype == ours.float64
    assert m[1].num_batches_tracked.dtype == ours.int64
    assert m(ours.ones(4, 2, dtype=ours.float64)).dtype == ours.float64
    assert m.float()[0].weight.dtype == ours.float32


def test_lists_behave_as_lists() -> None:
    layers = ours.nn.ModuleList([ours.nn.Linear(k + 1, 1) for k in range(4)])
    del layers[1]
    layers.insert(0, ours.nn.ReLU())
    layers.append(ours.nn.Tanh())
    layers += [ours.nn.Sigmoid()]
    assert [type(x).__name__ for x in layers] == ["ReLU", "Linear", "Linear", "Linear", "Tanh", "Sigmoid"]
    assert isinstance(layers[1:3], ours.nn.ModuleList)
    assert layers[-1] is layers[5]
    assert isinstance(layers.pop(), ours.nn.Sigmoid)
    row = ours.nn.Sequential(ours.nn.ReLU()) + ours.nn.Sequential(ours.nn.Tanh())
    row[0] = ours.nn.Sigmoid()
    assert [type(x).__name__ for x in row[:2]] == ["Sigmoid", "Tanh"]
    assert len(row * 2) == 4
    held = ours.nn.ModuleDict({"a": ours.nn.ReLU()})
    held["b"] = ours.nn.Tanh()
    assert "b" in held
    assert list(held.keys()) == ["a", "b"]
    assert type(held.pop("a")).__name__ == "ReLU"


def test_dropout_in_training() -> None:
    ours.manual_seed(0)
    x = ours.ones(1000, requires_grad=True)
    out = ours.nn.Dropout(0.25)(x)
    values = np.unique(numpy_of(out))
    np.testing.assert_allclose(values, [0.0, 4 / 3], rtol=1e-6)
    assert 0.6 < float((out > 0).to(ours.float32).mean()) < 0.9
    out.sum().backward()
    np.testing.assert_array_equal(numpy_of(x.grad), numpy_of(out))
    channels = ours.nn.Dropout2d()(ours.ones(4, 50, 2, 2))
    assert all(len(np.unique(c)) == 1 for image in numpy_of(channels) for c in image)


def test_first_values() -> None:
    ours.manual_seed(0)
    init = ours.nn.init
    w = ours.empty(50, 80)
    assert abs(float(init.normal_(w, 1.0, 2.0).std()) - 2.0) < 0.1
    bound = (6 / 130) ** 0.5
    assert float(init.xavier_uniform_(w).abs().max()) <= bound
    assert float(init.kaiming_uniform_(w, nonlinearity="relu").abs().max()) <= (6 / 80) ** 0.5
    assert abs(float(init.kaiming_normal_(w, mode="fan_out").std()) - (2 / 50) ** 0.5) < 0.02
    q = numpy_of(init.orthogonal_(w))
    np.testing.assert_allclose(q @ q.T, np.eye(50), atol=1e-5)
    assert float(init.trunc_normal_(w, a=-1.0, b=1.0).abs().max()) <= 1.0
    assert int((init.sparse_(w, 0.1) == 0).sum()) == 5 * 80
    kernel = init.dirac_(ours.empty(3, 2, 3))
    x = ours.rand(1, 2, 5)
    np.testing.assert_allclose(
        numpy_of(ours.nn.functional.conv1d(x, kernel, padding=1))[:, :2], numpy_of(x), rtol=1e-6
    )
    assert init.eye_(ours.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.xavier_normal_(ours.empty(3))


@quiet
@peers
@pytest.mark.parametrize("need_weights", [True, False])
def test_masks_of_attention(need_weights: bool) -> None:
    import torch as theirs

    mine, other = ours.nn.MultiheadAttention(4, 2), theirs.nn.MultiheadAttention(4, 2)
    copy_parameters(mine, other)
    held = {ours: mine, theirs: other}
    padding = np.array([[False, False, True], [False, True, False]])

    def attend(t: Any, x: Any) -> Any:
        mask = t.nn.Transformer.generate_square_subsequent_mask(3)
        out = held[t](x, x, x, t.tensor(padding), need_weights=need_weights, attn_mask=mask)
        boolean = held[t](x, x, x, attn_mask=mask < 0, average_attn_weights=False)
        return [y for y in (*out, *boolean) if y is not None]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's about masks of two kinds
        compare(attend, normal(3, 2, 4), rtol=1e-4, atol=1e-5, names=False)


@quiet
@peers
def test_gains_are_torchs() -> None:
    import torch as theirs

    for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"):
        assert ours.nn.init.calculate_gain(name) == theirs.nn.init.calculate_gain(name)
    assert ours.nn.init.calculate_gain("leaky_relu", 0.2) == theirs.nn.init.calculate_gain("leaky_relu", 0.2)


@quiet
@peers
@pytest.mark.parametrize("norm", [2.0, 1.0, float("inf")])
def test_clipping(norm: float) -> None:
    import torch as theirs

    def clipped(t: Any) -> list[Any]:
        params = arrays_in(t, [normal(3, 2), normal(4)])
        sum((p * p).sum() for p in params).backward()
        total = t.nn.utils.clip_grad_norm_(params, 1.0, norm)
        t.nn.utils.clip_grad_value_(params[:1], 0.1)
        return [total.numpy(), *[p.grad.numpy() for p in params]]

    for a, b in zip(clipped(ours), clipped(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_parameters_as_a_vector() -> None:
    layer = ours.nn.Linear(2, 1)
    vector = ours.nn.utils.parameters_to_vector(layer.parameters())
    assert vector.requires_grad
    ours.nn.utils.vector_to_parameters(ours.tensor([1.0, 2.0, 3.0]), layer.parameters())
    assert layer.weight.tolist() == [[1.0, 2.0]]
    assert layer.bias.tolist() == [3.0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nn.quantized", "quantized tensors are not supported"),
        ("nn.Nothing", "has no attribute 'Nothing'"),
    ],
)
def test_what_is_missing_says_so(name: str, words: str) -> None:
    *path, last = name.split(".")
    module = ours
    for step in path:
        module = getattr(module, step)
    with pytest.raises(AttributeError, match=words):
        getattr(module, last)


def test_what_is_not_supported_says_so() -> None:
    nn = ours.nn
    with pytest.raises(NotImplementedError, match="does not support"):
        nn.Embedding(2, 2, sparse=True)(ours.tensor([0]))
    assert leaves_of([ours.ones(1)])
