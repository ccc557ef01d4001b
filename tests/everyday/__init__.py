"""Everyday programs, written as somebody would who has not read our documentation, and a runner of them."""
