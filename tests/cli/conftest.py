"""Fixtures that several files use, and an environment that chooses no kernels of the libraries."""
import os

from tiny_model import discover, model  # noqa: F401

for name in ("OPENBLAS_CORETYPE", "DNNL_MAX_CPU_ISA"):  # a machine may have them for all its programs
    os.environ.pop(name, None)
