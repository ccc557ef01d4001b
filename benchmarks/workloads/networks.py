"""Training steps of a small GPT and of a small convolutional network, eager and compiled, beside PyTorch's.

The text of the models is the same for both; `funcgrad.torch` draws PyTorch's numbers for a seed. Both have
one thread. A training run makes thousands of steps, so that two seconds of them come before the first sample:
the operations of an eager step are compiled once they have been evaluated for as long as that takes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.model import Call, Contender, Versus, Workload

VOCABULARY, BLOCK, WIDTH, HEADS, BATCH = 65, 32, 64, 4, 8


def gpt(torch: Any) -> tuple[Any, Any, Any]:
    """Two layers of width 64 on blocks of 32 characters, with a batch of 8."""
    nn, functional = torch.nn, torch.nn.functional

    class Attention(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.attend, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.register_buffer("mask", torch.tril(torch.ones(BLOCK, BLOCK)).view(1, 1, BLOCK, BLOCK))

        def forward(self, x: Any) -> Any:
            n, length, width = x.shape
            parts = self.attend(x).split(width, 2)
            q, k, v = (part.view(n, length, HEADS, width // HEADS).transpose(1, 2) for part in parts)
            scores = (q @ k.transpose(-2, -1)) * (width // HEADS) ** -0.5
            scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
            mixed = functional.softmax(scores, -1) @ v
            return self.project(mixed.transpose(1, 2).contiguous().view(n, length, width))

    class Layer(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.before, self.attention, self.between = nn.LayerNorm(WIDTH), Attention(), nn.LayerNorm(WIDTH)
            self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.before(x))
            return x + self.mlp(self.between(x))

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(BLOCK, WIDTH)
            self.layers = nn.Sequential(Layer(), Layer())
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

        def forward(self, x: Any) -> Any:
            hidden = self.layers(self.tokens(x) + self.places(torch.arange(x.shape[1])))
            return self.head(self.norm(hidden)).view(-1, VOCABULARY)

    torch.manual_seed(0)
    x = torch.randint(VOCABULARY, (BATCH, BLOCK))
    return Model(), x, torch.randint(VOCABULARY, (BATCH * BLOCK,))


def convolutional(torch: Any) -> tuple[Any, Any, Any]:
    """Two convolutions with pooling and a linear layer, on 32 images of 28 × 28."""
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * 49, 10),
    )
    return model, torch.randn(32, 1, 28, 28), torch.randint(10, (32,))


Made = Callable[[Any], tuple[Any, Any, Any]]


def eager_step(made: Made, torch: Any) -> Call:
    """A step of AdamW as it is written."""
    model, x, y = made(torch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step() -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def eager_slopes(made: Made, torch: Any) -> Call:
    """Loss and gradients, without a step."""
    model, x, y = made(torch)

    def slopes() -> Any:
        model.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss.detach()

    return slopes


def of_torch(call: Callable[[Made, Any], Call], made: Made, torch: Any, np: Any, inputs: Any) -> Call:
    """PyTorch's contender."""
    return call(made, torch)


def of_facade(call: Callable[[Made, Any], Call], made: Made, fg: Any, np: Any, inputs: Any) -> Call:
    """The same, with ``funcgrad.torch``."""
    return call(made, fg.torch)


def compiled_step(made: Made, fg: Any, np: Any, inputs: Any) -> Call:
    """A whole step as one native function."""
    model, x, y = made(fg.torch)
    optimizer = fg.torch.optim.AdamW(model.parameters(), lr=1e-3)

    @fg.jit
    def step(model: Any, optimizer: Any, x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = fg.torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return partial(step, model, optimizer, x, y)


def compiled_slopes(made: Made, fg: Any, np: Any, inputs: Any) -> Call:
    """Loss and gradients as one native function."""
    model, x, y = made(fg.torch)

    @fg.jit
    def slopes(model: Any, x: Any, y: Any) -> Any:
        loss = fg.torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss.detach(), [p.grad for p in model.parameters()]

    def loss_alone() -> Any:
        return slopes(model, x, y)[0]

    return loss_alone


def nothing(np: Any) -> tuple[Any, ...]:
    """The models make their own inputs."""
    return ()


def rows(name: str, title: str, made: Made) -> tuple[Workload, ...]:
    """The three rows of a network: eager step, compiled gradients, compiled step."""
    kinds = (
        ("step", "a step of AdamW, eager", eager_step, partial(of_facade, eager_step, made), 1.0),
        ("slopes-jit", "loss and gradients, compiled", eager_slopes, partial(compiled_slopes, made), 2.0),
        ("step-jit", "a step of AdamW, compiled", eager_step, partial(compiled_step, made), 2.2),
    )
    return tuple(
        Workload(
            name=f"{name}-{kind}",
            title=f"{title}: {what}",
            contenders=(
                Contender("funcgrad", "funcgrad", ours),
                Contender("torch", "torch", partial(of_torch, theirs, made)),
            ),
            targets=(Versus(("torch",), most),),
            inputs=nothing,
            rtol=1e-3,
            threads=1,
            warm_up=2.0,
        )
        for kind, what, theirs, ours, most in kinds
    )


WORKLOADS = (
    *rows("gpt", "GPT, 2 layers, width 64, block 32, batch 8, one thread", gpt),
    *rows("convnet", "two convolutions, 32 images of 28 × 28, one thread", convolutional),
)
