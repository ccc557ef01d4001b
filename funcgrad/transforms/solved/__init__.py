"""What a solver finds: roots, minima, integrals and trajectories as equations, with their derivatives.

`solving` owns the equation, whose value is computed by a method that is handed Programs and numbers;
`implicit` the derivative of whatever solves a system of equations; `regular` the matrices that must not be
singular for there to be one.
"""

from funcgrad.transforms.solved import (
    solving as solving,  # its operation is found in the catalog by the others
)
