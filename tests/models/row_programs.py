"""Seeded random programs over the rows of operators.py: every operator of the table, messages, writes through views.

Each program holds a few operators that its number assigns to it, so that COUNT programs in a row hold the whole table,
and some drawn at random. Every eighth is scripted, with the operators that only scripting leaves as they are.
"""
import random
from types import SimpleNamespace

import torch

import operators
from layers import Parts, add_rows
from program_steps import WRITES
from registry import Group

COUNT = 64                  # programs that hold the whole table
EACH = {"trace": 7, "script": 6}
OPTIONS = {e.covers: e for e in operators.group.entries}


def assigned(table, number, each, programs):
    """The operators of the table that are assigned to the program of this number, of as many as hold all of it."""
    names = list(table)
    if each * programs < len(names):
        raise ValueError(f"{programs} programs of {each} operators do not hold a table of {len(names)}")
    return [names[(number * each + i) % len(names)] for i in range(each)]


def drawn(table, seed, number, each, programs):
    """Steps: operators in random order, between messages and writes."""
    draw = random.Random(seed)
    steps = assigned(table, number, each, programs) + draw.choices(list(table), k=draw.randint(0, 6))
    for _ in range(draw.randint(1, 4)):
        steps.insert(draw.randint(0, len(steps)), draw.choice(["message", "message", "write", "edge"]))
    draw.shuffle(steps)
    return steps, draw


def traced_steps(seed):
    number = seed // 8 * 7 + seed % 8
    return drawn(operators.bodies, seed, number, EACH["trace"], COUNT // 8 * 7)


def scripted_steps(seed):
    return drawn(operators.expressions, seed, seed // 8, EACH["script"], COUNT // 8)


def is_scripted(seed):
    return seed % 8 == 7


def steps_of(seed):
    return (scripted_steps if is_scripted(seed) else traced_steps)(seed)[0]


class Traced(Parts):
    def __init__(self, seed):
        super().__init__()
        self.seed = seed

    def view(self, draw, pool, inputs):
        h, p = draw.choice(pool[-3:]), draw.choice(pool[-4:]).sigmoid() * 0.9 + 0.05
        return SimpleNamespace(h=h, p=p, i=(h * 3).to(torch.long), k=h > 0, m=self, **inputs)

    def step(self, name, draw, pool, inputs):
        v = self.view(draw, pool, inputs)
        row, col = v.e if draw.random() < 0.7 else v.e.flip(0)
        if name == "message":
            return self.lin(v.h) + add_rows(v.p[row] * v.w.unsqueeze(1), col, v.n)
        if name == "edge":
            return torch.zeros_like(v.h).index_add(0, col, torch.tanh(v.h[row] - v.p[col]))
        if name == "write":
            written = v.h.clone()
            for _ in range(draw.randint(1, 3)):
                draw.choice(WRITES)(written[:, :4], v.p[:, 4:])
            return written
        return operators.bodies[name](v)

    def forward(self, x, edge_index, edge_weight, batch):
        steps, draw = traced_steps(self.seed)
        inputs = {"x": x, "e": edge_index, "w": edge_weight, "c": batch, "n": x.size(0)}
        pool = [self.inp(x)]
        for name in steps:
            pool.append(0.5 * pool[-1] + torch.tanh(self.step(name, draw, pool, inputs).to(torch.float)))
        return tuple(pool[-2:])


SCRIPTED_STEPS = {"message": "self.pass_on(p, edge_index)", "edge": "self.pass_on(p, edge_index.flip(0))",
                  "write": "p.clone().t()[1].fill_(0.5).unsqueeze(1) + h"}


def scripted(seed):
    lines = [operators.ADJACENCY, operators.BY_DESTINATION]
    for name in scripted_steps(seed)[0]:
        lines.append(f"h = 0.5 * h + torch.tanh({SCRIPTED_STEPS.get(name) or operators.expressions[name]})")
        lines.append("p = h.sigmoid()")
    return operators.scripted_class(f"<row_program_{seed}>", lines + ["y = h"])


def options_of(steps):
    """What holds of one of the operators in a program, that its peaks are not compared, say, holds of the program."""
    used = [OPTIONS[name] for name in steps if name in OPTIONS]
    return {"peaks": all(e.peaks for e in used), "gpu": all(e.gpu for e in used)}


def group(first, count, name="row_programs"):
    programs = Group(name)
    for seed in range(first, first + count):
        options = dict(options_of(steps_of(seed)), seed=seed, random=True)
        if is_scripted(seed):
            programs.add(f"row_program_{seed}", scripted(seed), operators.SCRIPT_INPUTS, how="script", **options)
        else:
            programs.add(f"row_program_{seed}", lambda seed=seed: Traced(seed), operators.INPUTS, **options)
    return programs
