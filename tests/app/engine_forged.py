"""Documents of exports and journals that somebody else has written, with the right digests: a run gives the bits of any run, or ends
with a sentence. HOPSCOPE_ENGINE names the program, HOPSCOPE_ROOT the repository."""
import json
import random
import shutil
import signal
import sys
import unittest

import torch

from engine_commands import KARATE, ROOT, EngineTest, engine
from engine_process import journals_of_forks, own_folder
from engine_resume import JOURNAL, Case, cases, digest, interrupt_after, lines, xxh3
from tiers import sized

sys.path.insert(0, str(ROOT / "tests/export"))
from test_mutated import other_value  # noqa: E402

journals_of_forks()


def sealed(document):
    """A record with its digest."""
    return xxh3(document) + b" " + document + b"\n"


class Schemas(EngineTest):
    def test_other_documents_of_an_export(self):
        self.done("export", *KARATE, "-o", self.folder / "made", "--quiet")
        schema = json.loads((self.folder / "made/schema.json").read_text())
        other, codes = self.folder / "other.json", set()
        for number in range(sized(60, 600)):
            document = json.loads(other_value(schema, random.Random(f"schema {number}")))
            other.write_text(json.dumps(document))
            for words in (["verify", *KARATE, "--schema", other], ["diff", self.folder / "made/schema.json", other]):
                done = engine(*words)
                codes.add(done.returncode)
                with self.subTest(number=number, command=words[0]):
                    self.assertIn(done.returncode, (0, 1, 3, 4, 5), done.stderr)
                    self.assertNotIn("bug in Hopscope", done.stderr + done.stdout)
        self.assertIn(3, codes)


class Journals(EngineTest):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(1)
        folder = own_folder(cls)
        made = dict(cases(folder, 60_000, 8))
        cls.runs = []
        for name, chunks in (("sage", 10), ("normed", 4)):
            case, out = Case(name, made[name], folder), folder / f"{name}-killed"
            code, error = interrupt_after(case.words, out, chunks)
            assert code == -signal.SIGKILL, error
            cls.runs.append((case, out))

    def forged(self, out, draw):
        """Another value in a record, in the conditions, or in the plan, of which the conditions know the digest."""
        journal, what = out / JOURNAL, draw.choice(("chunks", "chunks", "run.json", "plan.json"))
        if what == "chunks":
            records = lines(out)
            at = draw.randrange(len(records))
            records[at] = sealed(other_value(json.loads(records[at][33:]), draw))
            (journal / what).write_bytes(b"".join(records))
            return
        document = other_value(json.loads((journal / what).read_text()), draw)
        (journal / what).write_bytes(document)
        if what == "plan.json":
            begun = json.loads((journal / "run.json").read_text())
            (journal / "run.json").write_text(json.dumps({**begun, "plan": xxh3(document).decode()}))

    def test_other_records_conditions_and_plans(self):
        for case, killed in self.runs:
            for number in range(sized(16, 150)):
                out = self.folder / "out"
                shutil.rmtree(out, ignore_errors=True)
                shutil.copytree(killed, out)
                self.forged(out, random.Random(f"{case.name} {number}"))
                done = engine("run", *case.words, "-o", out, "--resume", "--quiet")
                with self.subTest(model=case.name, number=number):
                    self.assertIn(done.returncode, (0, 3), done.stderr)
                    if done.returncode == 0:
                        self.assertEqual(digest(out), case.expected)


if __name__ == "__main__":
    unittest.main()
