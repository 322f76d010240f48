#!/usr/bin/env python3
"""A step of training as one would write it with PyTorch: the model of `symlaw train`, other code.

    tools/peer_train.py train SIZE BATCH TOKENS [sdpa] [--steps N] [--threads N]

Forward, backward, clipping and Adam on a made-up batch of data sets with 64 points and 3 columns,
in float32 on the CPU, with dropout 0.1 on residuals and attention. Attention is a product, a
softmax and a product, or with `sdpa` PyTorch's own scaled_dot_product_attention. Prints one JSON
object: ms (median of a step), best_ms, peak_bytes (of the whole process), parameters.
tools/bench_train.py runs it beside ours.

    pip install torch"""
import argparse
import json
import math
import resource
import statistics
import time

try:
    import torch
except ImportError as e:
    raise SystemExit(f"peer_train: {e}; pip install torch") from None

from torch import nn
from torch.nn import functional as F

SIZES = {"6.5M": (256, 3), "13.5M": (320, 4), "24M": (384, 5), "45.5M": (448, 7),
         "93M": (512, 11), "mini": (128, 2), "micro": (64, 2)}
POINTS, COLUMNS, VOCABULARY, POSITIONS, DROPOUT = 64, 3, 104, 256, 0.1
WARM_UP = 2  # steps that are not counted


def code(n, width):
    """(n, width): sine and cosine of falling frequencies."""
    angle = torch.arange(n)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


class Attention(nn.Module):
    """Queries of x look at memory, or at x itself; (sequences, length, width)."""

    def __init__(self, width, heads, sdpa, cross=False):
        super().__init__()
        self.heads, self.sdpa, self.cross = heads, sdpa, cross
        self.q = nn.Linear(width, width) if cross else None
        self.kv = nn.Linear(width, 2 * width) if cross else None
        self.qkv = None if cross else nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def split(self, x, parts):
        """(parts) tensors of (sequences, heads, length, width of a head)"""
        n, length, _ = x.shape
        return x.view(n, length, parts, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)

    def forward(self, x, memory=None, mask=None):
        if self.cross:
            (q,), (k, v) = self.split(self.q(x), 1), self.split(self.kv(memory), 2)
        else:
            q, k, v = self.split(self.qkv(x), 3)
        p = DROPOUT if self.training else 0.0
        if self.sdpa:
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=mask is not None)
        else:
            scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2)
            if mask is not None:
                scores = scores + mask
            y = F.dropout(scores.softmax(-1), p) @ v
        return self.out(y.transpose(1, 2).flatten(2))


class Mlp(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))


class EncoderLayer(nn.Module):
    def __init__(self, width, heads, sdpa):
        super().__init__()
        self.columns = Attention(width, heads, sdpa)
        self.points = Attention(width, heads, sdpa)
        self.mlp = Mlp(width)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x):
        """x (pairs, points, columns, width)"""
        pairs, points, columns, width = x.shape
        y = self.columns(self.norm1(x).view(pairs * points, columns, width))
        x = x + self.dropout(y).view(x.shape)
        y = self.norm2(x).transpose(1, 2).reshape(pairs * columns, points, width)
        y = self.dropout(self.points(y)).view(pairs, columns, points, width)
        x = x + y.transpose(1, 2)
        return x + self.dropout(self.mlp(self.norm3(x)))


class DecoderLayer(nn.Module):
    def __init__(self, width, heads, sdpa):
        super().__init__()
        self.own = Attention(width, heads, sdpa)
        self.cross = Attention(width, heads, sdpa, cross=True)
        self.mlp = Mlp(width)
        self.norm1, self.norm2, self.norm_memory, self.norm3 = (nn.LayerNorm(width)
                                                                for _ in range(4))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x, memory, mask):
        x = x + self.dropout(self.own(self.norm1(x), mask=mask))
        x = x + self.dropout(self.cross(self.norm2(x), self.norm_memory(memory)))
        return x + self.dropout(self.mlp(self.norm3(x)))


class Model(nn.Module):
    def __init__(self, width, layers, sdpa):
        super().__init__()
        heads = max(1, width // 64)
        self.mantissa, self.exponent = nn.Linear(1, width), nn.Linear(1, width)
        self.column = nn.Linear(width, width, bias=False)
        self.position = nn.Linear(width, width, bias=False)
        self.table = nn.Embedding(VOCABULARY, width)
        self.encoder = nn.ModuleList(EncoderLayer(width, heads, sdpa) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderLayer(width, heads, sdpa) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.register_buffer("code", code(POSITIONS, width))
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def encode(self, mantissa, exponent):
        """Cells (pairs, points, columns) to (pairs, points, width)."""
        x = self.mantissa(mantissa[..., None]) + self.exponent(exponent[..., None])
        x = x + self.column(self.code[:COLUMNS])
        for layer in self.encoder:
            x = layer(x)
        return x[:, :, 0]

    def forward(self, mantissa, exponent, ids):
        """Cells (pairs, points, columns), ids (pairs, tokens) to (pairs, tokens, vocabulary)."""
        tokens = ids.shape[1]
        memory = self.encode(mantissa, exponent)
        mask = torch.full((tokens, tokens), -math.inf).triu(1)
        x = self.table(ids) + self.position(self.code[:tokens])
        for layer in self.decoder:
            x = layer(x, memory, mask)
        return F.linear(self.norm(x), self.table.weight)


def measure(size, batch, tokens, sdpa, steps):
    """Seconds of each step, and the number of parameters."""
    torch.manual_seed(0)
    model = Model(*SIZES[size], sdpa)
    optimizer = torch.optim.Adam(model.parameters(), 4.6e-4, (0.9, 0.98), 1e-9, fused=True)
    cells = torch.randn(2, batch, POINTS, COLUMNS)
    text = torch.randint(0, VOCABULARY, (batch, tokens + 1))
    seconds = []
    for _ in range(WARM_UP + steps):
        start = time.perf_counter()
        logits = model(cells[0], cells[1], text[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    return seconds[WARM_UP:], sum(p.numel() for p in model.parameters())


def main(doc, what, count, rounds, measure):
    """The program: `count` and `rounds` are what it calls how many at a time and how often."""
    parser = argparse.ArgumentParser(description=doc.split("\n\n")[0])
    parser.add_argument("what", choices=[what])
    parser.add_argument("size", choices=SIZES)
    parser.add_argument(count, type=int)
    parser.add_argument("tokens", type=int)
    parser.add_argument("way", nargs="?", choices=["plain", "sdpa"], default="plain")
    parser.add_argument(f"--{rounds}", type=int, default=10, metavar="N", help="timed (default 10)")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="default 2")
    o = vars(parser.parse_args())
    torch.set_num_threads(o["threads"])
    seconds, parameters = measure(o["size"], o[count], o["tokens"], o["way"] == "sdpa", o[rounds])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"ms": 1e3 * statistics.median(seconds), "best_ms": 1e3 * min(seconds),
                      "peak_bytes": peak, "parameters": parameters, "way": o["way"],
                      "version": torch.__version__}))


if __name__ == "__main__":
    main(__doc__, "train", "batch", "steps", measure)
