"""Shapes, parts and orders of arrays: what moves elements and does not compute."""
