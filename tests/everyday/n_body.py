"""N bodies under gravity: how far a planet ends from its target, by its first velocity."""

import numpy as np

G = 1.0


class Body:
    def __init__(self, mass, position, velocity):
        self.mass = mass
        self.position = np.array(position, dtype=float)
        self.velocity = np.array(velocity, dtype=float)
        self.force = np.zeros(2)


start = np.array([0.1, 1.05, 0.02])


def compute_forces(bodies):
    for body in bodies:
        body.force = np.zeros(2)
    for i, a in enumerate(bodies):
        for b in bodies[i + 1 :]:
            r = b.position - a.position
            distance = np.linalg.norm(r)
            f = G * a.mass * b.mass * r / (distance**3 + 1e-6)
            a.force += f
            b.force -= f


def energy(bodies):
    e = sum(0.5 * b.mass * np.dot(b.velocity, b.velocity) for b in bodies)
    for i, a in enumerate(bodies):
        for b in bodies[i + 1 :]:
            e -= G * a.mass * b.mass / np.linalg.norm(a.position - b.position)
    return e


def objective(params):
    vx, vy, moon_mass = params
    bodies = [
        Body(1.0, [0, 0], [0, 0]),
        Body(1e-3, [1, 0], [vx, vy]),
        Body(moon_mass, [0, 1.6], [-0.8, 0]),
    ]
    before = energy(bodies)
    dt = 0.02
    compute_forces(bodies)
    for _ in range(120):
        for b in bodies:
            b.velocity += 0.5 * dt * b.force / b.mass
            b.position += dt * b.velocity
        compute_forces(bodies)
        for b in bodies:
            b.velocity += 0.5 * dt * b.force / b.mass
    target = np.array([-0.8, 0.3])
    drift = energy(bodies) - before
    return np.sum((bodies[1].position - target) ** 2) + drift**2
