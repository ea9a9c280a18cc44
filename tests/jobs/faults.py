"""What no real engine does, or only where it has no time or no memory: for the player (player.py).

Requests `test/...` break the protocol or end the engine. A model whose name begins with `die` kills the engine that opens it. Some take long
(SLOW), and with --slow plans and runs do. The best plans of chain3-hard.pt are proven after ten seconds, which pass at once."""
import os
import signal
import sys
import time
from pathlib import Path

from wire import Refused, put, say, send

SLOW = {"model/open": ("model", "reading", 4), "debug/against": ("against", "comparing", 20), "debug/watch": ("nodes", "computing", 20),
        "machine/measure": ("device", "measuring", 3)}
HARD = 0.2  # of the cost, times the seconds that were asked for


def die():
    print("Traceback: everything is lost", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def is_slow(method, asked):
    """Files by their names, and row 4242."""
    return method == "machine/measure" or asked == [4242] or isinstance(asked, str) and Path(asked).name.startswith("slow")


class Faults:
    def __init__(self, player, arguments):
        if "--die-at-start" in arguments:
            die()
        self.player, self.slow = player, "--slow" in arguments
        self.major = int(arguments[arguments.index("--major") + 1]) if "--major" in arguments else None
        self.says_version = "--no-version" not in arguments
        self.pace = .05 if self.slow else .003  # seconds between the batches of a run

    def answer(self, method, params):
        """The player's, unless something is wrong."""
        if method.startswith("test/"):
            return getattr(self, method.replace("/", "_"))(params)
        if method == "model/open" and Path(params["model"]).name.startswith("die"):
            die()
        self.take_time(method, params)
        if method == "export/check" and "scarce" in params["folder"]:
            raise Refused(-32006, "out of memory")
        answer = self.player.answer(method, params)
        if method == "initialize":
            self.greet(answer)
        return self.unproven(answer, params) if method == "plan/make" else answer

    def greet(self, answer):
        if not self.says_version:
            del answer["protocol"]
        elif self.major:
            answer["protocol"] = {"major": self.major, "minor": 0}

    def take_time(self, method, params):
        member, what, total = SLOW.get(method, ("", "", 0))
        for done in range(total) if is_slow(method, params.get(member)) else ():
            send(method="$/progress", params={"request": self.player.request, "what": what, "done": done, "total": total})
            self.wait(.05)
        if self.slow and method == "plan/make" and (params.get("near") or params["pins"]):
            self.wait(.3 if params.get("near") else 1)

    def wait(self, seconds):
        time.sleep(seconds)
        if self.player.request in self.player.given_up:
            raise Refused(-32800, "cancelled")

    def unproven(self, answer, params):
        """The plan with the gap that a search of these seconds leaves."""
        deadline, plan = params.get("deadline") or 10, answer["plan"]
        if plan["gap"] is None or not Path(self.player.openings[params["document"]]["model"]).stem.endswith("-hard"):
            return answer
        say("search")
        self.wait(.1)
        gap = HARD / deadline if deadline < 10 else 0.0
        return answer | {"plan": plan | {"gap": gap, "lower_bound": plan["cost"] * (1 - gap)}}

    def test_echo(self, params):
        return params

    def test_slow(self, params):
        time.sleep(.2)
        return params

    def test_big(self, params):
        return {"numbers": list(range(params["count"]))}

    def test_die(self, params):
        die()

    def test_exit(self, params):
        print("".join(f"batch {number} is computed\n" for number in range(1000)) + "no more memory", file=sys.stderr, flush=True)
        os._exit(6)

    def test_die_in_answer(self, params):
        put(b'Content-Length: 1000\r\n\r\n{"jsonrpc": "2.0", "id": 1')
        die()

    def test_garbage(self, params):
        put(b"hello, this is not the protocol\r\n\r\n")

    def test_not_json(self, params):
        put(b"Content-Length: 5\r\n\r\n{oops")

    def test_oversize(self, params):
        put(b"Content-Length: 99999999999\r\n\r\n")

    def test_twice(self, params):
        send(id=self.player.request, result=1)
        return 2

    def test_strange_id(self, params):
        send(id=987654321, result="for nobody")
        return "for me"

    def test_refuse(self, params):
        raise Refused(-32004, "that cannot be")
