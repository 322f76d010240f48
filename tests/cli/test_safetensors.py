"""Checkpoints read by other programs: fifteen lines of NumPy, and Python's safetensors if it is installed.

The files are in tests/golden/safetensors; that the library writes and reads exactly these bytes is
src/ckpt/test/t_safetensors.c.
"""
import json
from pathlib import Path

import numpy as np
import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "safetensors"
DTYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8"}


def read(path):
    """The tensors and the metadata of a file."""
    raw = path.read_bytes()
    n = int.from_bytes(raw[:8], "little")
    header, data = json.loads(raw[8 : 8 + n]), raw[8 + n :]
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], DTYPES[t["dtype"]]).reshape(t["shape"])
    assert sum(t.nbytes for t in tensors.values()) == len(data)
    assert n % 8 == 0
    return tensors, metadata


def check(tensors):
    assert set(tensors) == {"count", "none", "nil", "thirds", "w"}
    assert tensors["count"].shape == () and tensors["count"] == -7
    assert tensors["none"].shape == (3, 0) and tensors["none"].dtype == np.float32
    assert tensors["nil"].shape == (0,) and tensors["nil"].dtype == np.int64
    assert (tensors["thirds"] == (np.arange(6) / 3).reshape(2, 3)).all()
    bits = [0x3FC00000, 0x80000000, 0x7FC00000, 0xFF800000, 1]
    assert tensors["w"].view(np.uint32).tolist() == bits


@pytest.mark.parametrize("name", ["ours.safetensors", "python.safetensors"])
def test_numpy_reads_it(name):
    check(read(GOLDEN / name)[0])


def test_texts_are_as_they_were():
    metadata = read(GOLDEN / "ours.safetensors")[1]
    assert metadata['a "b"'] == "\\ \n\t\u00e4\u20ac\U0001f600"
    assert metadata["symlaw_format"] == "1" and metadata["format"] == "pt"
    assert len(metadata["data_hash"]) == len(metadata["header_hash"]) == 32


def test_safetensors_reads_it():
    safetensors = pytest.importorskip("safetensors")
    path = GOLDEN / "ours.safetensors"
    with safetensors.safe_open(path, framework="np") as f:
        assert f.metadata() == read(path)[1]
        check({name: f.get_tensor(name) for name in f.keys()})
