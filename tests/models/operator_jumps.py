"""Operators whose result jumps where an operand changes in its last digit, found by trying: each row of operators.py on
numbers around those where functions have their steps and kinks, and on the same numbers moved by a little."""
from types import SimpleNamespace

import torch
from torch import Tensor

import operators

H = operators.H
STEP = 1e-9        # what the numbers are moved by, in float64
SMALL = 1e-4       # more than a continuous function makes of it: with a slope of a square root's, 3e-5
STEEP = 1e3        # beyond that a result is near a pole
PLACES = [k / 4 for k in range(-28, 29)]


def operands(moved, model, start):
    """What a row's body takes, in float64: a place for each row. Whole numbers and truth values do not move."""
    whole = torch.tensor(PLACES, dtype=torch.float64).unsqueeze(1).repeat(1, H)
    h = whole + moved
    rows = h.size(0)
    ring = torch.arange(rows)
    return SimpleNamespace(h=h, p=(h / 7 + moved).abs().clamp(0.05, 0.95), i=(whole * 3).long(), k=whole > 0, n=rows,
                           e=torch.stack([ring, (ring + 1) % rows]), w=torch.ones(rows, dtype=torch.float64), c=ring // 8,
                           m=model, x=start)


def results(body, moved, model, start):
    made = body(operands(moved, model, start))
    return made.double() if isinstance(made, Tensor) and made.is_floating_point() else None


def jumps(body):
    """None if the row makes no floating-point numbers of such operands."""
    torch.manual_seed(0)
    model = operators.Row().double().eval()
    start = torch.randn(len(PLACES), operators.FEATURES, dtype=torch.float64)
    try:
        here, below, above = (results(body, by, model, start) for by in (0, -STEP, STEP))
    except (RuntimeError, TypeError, ValueError, AttributeError, IndexError):
        return None
    if here is None:
        return None
    return any(((here - other).abs() > SMALL)[(here.abs() < STEEP) & (other.abs() < STEEP)].any() for other in (below, above)
               if other.shape == here.shape)
