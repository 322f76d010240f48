#!/usr/bin/env python3
"""Writes the files that src/ckpt/test/t_safetensors.c is held to.

    python3 renew.py        needs numpy and safetensors, and the system's libxxhash

python.safetensors   by Python's safetensors: a file of somebody else's
ours.safetensors     by what docs/formats.md says of our files, without any of our code
"""
import json
import os
import struct
import sys

import numpy as np
from safetensors.numpy import save_file

os.chdir(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.abspath("../../cli"))
from checkpoint import xxh3  # noqa: E402

tensors = {
    "count": np.array(-7, dtype="<i8"),
    "none": np.zeros((3, 0), dtype="<f4"),
    "thirds": (np.arange(6) / 3).reshape(2, 3),
    "nil": np.zeros(0, dtype="<i8"),
    "w": np.array([1.5, -0.0, np.nan, -np.inf, 1e-45], dtype="<f4"),
}
texts = {"a \"b\"": "\\ \n\t\u00e4\u20ac\U0001f600", "format": "pt", "z": ""}
save_file(tensors, "python.safetensors", metadata={"by": "somebody else"})

data, header = b"", {}
for name, a in tensors.items():
    dtype = {"<f4": "F32", "<f8": "F64", "<i8": "I64"}[a.dtype.str]
    begin, data = len(data), data + a.tobytes()
    header[name] = {"dtype": dtype, "shape": list(a.shape), "data_offsets": [begin, len(data)]}

texts |= {"data_hash": xxh3(data), "symlaw_format": "1"}
texts = dict(sorted(texts.items()))
said = b"".join(x.encode() + b"\0" for pair in texts.items() for x in pair)
said += struct.pack("<q", len(tensors))
for name, t in sorted(header.items()):
    said += name.encode() + b"\0" + t["dtype"].encode() + b"\0"
    said += struct.pack(f"<{len(t['shape']) + 2}q", len(t["shape"]), *t["shape"], t["data_offsets"][0])
texts["header_hash"] = xxh3(said)

head = json.dumps({"__metadata__": texts} | header, ensure_ascii=False, separators=(",", ":")).encode()
head += b" " * (-len(head) % 8)
with open("ours.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(head)) + head + data)
