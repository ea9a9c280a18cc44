"""Model files that try what a file must not achieve, each in one way: places beyond memory, memory without end, loops, files, sockets,
code that runs while it is read, archives and pickles that lie. Stranger.make() writes one; nothing runs here."""
import io
import os
import pickle
import struct
import zipfile
from dataclasses import dataclass
from typing import Callable

import torch
from torch import Tensor, nn

NODES, WIDTH, EDGES = 20, 4, 60
MARK = "OWNED"  # what is written where it succeeds
TEBI, FAR = 1 << 40, 1_000_000_000
ENDLESS_RUN = frozenset(("run", "verify", "export"))  # their reference does not end by itself
ENDLESS = ENDLESS_RUN | {"inspect", "plan"}


@dataclass(frozen=True)
class Stranger:
    name: str
    make: Callable  # writes the file to a path
    endless: frozenset = frozenset()  # commands that end only on request
    file_name: str = "stranger.pt"


def indented(lines):
    return "".join(f"    {line}\n" for line in lines.splitlines())


def written(body, more=(), part=None):
    """A round of message passing over what the lines of `body` make of `h`, so that nothing else is wrong. The class is new each
    time: PyTorch compiles one only once."""
    class Written(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(WIDTH))
            self.part = nn.Identity() if part is None else part
            for text in more:
                self.define(text)
            self.define("def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:\n    h = self.part(x)\n"
                        f"    far = torch.tensor([0, 1, {FAR}])\n{indented(body)}"
                        "    return torch.zeros_like(x).index_add(0, edge_index[1], (x * self.w + h)[edge_index[0]])\n")

    return Written()


def read(body):
    """A part of a model. The lines of `body` would run while the file is read."""
    class Read(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.state = torch.zeros(3)
            self.define("def forward(self, x: Tensor) -> Tensor:\n    return x\n")
            self.define("def __getstate__(self) -> Tuple[Tensor, bool]:\n    return (self.state, self.training)\n")
            self.define("def __setstate__(self, state: Tuple[Tensor, bool]) -> None:\n    self.training = state[1]\n"
                        f"    self.state = state[0]\n{indented(body)}")

    return Read()


class Holder(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.parts = nn.ModuleList([nn.Identity(), part])

    def forward(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x


# Lines of forward. `h` is added to the features; x is [NODES, WIDTH], far holds a place that nothing has.
FORWARD = {
    # memory
    "zeros": f"h = torch.zeros([{TEBI}]).sum()",
    "ones, more bytes than a number holds": "h = torch.ones([4611686018427387904, 4]).sum()",
    "arange": f"h = torch.arange({TEBI}).sum()",
    "linspace": f"h = torch.linspace(0, 1, {TEBI}).sum()",
    "eye": "h = torch.eye(2097152).sum()",
    "one_hot": "h = torch.ops.aten.one_hot(torch.tensor([4611686018427387903])).sum()",
    "bincount": "h = torch.bincount(torch.tensor([4611686018427387902])).sum()",
    "repeat_interleave": f"h = torch.repeat_interleave(torch.tensor([{TEBI}])).sum()",
    "repeat": "h = x.repeat([1048576, 1048576]).sum()",
    "expand": f"h = torch.ones([1]).expand([{TEBI}]).clone().sum()",
    "tril_indices": "h = torch.tril_indices(2097152, 2097152).sum()",
    "constant_pad_nd": f"h = torch.constant_pad_nd(x, [0, {TEBI}]).sum()",
    "kron": "h = torch.kron(torch.ones([1048576]), torch.ones([1048576])).sum()",
    "outer": "h = torch.outer(torch.ones([1048576]), torch.ones([1048576])).sum()",
    "cdist": "h = torch.cdist(torch.ones([1048576, 1]), torch.ones([1048576, 1])).sum()",
    "cumulative copies": "for _ in range(60):\n    h = torch.cat([h, h])\nh = h.sum()",
    "tensors in a loop": "kept: List[Tensor] = []\nfor _ in range(100000):\n    kept.append(torch.ones([2000000]))\nh = h + kept[0].sum()",
    "a list that doubles": "kept = [0, 1]\nfor _ in range(40):\n    kept = kept + kept\nh = h + float(len(kept))",
    "a text that doubles": "text = 'a'\nfor _ in range(40):\n    text = text + text\nh = h + float(len(text))",
    "a list that is repeated": "kept = [x.size(0), 2]\nkept = kept * 1099511627776\nh = h + float(len(kept))",
    "a dictionary that grows": "kept: Dict[int, int] = {}\nfor i in range(100000000):\n    kept[i] = i\nh = h + float(len(kept))",
    "a list of a range": f"h = h + float(len(list(range(x.size(0) * {TEBI}))))",
    "a text that is padded": f"h = h + float(len('a'.ljust(x.size(0) * {TEBI})))",
    "a text that is replaced": "text = 'a'\nfor _ in range(12):\n    text = text.replace('a', 'aaaaaaaaaaaaaaaa')\nh = h + float(len(text))",
    # places
    "as_strided": "h = torch.as_strided(x, [1000000], [6400]).sum()",
    "as_strided, negative": "h = torch.as_strided(x, [4], [1], -1000000).sum()",
    "set_": "y = torch.zeros([1])\ny.set_(x, 100000000, [4], [1])\nh = y.sum()",
    "resize_": "h = x.clone().resize_([200000000]).sum()",
    "_reshape_alias": "h = torch.ops.aten._reshape_alias(h, [200000000], [64]).sum()",
    "_convert_indices_from_coo_to_csr": "h = torch._convert_indices_from_coo_to_csr(far, 4).sum()",
    "_convert_indices_from_csr_to_coo": "h = torch._convert_indices_from_csr_to_coo(far, torch.zeros([2], dtype=torch.int64)).sum()",
    "segment_reduce, unsafe": "h = torch.segment_reduce(x, 'sum', lengths=far, unsafe=True).sum()",
    "segment_reduce, offsets": "h = torch.segment_reduce(x, 'sum', offsets=far).sum()",
    "_sparse_coo_tensor_unsafe": "h = torch.ops.aten._sparse_coo_tensor_unsafe(torch.stack([far, far]), torch.ones([3]), [4, 4]).to_dense().sum()",
    "_unsafe_index": "h = torch._unsafe_index(x, [far]).sum()",
    "index": "h = x[far].sum()",
    "index_put_": "y = x.clone()\ny[far] = 1.0\nh = y.sum()",
    "scatter": "h = torch.scatter(x, 0, far.unsqueeze(1), 1.0).sum()",
    "gather": "h = torch.gather(x, 0, -far.unsqueeze(1)).sum()",
    "index_add": "h = torch.zeros_like(x).index_add(0, far, x[:3]).sum()",
    "index_select": "h = torch.index_select(x, 0, -far).sum()",
    "take": "h = torch.take(x, far).sum()",
    "put_": "h = x.clone().put_(far, torch.ones([3])).sum()",
    "embedding": "h = torch.embedding(x, far).sum()",
    "embedding_bag": "h = torch.embedding_bag(x, torch.tensor([0, 1]), far)[0].sum()",
    "nll_loss": "h = torch.ops.aten.nll_loss(x[:3], far)",
    "lu_unpack": "h = torch.lu_unpack(x[:4], torch.tensor([1, 2, 3, 1000000], dtype=torch.int32))[0].sum()",
    "linalg_lu_solve": "h = torch.ops.aten.linalg_lu_solve(x[:4], torch.tensor([1, 2, 3, 1000000], dtype=torch.int32), x[4:8]).sum()",
    "searchsorted": "h = torch.searchsorted(x[0], x, sorter=torch.tensor([0, 1, 2, 100000000])).sum()",
    # time
    "a condition that stays": "go = True\nwhile go:\n    h = h",
    "a number that stays small": "i = 0\nwhile i >= 0:\n    i = (i + 1) % 1000",
    "a condition of data": "while bool((h == h).any()):\n    h = h + 1",
    "as often as can be": f"for i in range({1 << 62}):\n    i = i + 1",
    "slow operators": "y = torch.ones([5000, 5000], dtype=torch.int64)\nfor _ in range(50):\n    y = torch.matmul(y, y)\nh = h + y.sum()",
    "a loop in double precision": "h = torch.sin(h * 1e9)\nif x.dtype == torch.float64:\n    i = 0\n    while i >= 0:\n        i = (i + 1) % 1000",
    # words
    "prints": "s = '0123456789abcdef'\nfor _ in range(20):\n    s = s + s\nfor _ in range(40):\n    print(s)",
    "prints for ever": "i = 0\nwhile i >= 0:\n    print('\\033[31m')\n    i = (i + 1) % 1000",
    "a message of megabytes": "s = 'm'\nfor _ in range(22):\n    s = s + s\nif x.size(0) > 0:\n    raise ValueError(s)",
    "a message that paints": "if x.size(0) > 0:\n    raise ValueError('\\033]0;owned\\007 \\033[2J\\015\\nnote: all is well\\nerror: none')",
    "an assertion": "assert x.size(0) < 0, 'error: \\033[31m\\n\\n'",
    # services
    "save": f"torch.save(x, '{MARK}')",
    "from_file": f"h = torch.from_file('{MARK}', shared=True, size=4).fill_(1.0).sum()",
    "from_file of the user": "h = torch.from_file('/etc/passwd', size=4).sum()",
    "fork": "h = torch.jit.wait(torch.jit.fork(self.other, x))",
    "manual_seed": "torch.manual_seed(1)",
    "another device": "h = h.to('cuda:7').to('cpu')",
    "rand": "h = torch.rand([4])",
    "_test": "h = torch.ops._test.leaky_relu(h)",
    "inductor": "h = torch.ops.inductor._reinterpret_tensor(x, [200000000], [64], 0).sum()",
    "c10d": "h = torch.ops._c10d_functional.all_reduce(h, 'sum', '0')",
    "profiler": "h = h + torch.ops.profiler._record_function_enter('a').sum()",
}
# Opening has no limit of time; these take longer than one waits.
UNENDING = {**dict.fromkeys(("slow operators", "a condition of data", "a dictionary that grows", "a text that is replaced"), ENDLESS),
            "a loop in double precision": ENDLESS_RUN}

SETSTATE = {
    "writes": f"file = torch.from_file('{MARK}', shared=True, size=4, dtype=torch.uint8)\nself.state = file.fill_(1).float()",
    "saves": f"torch.save(state[0], '{MARK}')",
    "loops": "while state[0].sum() < 1:\n    self.training = state[1]",
    "counts": "i = 0\nwhile i >= 0:\n    i = (i + 1) % 1000",
    "allocates": "self.state = torch.ones([1250000000])",
    "raises": "s = 'm'\nfor _ in range(22):\n    s = s + s\nif state[1]:\n    raise ValueError(s)",
    "reaches": "self.state = torch.ops.aten._reshape_alias(state[0], [200000000], [64])",
    "prints": "while True:\n    print('for ever')",
}

# What a search of the code for the method may overlook: what stands instead of "def __setstate__(self".
DISGUISES = {
    "two spaces": b"def  __setstate__(self", "a tabulator": b"def\t__setstate__(self", "a space behind": b"def __setstate__ (self",
    "a line's end": b"def __setstate__(\n      self", "a continued line": b"def \\\n  __setstate__(self", "a form feed": b"def\x0c__setstate__(self",
    "a comment before": b'# """\n  def __setstate__(self', "a carriage return": b"# \r  def __setstate__(self",
}


def in_forward(name, body):
    more = ["def other(self, x: Tensor) -> Tensor:\n    return x + 1\n"] if name == "fork" else []
    return Stranger(f"forward: {name}", lambda path: written(body, more).save(path), UNENDING.get(name, frozenset()))


def whole():
    """The entries of a sound file, by name; the code's is __torch__.py or longer."""
    buffer = io.BytesIO()
    torch.jit.save(written("h = h.relu()"), buffer)
    with zipfile.ZipFile(buffer) as file:
        return {name: file.read(name) for name in file.namelist()}


def write(path, entries, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w") as file:
        for name, content in entries:
            file.writestr(zipfile.ZipInfo(name), content, compression)


def replaced(old, new):
    """The sound file with other code."""
    def edit(entries):
        code = {name: text.replace(old, new, 1) for name, text in entries.items() if name.endswith(".py")}
        if all(entries[name] == text for name, text in code.items()):
            raise ValueError(f"{old} is not in the code")
        return {**entries, **code}
    return edit


def with_entry(end, change):
    """The entry of the name that ends so with other content."""
    def edit(entries):
        return {name: change(content) if name.endswith(end) else content for name, content in entries.items()}
    return edit


def besides(*more):
    return lambda entries: [*entries.items(), *more]


def with_source(name):
    """The table of source lines names another file."""
    return with_entry(".debug_pkl", lambda text: text.replace(b"X\0\0\0\0", b"X" + struct.pack("<I", len(name)) + name))


class Calls:
    """Unpickling it calls a command."""

    def __reduce__(self):
        return os.system, (f"echo {MARK} > {MARK}",)


CALL = pickle.dumps(Calls(), 2)
IMPORT = b"\x80\x02cos\nsystem\n"
LENGTH = b"\x80\x02X" + struct.pack("<I", 0xFFFFFFF0) + b"a."
MEMO = b"\x80\x02K\x01r" + struct.pack("<I", 0x7FFFFFF0) + b"."
NESTED = b"\x80\x02" + b"(" * 3_000_000 + b"t" * 3_000_000 + b"."
DOUBLED = b"\x80\x02)" + b"".join(b"q%ch%c\x86" % (i, i) for i in range(1, 60)) + b"."
NEGATIVE = b"\x80\x02J" + struct.pack("<i", -5) + b"\x85R."
COMMAND = f"\nimport os\nos.system('echo {MARK} > {MARK}')\n"
RECURSION = b"  def other(self, y: Tensor) -> Tensor:\n    return (self).other(y, )\n  def forward(self"
RETURN = b"h0 = torch.relu("

# Changes to the entries of a sound file.
ARCHIVES = {
    **{f"{end}, {name}": with_entry(end, lambda _, content=content: content) for end in ("data.pkl", "constants.pkl", ".debug_pkl")
       for name, content in (("calls", CALL), ("imports", IMPORT + CALL[2:]), ("a length", LENGTH), ("a place", MEMO), ("nested", NESTED),
                             ("doubled", DOUBLED), ("negative", NEGATIVE))},
    "a storage of exabytes": with_entry("data.pkl", lambda text: text.replace(b"K\x04tQ", b"\x8a\x08" + b"\xff" * 7 + b"\x0ftQ")),
    "code that calls itself": replaced(b"  def forward(self", RECURSION),
    "brackets": replaced(RETURN, b"h0 = torch.relu(" + b"(" * 50_000 + b"x" + b")" * 50_000 + b" + "),
    "a sum of many": replaced(RETURN, b"h0 = torch.relu(" + b"x + " * 50_000),
    "a list of many": replaced(RETURN, b"numbers = [" + b"1, " * 30_000 + b"]\n    h0 = torch.relu("),
    "no code": replaced(b"def forward", b"dfe forward"),
    "an unknown operator": replaced(b"torch.relu(", b"ops.evil.relu("),
    "an operator whose name paints": replaced(b"torch.relu(", b"ops.evil.\x1b[31m("),
    "a class of C++": replaced(RETURN, b"store = __torch__.torch.classes.dist_c10d.TCPStore.__new__(__torch__.torch.classes.dist_c10d.TCPStore)\n    " + RETURN),
    "a class that contains itself": replaced(b"  w : Tensor", b"  w : Tensor\n  me : __torch__.me.Me"),
    "a text of megabytes": replaced(RETURN, b'text = "' + b"a" * 20_000_000 + b'"\n    ' + RETURN),
    "a name of megabytes": replaced(RETURN, b"a" * 5_000_000 + b" = 1\n    " + RETURN),
    "a constant that is not there": replaced(RETURN, b"y = CONSTANTS.c999999999\n    " + RETURN),
    "upgraders": with_entry("version", lambda _: b"1\n"),
    "a version of the future": with_entry("version", lambda _: b"99999999999999999999\n"),
    "an order of bytes": with_entry("byteorder", lambda _: b"big"),
    "zeros in the code": with_entry(".py", lambda text: text + bytes(1000)),
    **{f"source lines of {name}": with_source((text + COMMAND.replace("\n", end)).encode())
       for name, text, end in (("lines", "a.py", "\n"), ("returns", "a.py", "\r"), ("separators", "a.py", "\u2028"), ("quotes", '"""', "\n"))},
    "source lines of a file of the user": with_source(b"/etc/passwd"),
    "climbing": besides(("archive/../../" + MARK, b"x")),
    "absolute": besides(("/" + MARK, b"x")),
    "twice": besides(("archive/version", b"3\n")),
    "a line's end in a name": besides(("archive/code/__torch__/a\nb.py", b"import os\n")),
    "a name that paints": besides(("archive/code/__torch__/\x1b[31m.py", b"x")),
    "many entries": besides(*((f"archive/extra/{i}", b"") for i in range(20_000))),
}
NAMES = {"a name of lines": "mo\ndel\nerror: none.pt", "a name that paints": "\x1b[31mred\x07.pt", "a name of options": "--output=x.pt"}


def bomb(path):
    """Some 64 kB on the disk, 64 MB in memory."""
    write(path, [*whole().items(), ("archive/extra/zeros", bytes(64 << 20))], zipfile.ZIP_DEFLATED)


def edited(path, edit, compression=zipfile.ZIP_STORED):
    entries = edit(whole())
    write(path, entries.items() if isinstance(entries, dict) else entries, compression)


def disguised(path, instead):
    buffer = io.BytesIO()
    torch.jit.save(written("", part=read(SETSTATE["writes"])), buffer)
    with zipfile.ZipFile(buffer) as file:
        write(path, ((name, file.read(name).replace(b"def __setstate__(self", instead)) for name in file.namelist()))


def strangers():
    """All of them."""
    yield from (in_forward(name, body) for name, body in FORWARD.items())
    for name, body in SETSTATE.items():
        yield Stranger(f"read: {name}", lambda path, body=body: written("", part=read(body)).save(path))
        yield Stranger(f"read, deep within: {name}", lambda path, body=body: written("", part=torch.jit.script(
            Holder(Holder(read(body))))).save(path))
    yield from (Stranger(f"disguise: {name}", lambda path, instead=instead: disguised(path, instead)) for name, instead in DISGUISES.items())
    yield from (Stranger(f"archive: {name}", lambda path, edit=edit: edited(path, edit)) for name, edit in ARCHIVES.items())
    yield Stranger("archive: a bomb", bomb)
    yield from (Stranger(name, lambda path: written("h = h.relu()").save(path), file_name=file) for name, file in NAMES.items())
