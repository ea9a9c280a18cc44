"""Starts the engine for tests. Ordinary commands are carried out by forks of one process that has loaded LibTorch (forks.h),
which spares a quarter of a second of a core for each. Whatever depends on how a process begins starts the program itself,
where arguments or environment show that; a test in which it depends on more does so by subprocess.
HOPSCOPE_ENGINE names the program, HOPSCOPE_BENCH hopscope-bench, HOPSCOPE_ENGINE_FORKS the one with forks; without it every command is
the program's."""
import atexit
import contextlib
import functools
import os
import resource
import select
import socket
import struct
import subprocess
import tempfile
import threading
from pathlib import Path

ENGINE = os.environ["HOPSCOPE_ENGINE"]
BENCH = os.environ.get("HOPSCOPE_BENCH")
FORKS = os.environ.get("HOPSCOPE_ENGINE_FORKS", "").split()
READ_AT_START = ("LD_", "OMP_", "GOMP_", "KMP_", "MKL_", "MALLOC_")
BY_DIGEST = {"--resume", "--shard", "worker"}  # journals know the program by its digest
INT = struct.Struct("i")
ENDED = struct.Struct("iid")  # its status, KiB and CPU seconds
LIGHT = {"sample", "--version"}  # commands for which the program needs no LibTorch
LOCK = threading.Lock()


def own_folder(test):
    """A temporary folder that is removed after the test, or after all tests of the class."""
    holder = tempfile.TemporaryDirectory()
    (test.addClassCleanup if isinstance(test, type) else test.addCleanup)(holder.cleanup)
    return Path(holder.name)


@functools.cache
def begun(read):
    """The socket of a process with forks, what that has read of its environment when it was started, and its id."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # Symbols are looked up once, and not by each fork; commands bring an environment of their own.
    process = subprocess.Popen(FORKS, stdin=theirs, env={**os.environ, "LD_BIND_NOW": "1"})
    theirs.close()
    atexit.register(lambda: (ours.close(), process.wait(60)))
    return ours, dict(read), process.pid


def server():
    with LOCK:
        return begun(tuple(read_at_start(os.environ).items()))


def forking():
    """The process with forks, if there is one."""
    return server()[2] if FORKS else None


def read_at_start(environment):
    return {name: value for name, value in environment.items() if name.startswith(READ_AT_START)}


def forks(words, env=None):
    """Whether a fork can stand in for the program."""
    if not FORKS or words[0] not in (ENGINE, BENCH) or (BY_DIGEST | LIGHT) & set(words):
        return False
    return env is None or read_at_start(env) == server()[1]


def always_the_program():
    """For scripts that test the end of a process and its leftovers."""
    FORKS.clear()


def journals_of_forks():
    """For scripts in which forks alone write and read journals, so that the digest is theirs."""
    BY_DIGEST.clear()


class Fork:
    """A command that a fork carries out in a session of its own, with what tests and the Python package use of subprocess.Popen.
    When it has ended, `seconds` are those of the processor, `kibibytes` its largest memory."""

    def __init__(self, words, stdin=None, stdout=None, stderr=None, env=None, cwd=None, start_new_session=True):
        self.args, self.returncode = words, None
        with contextlib.ExitStack() as theirs:
            files = [self.end(stream, number, theirs) for number, stream in enumerate((stdin, stdout, stderr))]
            self.stdin, self.stdout, self.stderr = (ours for _, ours in files)
            self.channel, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            theirs.callback(far.close)
            self.ask(cwd, words, os.environ if env is None else env, [*(given for given, _ in files), far.fileno()])
        self.pid = INT.unpack(self.channel.recv(INT.size))[0]

    @staticmethod
    def end(stream, number, theirs):
        """The descriptor that the fork gets as standard input, output or error, and the file at this end of a pipe."""
        if stream == subprocess.PIPE:
            given, kept = os.pipe()[::1 if number == 0 else -1]
            theirs.callback(os.close, given)
            return given, open(kept, "wb" if number == 0 else "rb")
        if stream == subprocess.DEVNULL:
            stream = theirs.enter_context(open(os.devnull, "r+b", buffering=0))
        return (number if stream is None else stream if isinstance(stream, int) else stream.fileno()), None

    @staticmethod
    def ask(cwd, words, environment, files):
        said = [cwd or os.getcwd(), len(words), *words, *(f"{name}={value}" for name, value in environment.items())]
        text = b"".join(os.fsencode(str(part)) + b"\0" for part in said)
        socket.send_fds(server()[0], [text], files)

    def wait(self, timeout=None):
        """From any thread."""
        if self.returncode is None:
            if not select.select([self.channel], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout)
            status, self.kibibytes, self.seconds = ENDED.unpack(self.channel.recv(ENDED.size, socket.MSG_PEEK))
            self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def poll(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(9)

    def communicate(self, given=None, timeout=None):
        said = {}
        readers = [threading.Thread(target=lambda stream=stream: said.update({stream: stream.read()}), daemon=True)
                   for stream in (self.stdout, self.stderr) if stream]
        for reader in readers:
            reader.start()
        if self.stdin:
            with contextlib.suppress(BrokenPipeError), self.stdin:
                self.stdin.write(given or b"")
        self.wait(timeout)
        for reader in readers:
            reader.join()
        return said.get(self.stdout), said.get(self.stderr)


def start(words, **options):
    """As subprocess.Popen; a fork has no options but these."""
    simple = options.keys() <= {"stdin", "stdout", "stderr", "env", "cwd", "start_new_session"}
    return (Fork if simple and forks(words, options.get("env")) else subprocess.Popen)(words, **options)


def text_of(data, errors):
    return data.decode(errors=errors or "strict").replace("\r\n", "\n")


def fork(words, stdin, stdout, stderr, timeout, text, errors, **options):
    """Files replace pipes, so that the fork never waits for a reader."""
    with contextlib.ExitStack() as keep:
        files = [keep.enter_context(tempfile.TemporaryFile()) if stream == subprocess.PIPE else None
                 for stream in (stdout, stderr)]
        process = Fork(words, stdin, files[0] or stdout, files[1] or stderr, **options)
        try:
            code = process.wait(timeout)
        except BaseException:
            process.kill()
            process.wait()
            raise
        said = [os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) if file else None for file in files]
    if text:
        said = [data if data is None else text_of(data, errors) for data in said]
    return costing(subprocess.CompletedProcess(words, code, *said), process.seconds, process.kibibytes)


def costing(done, seconds, kibibytes):
    """The result has the `seconds` and `kibibytes` of a Fork."""
    done.seconds, done.kibibytes = seconds, kibibytes
    return done


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def program(words, **options):
    before = of_children()[0]
    done = subprocess.run(words, **options)
    after, most = of_children()
    return costing(done, after - before, most)


def run(words, *, capture_output=False, stdin=None, stdout=None, stderr=None, timeout=None, text=False, errors=None,
        check=False, env=None, cwd=None):
    """As subprocess.run, but for what costing() adds."""
    words = [os.fspath(word) for word in words]
    if capture_output:
        stdout = stderr = subprocess.PIPE
    options = {"stdin": stdin, "stdout": stdout, "stderr": stderr, "timeout": timeout, "text": text, "errors": errors,
               "env": env, "cwd": cwd}
    if not forks(words, env):
        return program(words, check=check, **options)
    done = fork(words, **options)
    if check:
        done.check_returncode()
    return done


def engine(*arguments, timeout=300, program=ENGINE, **options):
    """A command with empty standard input."""
    return run([program, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
               **options)


bench = functools.partial(engine, program=BENCH)
