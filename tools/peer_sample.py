#!/usr/bin/env python3
"""Samples as one would write them with PyTorch: the model of `symlaw bench sample`, other code.

    tools/peer_sample.py sample SIZE SAMPLES TOKENS [sdpa] [--rounds N] [--threads N]

The encoder reads one data set of 64 points and 3 columns; then SAMPLES texts of exactly TOKENS tokens
are drawn together, token by token, with the end token masked. Keys and values of earlier tokens are
kept, those of the data are made once and shared by all samples. float32 on the CPU, random weights.
Before timing, the first rows of probabilities are held against a pass that keeps nothing. Prints one
JSON object: ms (median of a round, encoder included), best_ms, peak_bytes, parameters.
tools/bench_sample.py runs it beside ours.

    pip install torch"""
import time

try:
    import torch
except ImportError as e:
    raise SystemExit(f"peer_sample: {e}; pip install torch") from None

from torch.nn import functional as F

from peer_train import COLUMNS, POINTS, SIZES, Model, main

START, END = 1, 2
WARM_UP = 2  # rounds that are not counted


class Sampler:
    """The state of a decoder that writes n texts about one memory (1, points, width)."""

    def __init__(self, model, memory, n, tokens):
        self.model, self.n, self.step = model, n, 0
        self.layers = []
        for layer in model.decoder:
            k, v = layer.cross.split(layer.cross.kv(layer.norm_memory(memory)), 2)
            heads, head = k.shape[1], k.shape[3]
            self.layers.append((layer, k, v, torch.empty(2, n, heads, tokens, head)))

    def attend(self, q, k, v):
        if self.model.decoder[0].own.sdpa:
            return F.scaled_dot_product_attention(q, k, v)
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
        return scores.softmax(-1) @ v

    def own(self, layer, x, kept):
        """Each text looks at its own tokens."""
        q, k, v = layer.own.split(layer.own.qkv(x)[:, None], 3)  # (n, heads, 1, head)
        kept[0][:, :, self.step], kept[1][:, :, self.step] = k[:, :, 0], v[:, :, 0]
        y = self.attend(q, kept[0][:, :, :self.step + 1], kept[1][:, :, :self.step + 1])
        return layer.own.out(y.flatten(1))

    def cross(self, layer, x, k, v):
        """All texts look at one memory, as if they were positions of one text."""
        (q,) = layer.cross.split(layer.cross.q(x)[None], 1)  # (1, heads, n, head)
        return layer.cross.out(self.attend(q, k, v).transpose(1, 2).flatten(2)[0])

    def logits(self, ids):
        """Of the next token of each text, (n, vocabulary), after one more token."""
        x = self.model.table(ids) + self.model.position(self.model.code[self.step])
        for layer, k, v, kept in self.layers:
            x = x + self.own(layer, layer.norm1(x), kept)
            x = x + self.cross(layer, layer.norm2(x), k, v)
            x = x + layer.mlp(layer.norm3(x))
        self.step += 1
        return F.linear(self.model.norm(x), self.model.table.weight)


def sample(model, cells, n, tokens):
    """(n, tokens) ids, and the logits they were drawn by."""
    sampler = Sampler(model, model.encode(cells[0], cells[1]), n, tokens)
    ids = torch.full((n,), START)
    texts, seen = [], []
    for _ in range(tokens):
        logits = sampler.logits(ids)
        seen.append(logits)
        masked = logits.clone()
        masked[:, END] = -torch.inf
        ids = torch.multinomial(masked.softmax(-1), 1)[:, 0]
        texts.append(ids)
    return torch.stack(texts, 1), torch.stack(seen, 1)


def check(model, cells, tokens):
    """What is kept must change nothing."""
    n = 4
    texts, logits = sample(model, cells, n, tokens)
    before = torch.cat([torch.full((n, 1), START), texts[:, :-1]], 1)
    plain = model(cells[0].expand(n, -1, -1), cells[1].expand(n, -1, -1), before)
    gap = (plain - logits).abs().max().item()
    if not gap < 1e-3 or (texts == END).any():
        raise SystemExit(f"peer_sample: logits differ by {gap}")


def measure(size, samples, tokens, sdpa, rounds):
    """Seconds of each round, and the number of parameters."""
    torch.manual_seed(0)
    model = Model(*SIZES[size], sdpa).eval()
    cells = torch.randn(2, 1, POINTS, COLUMNS)
    seconds = []
    with torch.inference_mode():
        check(model, cells, min(tokens, 8))
        for _ in range(WARM_UP + rounds):
            start = time.perf_counter()
            sample(model, cells, samples, tokens)
            seconds.append(time.perf_counter() - start)
    return seconds[WARM_UP:], sum(p.numel() for p in model.parameters())


if __name__ == "__main__":
    main(__doc__, "sample", "samples", "rounds", measure)
