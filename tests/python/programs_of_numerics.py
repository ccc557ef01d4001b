"""Numerical methods as people write them: schemes on grids, alignments, particles, networks that sort, ways.

Nothing in here knows of funcgrad.
"""

import heapq

import numpy as np


def essentially_non_oscillatory(u):
    """One step of a fifth-order WENO scheme on a ring."""
    n = len(u)
    flux = np.zeros(n)
    for i in range(n):
        a, b, c, d, e = u[i - 2], u[i - 1], u[i], u[(i + 1) % n], u[(i + 2) % n]
        left, middle, right = (2 * a - 7 * b + 11 * c) / 6, (-b + 5 * c + 2 * d) / 6, (2 * c + 5 * d - e) / 6
        s0 = 13 / 12 * (a - 2 * b + c) ** 2 + 0.25 * (a - 4 * b + 3 * c) ** 2
        s1 = 13 / 12 * (b - 2 * c + d) ** 2 + 0.25 * (b - d) ** 2
        s2 = 13 / 12 * (c - 2 * d + e) ** 2 + 0.25 * (3 * c - 4 * d + e) ** 2
        w0, w1, w2 = 0.1 / (0.01 + s0) ** 2, 0.6 / (0.01 + s1) ** 2, 0.3 / (0.01 + s2) ** 2
        flux[i] = (w0 * left + w1 * middle + w2 * right) / (w0 + w1 + w2)
    out = np.zeros(n)
    for i in range(n):
        out[i] = u[i] - 0.2 * (flux[i] - flux[i - 1])
    return np.sum(out**2)


def alignment_with_affine_gaps(scores, first, second):
    """Needleman's and Wunsch's, by three tables."""
    n, m = len(first), len(second)
    match = np.full((n + 1, m + 1), -1e9)
    down, across = match.copy(), match.copy()
    match[0, 0] = 0.0
    for i in range(1, n + 1):
        down[i, 0] = -1.0 - 0.3 * (i - 1)
    for j in range(1, m + 1):
        across[0, j] = -1.0 - 0.3 * (j - 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = scores[first[i - 1], second[j - 1]]
            match[i, j] = s + max(match[i - 1, j - 1], down[i - 1, j - 1], across[i - 1, j - 1])
            down[i, j] = max(match[i - 1, j] - 1.0, down[i - 1, j] - 0.3)
            across[i, j] = max(match[i, j - 1] - 1.0, across[i, j - 1] - 0.3)
    return max(match[n, m], down[n, m], across[n, m])


def most_probable_states(transitions, emissions, seen):
    """Viterbi's, with pointers back."""
    scores = np.zeros((len(seen), len(transitions)))
    back = np.zeros((len(seen), len(transitions)), dtype=int)
    scores[0] = np.log(emissions[:, seen[0]])
    for t in range(1, len(seen)):
        for j in range(len(transitions)):
            best, place = -np.inf, 0
            for i in range(len(transitions)):
                s = scores[t - 1, i] + np.log(transitions[i, j])
                if s > best:
                    best, place = s, i
            scores[t, j] = best + np.log(emissions[j, seen[t]])
            back[t, j] = place
    path = [int(np.argmax(scores[-1]))]
    for t in range(len(seen) - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return np.max(scores[-1])


def particles_in_cells(places):
    """Charges onto a grid, a field, and back to the particles."""
    cells, speeds = 8, np.zeros(len(places))
    x = places.copy()
    for _ in range(2):
        density = np.zeros(cells)
        for p in range(len(x)):
            i = int(np.floor(x[p] * cells))
            w = x[p] * cells - i
            density[i % cells] += 1 - w
            density[(i + 1) % cells] += w
        field = np.zeros(cells)
        for i in range(1, cells):
            field[i] = field[i - 1] + 0.05 * (density[i] + density[i - 1] - 4.0)
        field -= field.mean()
        for p in range(len(x)):
            i = int(np.floor(x[p] * cells))
            w = x[p] * cells - i
            speeds[p] -= 0.1 * ((1 - w) * field[i % cells] + w * field[(i + 1) % cells])
            x[p] = (x[p] + 0.1 * speeds[p]) % 1.0
    return np.sum(speeds**2) + np.sum(x**2)


def sorting_network(x):
    """Batcher's bitonic network."""
    x = x.copy()
    size = 2
    while size <= len(x):
        gap = size // 2
        while gap > 0:
            for i in range(len(x)):
                j = i ^ gap
                if j > i and (x[i] > x[j] if (i & size) == 0 else x[i] < x[j]):
                    x[i], x[j] = x[j], x[i]
            gap //= 2
        size *= 2
    total = 0.0
    for i in range(len(x)):
        total += (i + 1) * x[i] ** 2
    return total


def smoothed(u, f, h, times):
    for _ in range(times):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + h * h * f[i])
    return u


def corrected(u, f, h):
    n = len(u)
    if n <= 3:
        u[1] = 0.5 * h * h * f[1]
        return u
    u = smoothed(u, f, h, 1)
    coarse = np.zeros((n - 1) // 2 + 1)
    for i in range(1, len(coarse) - 1):
        k = 2 * i
        coarse[i] = f[k] + (u[k - 1] - 2 * u[k] + u[k + 1]) / h**2
    change = corrected(np.zeros(len(coarse)), coarse, 2 * h)
    for i in range(len(coarse) - 1):
        u[2 * i] += change[i]
        u[2 * i + 1] += 0.5 * (change[i] + change[i + 1])
    return smoothed(u, f, h, 1)


def multigrid(f):
    """A V-cycle, by recursion."""
    return np.dot(corrected(np.zeros(len(f)), f, 1.0 / (len(f) - 1)), f)


ROADS = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 4), (3, 5), (4, 5), (2, 4), (5, 6), (3, 6)]


def shortest_way(lengths):
    """Dijkstra's, with a heap of traced numbers."""
    beside: dict = {}
    for k, (a, b) in enumerate(ROADS):
        beside.setdefault(a, []).append((b, k))
        beside.setdefault(b, []).append((a, k))
    known, done, waiting = {0: 0.0}, set(), [(0.0, 0)]
    while waiting:
        far, a = heapq.heappop(waiting)
        if a in done:
            continue
        done.add(a)
        for b, k in beside[a]:
            longer = far + lengths[k]
            if b not in known or longer < known[b]:
                known[b] = longer
                heapq.heappush(waiting, (longer, b))
    return known[6]


def marched_rays(center):
    """Spheres are met by steps as long as the distance to them."""
    total = 0.0
    for row in range(4):
        for column in range(4):
            ray = np.array([(row - 1.5) / 4, (column - 1.5) / 4, 1.0])
            ray = ray / np.linalg.norm(ray)
            t, met = 0.0, False
            for _ in range(30):
                far = np.linalg.norm(t * ray - center) - 0.8
                if far < 1e-4:
                    met = True
                    break
                t += far
                if t > 10:
                    break
            if met:
                total += max(0.0, -((t * ray - center)[2])) * t
    return total


def nearest_means(points):
    """Lloyd's, with the nearest by comparison."""
    means = points[:3].copy()
    for _ in range(4):
        sums, counts = np.zeros_like(means), np.zeros(3)
        for i in range(len(points)):
            best, place = np.inf, 0
            for j in range(3):
                far = np.sum((points[i] - means[j]) ** 2)
                if far < best:
                    best, place = far, j
            sums[place] += points[i]
            counts[place] += 1
        for j in range(3):
            if counts[j] > 0:
                means[j] = sums[j] / counts[j]
    return np.sum(means**2)


def tree_of_prices(price, strike, volatility):
    """An American put on a binomial tree, by a list that is written over."""
    n = 24
    up = np.exp(volatility * np.sqrt(1 / n))
    p = (np.exp(0.05 / n) - 1 / up) / (up - 1 / up)
    values = [max(strike - price * up ** (2 * i - n), 0.0) for i in range(n + 1)]
    for s in range(n - 1, -1, -1):
        for i in range(s + 1):
            later = np.exp(-0.05 / n) * (p * values[i + 1] + (1 - p) * values[i])
            values[i] = max(later, strike - price * up ** (2 * i - s))
    return values[0]


RNG = np.random.default_rng(11)
CASES = [
    (essentially_non_oscillatory, (RNG.random(12) + 0.5,), 0),
    (alignment_with_affine_gaps, (RNG.random((4, 4)), RNG.integers(0, 4, 11), RNG.integers(0, 4, 9)), 0),
    (most_probable_states, (RNG.random((3, 3)), RNG.random((3, 4)), [0, 2, 1, 3, 3, 0, 1]), 0),
    (particles_in_cells, (RNG.random(12),), 0),
    (sorting_network, (RNG.normal(size=16),), 0),
    (multigrid, (RNG.normal(size=17),), 0),
    (shortest_way, (RNG.random(10) + 0.5,), 0),
    (marched_rays, (np.array([0.1, 0.2, 3.0]),), 0),
    (nearest_means, (RNG.normal(size=(18, 2)),), 0),
    (tree_of_prices, (100.0, 105.0, 0.2), 2),
]
