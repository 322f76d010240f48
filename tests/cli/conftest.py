"""Fixtures that several files use."""
from tiny_model import discover, model  # noqa: F401
