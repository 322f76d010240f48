#!/usr/bin/env python3
"""Training pairs as batches of PyTorch: python3 examples/torch_pairs.py

Needs the Python package and PyTorch. Pairs are computed when they are asked for, so there is no
file to read, and worker processes of the loader need nothing but the numbers of their pairs."""
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

import symlaw


def collate(pairs):
    """(batch, points, columns + 1) with y last, and token ids filled up with 0."""
    data = torch.stack([torch.cat([torch.tensor(p.x), torch.tensor(p.y)[:, None]], dim=1) for p in pairs])
    return data, pad_sequence([torch.tensor(p.tokens) for p in pairs], batch_first=True)


def main():
    pairs = symlaw.pairs("train", depth=2, points=16)
    loader = DataLoader(pairs, batch_size=32, shuffle=True, collate_fn=collate,
                        generator=torch.Generator().manual_seed(0))
    data, tokens = next(iter(loader))
    print("pairs", len(pairs), "data", tuple(data.shape), "tokens", tuple(tokens.shape))


if __name__ == "__main__":
    main()
