"""Prints random expressions of sizes as torch.export writes them, and Python's value of each: CODE, the sizes of x, edge_index and
x_dict.user and the number n, VALUE, separated by tabs. VALUE is an integer, a hexadecimal real, or "none" where Python raises an
exception. "?" precedes a value that need not be found: a part of the expression raises an exception or is too large to be exact.
Usage: random_guards.py COUNT SEED"""
import math
import random
import sys
from types import SimpleNamespace

EXACT = 2**53
PLACES = ["L['x'].size()[0]", "L['edge_index'].size()[1]", "L['x_dict']['user'].size()[0]", "L['n']"]
TORCH = SimpleNamespace(sym_float=float, _sym_sqrt=math.sqrt)


class Sizes:
    def __init__(self, *shape):
        self.shape = shape

    def size(self):
        return self.shape


class Writer:
    def __init__(self, seed):
        self.chance = random.Random(seed)

    def start(self):
        chance = self.chance
        self.sizes = [chance.choice([0, 1, 2, 3, chance.randrange(60), chance.randrange(10**6)]) for _ in PLACES]
        x, edges, user, number = self.sizes
        self.names = {"L": {"x": Sizes(x, 5), "edge_index": Sizes(2, edges), "x_dict": {"user": Sizes(user, 3)}, "n": number},
                      "math": math, "torch": TORCH}
        self.sure = True

    def value(self, code):
        """None where there is none; notes parts that leave the numbers that both sides know."""
        try:
            value = eval(code, self.names)
        except (ArithmeticError, ValueError, TypeError):
            value = None
        known = isinstance(value, (int, float)) and math.isfinite(value) and abs(value) <= EXACT
        self.sure = self.sure and known
        return value

    def part(self, depth):
        code = self.leaf() if depth == 0 else self.operation(depth)
        self.value(code)
        return code

    def leaf(self):
        number = self.chance.choice([0, 1, 2, 3, 7, 100, 2.5, 0.1, 1e-05])
        return self.chance.choice([*PLACES, *PLACES, str(number), f"(-{number})"])

    def operation(self, depth):
        one, other, third = (self.part(self.chance.randrange(depth)) for _ in range(3))
        kinds = [self.infix, self.infix, self.infix, self.compared, self.function, self.choice]
        return self.chance.choice(kinds)(one, other, third)

    def infix(self, one, other, _):
        whole = all(isinstance(self.value(f"({side})"), int) for side in (one, other))
        signs = ["+", "-", "*", "/", "%", " and ", " or ", *(["//", "&", "|", "^"] if whole else [])]
        return f"({one}){self.chance.choice(signs)}({other})" if self.chance.random() < 0.6 else self.loose(one, other)

    def loose(self, one, other):
        """Without parentheses, so that the precedence of operators matters."""
        sign = self.chance.choice([" + ", " - ", "*"])
        code = f"{one}{sign}{other}"
        if any(comparison in code for comparison in ("<", ">", "=")) or isinstance(self.value(code), (float, type(None))):
            return f"({one}){sign}({other})"
        return code

    def compared(self, one, other, _):
        return f"({one}) {self.chance.choice(['==', '!=', '<=', '>=', '<', '>'])} ({other})"

    def function(self, one, other, third):
        return self.chance.choice([
            f"max({one}, {other}, {third})", f"min({one}, {other})", f"abs({one})", f"math.floor({one})", f"math.ceil({one})",
            f"math.trunc({one})", f"round({one})", f"round({one}, {self.chance.randrange(4)})", f"math.log2({one})",
            f"torch.sym_float({one})", f"torch._sym_sqrt({one})", f"(not ({one}))",
            f"-({one})", f"({one}) ** 2"])

    def choice(self, one, other, third):
        return f"(({one}) if ({other}) else ({third}))"


def text(value):
    if value is None or isinstance(value, complex):
        return "none"
    return value.hex() if isinstance(value, float) else str(int(value))


def main(count, seed):
    writer = Writer(seed)
    for _ in range(count):
        writer.start()
        code = writer.part(writer.chance.randrange(5))
        value = writer.value(code)
        print(code, ",".join(map(str, writer.sizes)), ("" if writer.sure or value is None else "?") + text(value), sep="\t")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
