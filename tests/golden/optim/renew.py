#!/usr/bin/env python3
"""Prints tests/golden/optim/cpr.inc: AdamCPR on six numbers, by decimal arithmetic of 60 digits.

    python3 tests/golden/optim/renew.py > tests/golden/optim/cpr.inc

Six numbers are pulled to a target; learning rate 0.02, betas 0.9 and 0.98, eps 1e-9, R looked at every
5 steps. Rows: step, R after Adam and before the shrink, lambda, the six numbers after the step. The
rate of the multiplier is 0.05: with 1 the loop of R and lambda overshoots on so few numbers, errors
double from step to step, and after 80 steps no two ways to round agree.
"""
from decimal import Decimal as D, getcontext

getcontext().prec = 60
S, STEPS = 5, 120
LR, B1, B2, EPS, MU = D("0.02"), D("0.9"), D("0.98"), D("1e-9"), D("0.05")


def run():
    w = [D(x) for x in "0.5 -0.3 0.2 0.8 -0.6 0.1".split()]
    target = [D(x) for x in "2 -1.5 1 2.5 -2 0.7".split()]
    n = len(w)
    m, v = [D(0)] * n, [D(0)] * n
    kappa, multiplier, looks = None, D(0), []
    for t in range(1, STEPS + 1):
        for i in range(n):
            g = w[i] - target[i]
            m[i] = B1 * m[i] + (1 - B1) * g
            v[i] = B2 * v[i] + (1 - B2) * g * g
            w[i] -= LR * (m[i] / (1 - B1**t)) / ((v[i] / (1 - B2**t)).sqrt() + EPS)
        R = sum(x * x for x in w)
        if kappa is not None:
            multiplier = max(D(0), multiplier + MU / n * (R - kappa))
            w = [x - 2 * multiplier * x for x in w]
        elif t % S == 0 and t > S:
            looks.append(R)
            if len(looks) > 2 and looks[-2] - looks[-3] > looks[-1] - looks[-2]:
                kappa = R
                print(f"#define CPR_SET_AT {t}\n#define CPR_KAPPA {R:.17g}")
        if t <= 2 or t % 5 == 0:
            numbers = ", ".join(f"{x:.17g}" for x in w)
            yield f"{{ {t}, {R:.17g}, {multiplier:.17g},\n  {{ {numbers} }} }},"


print("/* Printed by renew.py. */")
rows = list(run())
print("#define CPR_ROWS \\")
print(" \\\n".join(row.replace("\n", " \\\n") for row in rows))
