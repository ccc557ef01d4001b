"""Structured control flow: conditionals and loops as equations that hold Programs."""
