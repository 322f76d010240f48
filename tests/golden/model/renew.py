#!/usr/bin/env python3
"""Writes PyTorch's answers for a small model in float64, which src/model and src/train are held to.

    python3 renew.py        needs torch 2.0 or later, on the CPU

weights.bin   the model's numbers: 16-bit integers (low byte first), to be divided by 4096, tensor
              after tensor without gaps, in the order of `case parameters`. So both sides begin with
              the same bits, in float as in double.
answers.txt   `case <kind>`, then lines of `<key> <count> <values>`:

    model         sizes: width, layers, decoder layers, heads, columns, vocabulary; the batch as
                  sl_batch has it; loss: the sum of -log p over all targets; logits of all tokens
    parameters    by name: rows, columns (0: a vector), whether AdamCPR regularises it
    gradients     of the loss, by name: a summary
    steps         what AdamCPR was told; the mean loss before each step, the norm of its gradient,
                  and the least margin, relative to R, by which a look decided about a bound
    weights       after the last step, by name: a summary
    constraints   after the last step, by name: lambda, kappa, step at which that was set; -1: never

A summary is the norm of a tensor x of n numbers, then its inner products with the vectors
r_k[i] = cos(0.1 i k + k), k = 1 .. 8, and its first four numbers. Biases of keys are taken for 0:
attention does not depend on them, so their gradient is rounding and Adam's step its sign.

The model is written with torch.nn.functional, on a dictionary of tensors; points, columns and pairs
are axes of one array, and targets are padded. AdamCPR is written from its definition. Neither looks
like the C code.
"""
import math
import os
import struct

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.manual_seed(20240917)
os.chdir(os.path.dirname(os.path.abspath(__file__)))

WIDTH, LAYERS, DECODER_LAYERS, HEADS, COLUMNS, VOCABULARY = 16, 2, 2, 2, 3, 104
PAIRS, POINTS, LENGTHS, NORM_EPS = 3, 5, (4, 7, 5), 1e-5
BEGIN, END = 1, 2  # ids; any would do
# At a rate of 0.01 the bounds overshoot and errors grow tenfold a step: float could not follow.
STEPS, LR, BETAS, EPS, CLIP, MU, EVERY = 20, 0.004, (0.9, 0.98), 1e-9, 1.0, 1.0, 2
out = []


# ---------------------------------------------------------------- parameters

def shapes():
    """Name to shape, in the order of the model's table."""
    d, s = WIDTH, {}

    def linear(name, outputs, inputs, bias=True):
        s[name + ".weight"] = (outputs, inputs)
        if bias:
            s[name + ".bias"] = (outputs,)

    def norm(name):
        s[name + ".weight"] = s[name + ".bias"] = (d,)

    def mlp(name):
        linear(name + ".in", 4 * d, d)
        linear(name + ".out", d, 4 * d)

    linear("cells.mantissa", d, 1)
    linear("cells.exponent", d, 1)
    linear("cells.column", d, d, bias=False)
    for layer in range(LAYERS):
        at = f"encoder.{layer}."
        norm(at + "norm1")
        linear(at + "columns.qkv", 3 * d, d)
        linear(at + "columns.out", d, d)
        norm(at + "norm2")
        linear(at + "points.qkv", 3 * d, d)
        linear(at + "points.out", d, d)
        norm(at + "norm3")
        mlp(at + "mlp")
    s["tokens.weight"] = (VOCABULARY, d)
    linear("tokens.position", d, d, bias=False)
    for layer in range(DECODER_LAYERS):
        at = f"decoder.{layer}."
        norm(at + "norm1")
        linear(at + "self.qkv", 3 * d, d)
        linear(at + "self.out", d, d)
        norm(at + "norm2")
        norm(at + "norm_memory")
        linear(at + "cross.q", d, d)
        linear(at + "cross.kv", 2 * d, d)
        linear(at + "cross.out", d, d)
        norm(at + "norm3")
        mlp(at + "mlp")
    norm("norm")
    return s


def regularised(name, shape):
    return len(shape) == 2 and name != "tokens.weight"


def draw_weights():
    """Multiples of 1/4096 up to 0.3 either way; gains of norms are 1 more."""
    weights, integers = {}, []
    for name, shape in shapes().items():
        n = torch.randint(-1228, 1229, shape)
        if ".norm" in "." + name and name.endswith(".weight"):
            n = n + 4096
        integers.append(n.flatten())
        weights[name] = (n / 4096).requires_grad_()
    with open("weights.bin", "wb") as f:
        numbers = torch.cat(integers).tolist()
        f.write(struct.pack(f"<{len(numbers)}h", *numbers))
    return weights


def draw_batch():
    """Arrays with axes column, pair, point; the second pair lacks the last column, where cells hold
    numbers that nobody may read."""
    present = torch.ones(COLUMNS, PAIRS, dtype=torch.bool)
    present[2, 1] = False
    mantissa = torch.randint(1024, 10240, (COLUMNS, PAIRS, POINTS)) / 1024
    mantissa *= torch.randint(0, 2, mantissa.shape) * 2 - 1
    exponent = torch.randint(-24, 25, mantissa.shape) / 16
    targets = [torch.cat([torch.randint(3, VOCABULARY, (n - 1,)), torch.tensor([END])])
               for n in LENGTHS]
    ids = [torch.cat([torch.tensor([BEGIN]), t[:-1]]) for t in targets]
    return mantissa, exponent, present, ids, targets


# ---------------------------------------------------------------- model

def code(n):
    place = torch.arange(n)[:, None]
    rate = 10000.0 ** (-torch.arange(0, WIDTH, 2) / WIDTH)
    c = torch.empty(n, WIDTH)
    c[:, 0::2], c[:, 1::2] = torch.sin(place * rate), torch.cos(place * rate)
    return c


class Model:
    def __init__(self, weights):
        self.w = weights

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def norm(self, name, x):
        return F.layer_norm(x, (WIDTH,), self.w[name + ".weight"], self.w[name + ".bias"],
                            NORM_EPS)

    def mlp(self, name, x):
        return self.linear(name + ".out", F.silu(self.linear(name + ".in", x)))

    def attend(self, q, k, v, mask=None):
        """(..., T, width) each; mask (..., queries, keys) is true where a key may be looked at."""
        def heads(x):
            return x.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(-2, -3)
        scores = heads(q) @ heads(k).mT / math.sqrt(WIDTH // HEADS)
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(-3), -math.inf)
        return (scores.softmax(-1) @ heads(v)).transpose(-2, -3).flatten(-2)

    def self_attend(self, name, x, mask=None):
        return self.linear(name + ".out",
                           self.attend(*self.linear(name + ".qkv", x).chunk(3, -1), mask))

    def encode(self, mantissa, exponent, present):
        """memory (pairs, points, width)"""
        x = self.linear("cells.mantissa", mantissa[..., None])
        x = x + self.linear("cells.exponent", exponent[..., None])
        x = x + self.linear("cells.column", code(COLUMNS))[:, None, None]
        seen = present.T[:, None, None, :]  # by pair: which columns
        for layer in range(LAYERS):
            at = f"encoder.{layer}."
            across = self.norm(at + "norm1", x).movedim(0, 2)  # pair, point, column
            x = x + self.self_attend(at + "columns", across, seen).movedim(2, 0)
            x = x + self.self_attend(at + "points", self.norm(at + "norm2", x))
            x = x + self.mlp(at + "mlp", self.norm(at + "norm3", x))
        return x[0]

    def decode(self, ids, memory):
        """ids (pairs, T), padded behind; logits (pairs, T, vocabulary)"""
        T = ids.shape[1]
        x = F.embedding(ids, self.w["tokens.weight"])
        x = x + self.linear("tokens.position", code(T))
        past = torch.ones(T, T, dtype=torch.bool).tril()
        for layer in range(DECODER_LAYERS):
            at = f"decoder.{layer}."
            x = x + self.self_attend(at + "self", self.norm(at + "norm1", x), past)
            q = self.linear(at + "cross.q", self.norm(at + "norm2", x))
            k, v = self.linear(at + "cross.kv", self.norm(at + "norm_memory", memory)).chunk(2, -1)
            x = x + self.linear(at + "cross.out", self.attend(q, k, v))
            x = x + self.mlp(at + "mlp", self.norm(at + "norm3", x))
        return F.linear(self.norm("norm", x), self.w["tokens.weight"])

    def run(self, mantissa, exponent, present, ids, targets):
        """Loss, and the logits of the tokens that there are."""
        pad = torch.nn.utils.rnn.pad_sequence
        padded = self.decode(pad(ids, True), self.encode(mantissa, exponent, present))
        logits = torch.cat([padded[b, : len(t)] for b, t in enumerate(targets)])
        return F.cross_entropy(logits, torch.cat(targets), reduction="sum"), logits


# ---------------------------------------------------------------- AdamCPR

class AdamCPR:
    """By tensor: t counts steps from 1; kappa is None until the bound is set."""

    def __init__(self, weights):
        self.w, self.t, self.margin = weights, 0, math.inf
        self.m = {k: torch.zeros_like(w) for k, w in weights.items()}
        self.v = {k: torch.zeros_like(w) for k, w in weights.items()}
        names = [k for k, w in weights.items() if regularised(k, w.shape)]
        self.multiplier = dict.fromkeys(names, 0.0)
        self.kappa = dict.fromkeys(names)
        self.set_at = dict.fromkeys(names, -1)
        self.looks = {k: [] for k in names}  # R at steps that are multiples of EVERY

    @torch.no_grad()
    def step(self, gradients):
        """Answers the norm of the gradient before it is clipped."""
        norm = math.sqrt(sum(float((g * g).sum()) for g in gradients.values()))
        clip = min(1.0, CLIP / (norm + 1e-6))
        self.t += 1
        for name, w in self.w.items():
            g = gradients[name] * clip
            self.m[name] = BETAS[0] * self.m[name] + (1 - BETAS[0]) * g
            self.v[name] = BETAS[1] * self.v[name] + (1 - BETAS[1]) * g * g
            m_hat = self.m[name] / (1 - BETAS[0] ** self.t)
            v_hat = self.v[name] / (1 - BETAS[1] ** self.t)
            w -= LR * m_hat / (v_hat.sqrt() + EPS)
            if name in self.kappa:
                self.constrain(name, w)
        return norm

    def constrain(self, name, w):
        r = float((w * w).sum())
        if self.kappa[name] is not None:
            excess = MU / w.numel() * (r - self.kappa[name])
            self.multiplier[name] = max(0.0, self.multiplier[name] + excess)
            assert 2 * self.multiplier[name] < 0.5
            w *= 1 - 2 * self.multiplier[name]
        if self.t % EVERY or self.kappa[name] is not None:
            return
        looks = self.looks[name]
        looks.append(r)
        if self.t < 4 * EVERY:
            return
        before, now = looks[-2] - looks[-3], looks[-1] - looks[-2]
        self.margin = min(self.margin, abs(before - now) / r)
        if now < before:
            self.kappa[name], self.set_at[name] = r, self.t


# ---------------------------------------------------------------- answers

def case(kind):
    out.extend(["", f"case {kind}"])


def line(key, values):
    values = torch.as_tensor(values, dtype=torch.float64).flatten().tolist()
    out.append(f"{key} {len(values)} " + " ".join(f"{v:.17g}" for v in values))


def summary(name, x):
    x = x.detach().clone()
    if name.endswith("qkv.bias"):
        x[WIDTH : 2 * WIDTH] = 0
    if name.endswith("kv.bias") and not name.endswith("qkv.bias"):
        x[:WIDTH] = 0
    x = x.flatten()
    i = torch.arange(x.numel())
    line(name, [float(x.norm())] + [float(torch.cos(0.1 * i * k + k) @ x) for k in range(1, 9)]
         + x[:4].tolist())


def main():
    weights, batch = draw_weights(), draw_batch()
    model = Model(weights)
    tokens = sum(LENGTHS)

    def pass_():
        for w in weights.values():
            w.grad = None
        loss, logits = model.run(*batch)
        loss.backward()
        return loss, logits, {name: w.grad for name, w in weights.items()}

    out.append(f"# Made by renew.py with PyTorch {torch.__version__.split('+')[0]}.")
    loss, logits, gradients = pass_()
    case("model")
    line("sizes", [WIDTH, LAYERS, DECODER_LAYERS, HEADS, COLUMNS, VOCABULARY])
    line("norm_eps", [NORM_EPS])
    line("points", [POINTS])
    for key, value in zip(("mantissa", "exponent", "present"), batch):
        line(key, value)
    line("ids", torch.cat(batch[3]))
    line("targets", torch.cat(batch[4]))
    line("begin", torch.tensor([0, *LENGTHS]).cumsum(0))
    line("loss", [float(loss.detach())])
    line("logits", logits.detach())
    case("parameters")
    for name, w in weights.items():
        rows, columns = (*w.shape, 0)[:2]
        line(name, [rows, columns, regularised(name, w.shape)])
    case("gradients")
    for name, g in gradients.items():
        summary(name, g)

    optimizer, losses, norms = AdamCPR(weights), [], []
    for _ in range(STEPS):
        loss, _, gradients = pass_()
        losses.append(float(loss.detach()) / tokens)
        norms.append(optimizer.step({name: g / tokens for name, g in gradients.items()}))
    case("steps")
    line("lr", [LR])
    line("beta", BETAS)
    line("eps", [EPS])
    line("clip", [CLIP])
    line("mu", [MU])
    line("every", [EVERY])
    line("loss", losses)
    line("grad_norm", norms)
    line("margin", [optimizer.margin])
    case("weights")
    for name, w in weights.items():
        summary(name, w)
    case("constraints")
    for name, kappa in optimizer.kappa.items():
        line(name, [optimizer.multiplier[name], kappa or 0, optimizer.set_at[name]])
    with open("answers.txt", "w") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
