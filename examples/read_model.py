#!/usr/bin/env python3
"""Reads a model of "symlaw train" and runs it with PyTorch: the loss of pairs.

    symlaw pairs --split valid --depth 2 --points 16 > valid.jsonl    # the run's data options
    python3 read_model.py runs/small/model-00018558.safetensors valid.jsonl

Prints -log p of each pair's expression in nats, given its data, then the means over tokens and
over expressions: of the validation split, the validation loss that "symlaw train" reports. Needs
PyTorch, 1.13 or later, and nothing else. docs/formats.md, "The model", says the same in words.
Pairs run one by one and in double precision: the shortest way, not the fastest."""
import json
import math
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
START = 1  # id of the token before the first


def read(path):
    """Tensors by name, and the configuration of the run."""
    raw = bytearray(open(path, "rb").read())
    begin = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:begin])
    config = json.loads(header.pop("__metadata__")["config"])
    return {name: torch.frombuffer(raw, dtype=torch.float32, count=math.prod(t["shape"]),
                                   offset=begin + t["data_offsets"][0]).reshape(t["shape"]).double()
            for name, t in header.items()}, config


def cells(values):
    """(2, values): mantissas and exponents/10, in single precision as in training."""
    split = [[float(part) for part in f"{v:.16e}".split("e")] for v in values]
    mantissa, exponent = torch.tensor(split).T.float()
    carry = mantissa.abs() == 10  # rounded up: it is 1 with the next exponent
    mantissa, exponent = torch.where(carry, mantissa / 10, mantissa), exponent + carry
    return torch.stack([mantissa, exponent / 10]).double()


class Model:
    def __init__(self, path):
        self.w, config = read(path)
        self.width, self.eps = config["width"], config["norm-eps"]
        self.heads = config["heads"] or self.width // (8 if self.width < 64 else 64)
        self.layers = config["layers"]
        self.decoder_layers = config["decoder-layers"] or self.layers

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def norm(self, name, x):
        weight, bias = self.w[name + ".weight"], self.w[name + ".bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.eps)

    def code(self, n):
        rate = 10000.0 ** (-torch.arange(0.0, self.width, 2) / self.width)
        angle = torch.arange(float(n))[:, None] * rate
        return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)  # sine, cosine, sine, ...

    def attend(self, name, q, k, v, mask=0):
        q, k, v = (x.unflatten(-1, (self.heads, -1)).transpose(-2, -3) for x in (q, k, v))
        p = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + mask).softmax(-1)
        return self.linear(name + ".out", (p @ v).transpose(-2, -3).flatten(-2))

    def attend_self(self, name, x, mask=0):
        return self.attend(name, *self.linear(name + ".qkv", x).chunk(3, -1), mask)

    def mlp(self, name, x):
        return self.linear(name + ".out", F.silu(self.linear(name + ".in", x)))

    def encode(self, columns):
        """Lists of numbers, y first, to the memory (points, width)."""
        mantissa, exponent = torch.stack([cells(c) for c in columns], 1)[..., None]
        x = self.linear("cells.mantissa", mantissa) + self.linear("cells.exponent", exponent)
        x = x + self.linear("cells.column", self.code(len(columns)))[:, None]
        for i in range(self.layers):
            at = f"encoder.{i}."
            point = self.norm(at + "norm1", x).transpose(0, 1)  # x has columns, then points
            x = x + self.attend_self(at + "columns", point).transpose(0, 1)
            x = x + self.attend_self(at + "points", self.norm(at + "norm2", x))
            x = x + self.mlp(at + "mlp", self.norm(at + "norm3", x))
        return x[0]

    def decode(self, memory, ids):
        """Ids, the start token first, to log p (ids, vocabulary) of the token behind each."""
        x = self.w["tokens.weight"][ids] + self.linear("tokens.position", self.code(len(ids)))
        future = torch.full((len(ids), len(ids)), -math.inf).triu(1)
        for i in range(self.decoder_layers):
            at = f"decoder.{i}."
            x = x + self.attend_self(at + "self", self.norm(at + "norm1", x), future)
            q = self.linear(at + "cross.q", self.norm(at + "norm2", x))
            kv = self.linear(at + "cross.kv", self.norm(at + "norm_memory", memory))
            x = x + self.attend(at + "cross", q, *kv.chunk(2, -1))
            x = x + self.mlp(at + "mlp", self.norm(at + "norm3", x))
        return F.linear(self.norm("norm", x), self.w["tokens.weight"]).log_softmax(-1)

    def loss(self, pair):
        """-log p of a pair's tokens, in nats."""
        log_p = self.decode(self.encode([pair["y"], *pair["x"]]), [START, *pair["tokens"][:-1]])
        return -log_p[range(len(log_p)), pair["tokens"]].sum().item()


def main(model, pairs):
    model, total, tokens, n = Model(model), 0, 0, 0
    for pair in map(json.loads, open(pairs)):
        loss = model.loss(pair)
        print(pair["id"], f"{loss:.7f}", pair["latex"], sep="\t")
        total, tokens, n = total + loss, tokens + len(pair["tokens"]), n + 1
    print("mean", f"{total / tokens:.7f} per token", f"{total / n:.7f} per expression", sep="\t")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: read_model.py MODEL.safetensors PAIRS.jsonl")
    main(*sys.argv[1:])
