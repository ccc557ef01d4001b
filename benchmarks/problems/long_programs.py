"""Programs of many different operations, as people write them: a transformer, and the tracking of a hand."""

from __future__ import annotations

import math
from typing import Any

SEED = 0

TOKENS, WIDTH, HEADS, WORDS = 32, 64, 4, 96

BONES, VERTICES, ANGLES = 22, 120, 26
PARENTS = (-1, 0, *[b - 1 if b % 4 != 2 else 1 for b in range(2, BONES)])
"""A wrist, a palm, and five fingers of four bones."""


def transformer_loss(np: Any, weights: Any, tokens: Any, following: Any) -> Any:
    """The cross-entropy of the next word under a decoder; texts are rows with a 1 for the word."""
    words, places, blocks = weights
    x = tokens @ words + places
    hidden = -1e9 * (1.0 - np.tril(np.ones((TOKENS, TOKENS))))
    for to_queries, to_keys, to_values, to_x, widening, narrowing in blocks:
        y = normalized(np, x)
        queries, keys, values = [
            np.transpose(np.reshape(y @ w, (TOKENS, HEADS, WIDTH // HEADS)), (1, 0, 2))
            for w in (to_queries, to_keys, to_values)
        ]
        scores = queries @ np.transpose(keys, (0, 2, 1)) / math.sqrt(WIDTH // HEADS) + hidden
        shares = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        shares = shares / np.sum(shares, axis=-1, keepdims=True)
        x = x + np.reshape(np.transpose(shares @ values, (1, 0, 2)), (TOKENS, WIDTH)) @ to_x
        y = normalized(np, x) @ widening
        x = x + 0.5 * y * (1.0 + np.tanh(0.7978845608 * (y + 0.044715 * y**3))) @ narrowing
    logits = normalized(np, x) @ words.T
    top = np.max(logits, axis=-1, keepdims=True)
    likelihood = logits - top - np.log(np.sum(np.exp(logits - top), axis=-1, keepdims=True))
    return -np.sum(following * likelihood) / TOKENS


def normalized(np: Any, x: Any) -> Any:
    """Rows of mean 0 and variance 1."""
    x = x - np.mean(x, axis=-1, keepdims=True)
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5)


def transformer_inputs(np: Any, blocks: int = 12) -> tuple[Any, ...]:
    """Weights of a decoder of `blocks` blocks, and two texts."""
    rng = np.random.default_rng(SEED)
    shapes = [(WIDTH, WIDTH)] * 4 + [(WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]
    layers = [[rng.normal(size=shape) / math.sqrt(shape[0]) for shape in shapes] for _ in range(blocks)]
    words, places = rng.normal(size=(WORDS, WIDTH)) / 8.0, rng.normal(size=(TOKENS, WIDTH)) / 8.0
    text = np.eye(WORDS)[rng.integers(0, WORDS, TOKENS + 1)]
    return (words, places, layers), text[:-1], text[1:]


def hand_loss(np: Any, angles: Any, relatives: Any, rest: Any, shares: Any, skin: Any, seen: Any) -> Any:
    """The squared distance of a posed hand's skin to points that were seen, after GradBench's hand tracking.

    `angles` are a global rotation (3), scales (3) and the joints' angles (20): of each finger a spread and
    three bends, which turn its bones.
    """
    posed = [relatives[0], relatives[1]]
    for b in range(2, BONES):
        finger, joint = divmod(b - 2, 4)
        bend = angles[6 + 4 * finger + joint]
        spread = angles[6 + 4 * finger] if joint == 0 else 0.0 * bend
        posed.append(relatives[b] @ turned(np, bend, spread, 0.0 * bend))
    absolutes: list[Any] = []
    for b, parent in enumerate(PARENTS):
        absolutes.append(posed[b] if parent < 0 else absolutes[parent] @ posed[b])
    bones = np.stack([absolute @ back for absolute, back in zip(absolutes, rest, strict=True)])
    moved = np.sum(shares[:, :, None] * np.transpose(bones @ skin, (0, 2, 1)), axis=0)[:, :3]
    whole = turned(np, angles[0], angles[1], angles[2])[:3, :3] * angles[3:6]
    return np.sum((moved @ whole.T - seen) ** 2)


def turned(np: Any, x: Any, y: Any, z: Any) -> Any:
    """The rotation about three axes in turn, in homogeneous coordinates."""
    (cx, sx), (cy, sy), (cz, sz) = [(np.cos(a), np.sin(a)) for a in (x, y, z)]
    one, none = 0.0 * x + 1.0, 0.0 * x
    about_x = np.array(
        [[one, none, none, none], [none, cx, -sx, none], [none, sx, cx, none], [none, none, none, one]]
    )
    about_y = np.array(
        [[cy, none, sy, none], [none, one, none, none], [-sy, none, cy, none], [none, none, none, one]]
    )
    about_z = np.array(
        [[cz, -sz, none, none], [sz, cz, none, none], [none, none, one, none], [none, none, none, one]]
    )
    return about_z @ about_y @ about_x


def hand_inputs(np: Any) -> tuple[Any, ...]:
    """Angles, a skeleton, a skin with the shares of the bones in it, and points."""
    rng = np.random.default_rng(SEED)
    relatives = np.stack([np.eye(4)] * BONES)
    relatives[:, :3, 3] = rng.normal(size=(BONES, 3))
    rest = np.stack([np.eye(4)] * BONES)
    rest[:, :3, 3] = rng.normal(size=(BONES, 3))
    shares = rng.random((BONES, VERTICES))
    shares = shares / np.sum(shares, axis=0)
    skin = np.concatenate([rng.normal(size=(3, VERTICES)), np.ones((1, VERTICES))])
    return 0.3 * rng.normal(size=ANGLES), relatives, rest, shares, skin, rng.normal(size=(VERTICES, 3))
