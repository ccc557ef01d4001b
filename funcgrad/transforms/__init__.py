"""Transforms: pure functions from Program to Program."""
