"""Recordings made again from a tape of all that the recorder heard (tests/tape/tape.c): the same, byte for byte.

So a change of the recorder that is to change nothing can be held against the build before it, which writes the
tapes then:

	SONDE_WRITES=../before/build/sonde tests/run build:e2e -- record_tape
"""

import os
import shutil
import subprocess

import harness
import recording
from attaching import Target

OTHER = os.environ.get("SONDE_WRITES", harness.SONDE)
SCRIPT = "def f(n):\n\treturn 1 if n == 0 else f(n - 1) + 1\n" \
	"import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end:\n\tf(200)\n"


class Tape:
	def __init__(self, folder):
		recording.needs_sampling()
		self.folder = folder
		self.library = harness.compile_c(folder, harness.SOURCE_ROOT / "tests" / "tape" / "tape.c", "-O1",
			"-D_GNU_SOURCE", "-shared", "-fPIC", "-ldl", name="tape.so")
		self.path = folder / "tape"

	def run(self, sonde, mode, *arguments):
		path = self.folder / "test.prof"
		path.unlink(missing_ok=True)
		done = harness.run(sonde, "record", "-q", "--engine", "snapshot", "-o", path, *arguments,
			env={"LD_PRELOAD": str(self.library), "SONDE_TAPE": f"{mode}:{self.path}"})
		return done, path.read_bytes() if path.exists() else b""

	def check(self, *arguments):
		self.path.unlink(missing_ok=True)
		written, first = self.run(OTHER, "write", *arguments)
		played, second = self.run(harness.SONDE, "play", *arguments)
		assert played.status == written.status == 0, (written, played)
		assert len(first) > 1000 and first == second, (len(first), len(second), played)


def test_commands(folder):
	tape = Tape(folder)
	shares = recording.program(folder, "shares")
	tape.check("--", shares, harness.work(200))
	tape.check("--max-overhead", "1%", "-F", "9000", "--", shares, harness.work(200))
	tape.check("--clock", "virtual", "-e", "page-faults", "--", shares, harness.work(100))
	tape.check("--", recording.program(folder, "deep"), 3000, harness.work(100))


def test_threads_that_wait(folder):
	tape = Tape(folder)
	tape.check("--locks", "--", recording.program(folder, "locks"))
	tape.check("--", recording.program(folder, "threads"), 4, harness.work(100))


@harness.takes_long
def test_processes(folder):
	tape = Tape(folder)
	tape.check("--", recording.program(folder, "forks"))
	tape.check("--", "sh", "-c", "for i in 1 2 3 4 5; do ls / >/dev/null; done; exec true")


def test_an_interpreter(folder):
	if not shutil.which("python3"):
		raise harness.Skip("there is no python3")
	(folder / "script.py").write_text(SCRIPT)
	Tape(folder).check("--", "python3", folder / "script.py")


def test_running_ones(folder):
	tape = Tape(folder)
	with Target(folder, recording.program(folder, "shares"), 60000) as target:
		# Not the whole machine: what others run may be gone when it is to be read again.
		tape.check("--duration", "300ms", "-p", target.pid)


def test_a_tape_of_something_else(folder):
	tape = Tape(folder)
	shares = recording.program(folder, "shares")
	tape.check("--", shares, harness.work(50))
	tape.path.write_bytes(tape.path.read_bytes()[:20000])
	done, _ = tape.run(harness.SONDE, "play", "--", shares, harness.work(50))
	assert done.status == 99 and "nothing is left of kind" in done.err, done


harness.main()
