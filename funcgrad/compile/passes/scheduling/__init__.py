"""Equations to steps: nests of loops with straight bodies, and what is lowered by functions of its own."""
