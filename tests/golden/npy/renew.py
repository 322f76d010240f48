#!/usr/bin/env python3
"""Writes what NumPy itself writes, which src/io/test/t_npy.c is held to.

    python3 renew.py        needs numpy 1.23 or later

values.npy   a whole file: shape (2, 3, 4), values 0, 1/3, 2/3, ...
headers.txt  a line for each shape: the dimensions, a colon, the header's bytes in hexadecimal
"""
import io
import os

import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
np.save("values.npy", (np.arange(24) / 3).reshape(2, 3, 4))

shapes = [
    (), (0,), (1,), (7,), (3, 64, 3), (0, 3), (1000, 64, 2), (10**12, 64, 3), (2**63 - 1,),
    (2,) * 32, (10**18,) * 32,
]
shapes += [(9,) * 13 + (10**n,) for n in range(8)]  # up to a multiple of 64, on it, past it
shapes += [(10**n, 5) for n in range(0, 19, 3)]
with open("headers.txt", "w") as out:
    for shape in shapes:
        f = io.BytesIO()
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(f, header)
        out.write(" ".join(map(str, shape)) + ":" + f.getvalue().hex() + "\n")
