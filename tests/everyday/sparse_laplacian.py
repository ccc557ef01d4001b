"""A sparse Laplacian: the conductivity of a rod and of a network, seen through a solve."""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

n = 30
edges = [(i, i + 1) for i in range(n - 1)] + [(0, 10), (5, 20), (12, 28)]
start = 0.5 + 0.5 * np.abs(np.sin(np.arange(len(edges))))
injected = np.zeros(n)
injected[0] = 1.0
injected[-1] = -1.0


def objective(conductance):
    L = sp.lil_matrix((n, n))
    for (i, j), c in zip(edges, conductance, strict=True):
        L[i, i] += c
        L[j, j] += c
        L[i, j] -= c
        L[j, i] -= c
    L = L.tocsc()
    L = L + 1e-3 * sp.eye(n)
    potential = spla.spsolve(L, injected)
    power = potential @ (L @ potential)
    rod = sp.diags([-conductance[1:10], 2 + conductance[:10], -conductance[1:10]], [-1, 0, 1], format="csr")
    heat = spla.spsolve(rod.tocsc(), np.ones(10))
    return power + heat.max() + 0.1 * np.sum(np.log(conductance) ** 2)
