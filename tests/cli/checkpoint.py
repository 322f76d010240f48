"""Reads and writes checkpoint files by the description in docs/formats.md alone."""
import ctypes
import json
import struct
from pathlib import Path


class U128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_128bits.restype = U128
xxhash.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def xxh3(data):
    h = xxhash.XXH3_128bits(bytes(data), len(data))
    return f"{h.high:016x}{h.low:016x}"


def read(path):
    """Metadata, {name: its entry of the header}, data."""
    raw = Path(path).read_bytes()
    n = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + n])
    return header.pop("__metadata__"), header, bytearray(raw[8 + n:])


def write(path, metadata, header, data):
    """With the hashes that belong to it."""
    texts = {k: v for k, v in metadata.items() if k != "header_hash"} | {"data_hash": xxh3(data)}
    said = b"".join(x.encode() + b"\0" for k in sorted(texts, key=str.encode) for x in (k, texts[k]))
    said += struct.pack("<q", len(header))
    for name in sorted(header, key=str.encode):
        t = header[name]
        said += name.encode() + b"\0" + t["dtype"].encode() + b"\0"
        said += struct.pack(f"<{len(t['shape']) + 2}q", len(t["shape"]), *t["shape"], t["data_offsets"][0])
    texts["header_hash"] = xxh3(said)
    head = json.dumps({"__metadata__": texts} | header, ensure_ascii=False, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(head)) + head + data)
    return texts["data_hash"]


def change(folder, step, config=None, metadata=None):
    """Both files of a checkpoint with other texts: functions that change a dict in place."""
    for kind in ("model", "state"):
        path = Path(folder) / f"{kind}-{step:08d}.safetensors"
        texts, header, data = read(path)
        if config:
            stored = json.loads(texts["config"])
            config(stored)
            texts["config"] = json.dumps(stored)
        if metadata:
            metadata(texts)
        write(path, texts, header, data)


def put(folder, step, kind, tensor, number, at=0):
    """Another number in a tensor of floats, and hashes that fit: a file that says it is whole."""
    folder = Path(folder)
    path = folder / f"{kind}-{step:08d}.safetensors"
    texts, header, data = read(path)
    begin = header[tensor]["data_offsets"][0]
    code, size = ("<d", 8) if header[tensor]["dtype"] == "F64" else ("<f", 4)
    struct.pack_into(code, data, begin + size * at, number)
    hashed = write(path, texts, header, data)
    if kind == "model":  # its state names it
        path = folder / f"state-{step:08d}.safetensors"
        texts, header, data = read(path)
        write(path, texts | {"model_hash": hashed}, header, data)
