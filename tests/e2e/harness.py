"""What every end-to-end test shares: running sonde, building programs, TAP.

A test file is a Python program: functions named test_*, then `harness.main()`. Each function is one
test case: it passes by returning, fails by an exception (`assert`, mostly), and is left out by
`raise harness.Skip("why")`. A function that takes an argument is given a fresh, empty folder
(pathlib.Path) that is gone afterwards.

	import harness

	def test_it_says_its_version():
		assert harness.sonde("--version").out.startswith("sonde ")

	harness.main()

The environment says what to test: SONDE (the program), BUILD_ROOT, SOURCE_ROOT; without it, the
build in build/ is tested. SANITIZED is set where the build has sanitizers, which are slow;
SONDE_LONG asks for more rounds; SONDE_TEST_WORK is a factor for the CPU time that test programs use.
"""

import hashlib
import inspect
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

SOURCE_ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT", pathlib.Path(__file__).parents[2])).resolve()
BUILD_ROOT = pathlib.Path(os.environ.get("BUILD_ROOT", SOURCE_ROOT / "build")).resolve()
SONDE = os.environ.get("SONDE", str(BUILD_ROOT / "sonde"))
SANITIZED = bool(os.environ.get("SANITIZED"))
# More rounds of what fails by chance, for whoever has the time.
LONG = bool(os.environ.get("SONDE_LONG"))
# How much longer or shorter than usual test programs work, and at least how much longer what waits
# for them must wait.
WORK = float(os.environ.get("SONDE_TEST_WORK", 1))
PATIENCE = max(1, WORK)
# With fewer samples, one each millisecond, a share is hardly told from another, and one stack that
# was cut is more than the half per cent that may be.
LEAST_WORK_MS = 250
HERE = pathlib.Path(__file__).parent
# Characters of a failure's one line.
LINE_MAX = 500


def work(milliseconds, least=LEAST_WORK_MS):
	"""CPU time that a test program is to use, in ms, scaled by SONDE_TEST_WORK: programs work for a time
	by their own clock, so as many samples are due on any machine. Never less than least, if so much is
	asked for: that which the case needs to prove something."""
	return round(max(milliseconds * WORK, min(milliseconds, least)))


class Skip(Exception):
	"""The machine lacks what this case needs; the text says what."""


class Result:
	"""A program that has ended: status (negative: a signal), out and err as text, and as bytes."""

	def __init__(self, done):
		self.status = done.returncode
		self.out_bytes = done.stdout or b""
		self.err_bytes = done.stderr or b""
		self.out = self.out_bytes.decode("utf-8", "replace")
		self.err = self.err_bytes.decode("utf-8", "replace")

	def __repr__(self):
		return f"status {self.status}\n--- out\n{self.out[:4000]}\n--- err\n{self.err[:4000]}\n---"


def run(*command, input=b"", timeout=180, cwd=None, env=None, stdout=subprocess.PIPE,
	stderr=subprocess.PIPE, **more):
	"""Runs any program to its end. env adds to the environment; None removes a variable."""
	variables = dict(os.environ)
	for name, value in (env or {}).items():
		if value is None:
			variables.pop(name, None)
		else:
			variables[name] = value
	if isinstance(input, str):
		input = input.encode()
	if "stdin" not in more:
		more["input"] = input
	return Result(subprocess.run([c if isinstance(c, bytes) else str(c) for c in command], stdout=stdout, stderr=stderr,
		timeout=timeout * PATIENCE, cwd=cwd, env=variables, **more))


def sonde(*args, **more):
	"""Runs sonde with these arguments, as run()."""
	return run(SONDE, *args, **more)


def check(result, status=0):
	"""The result, whose exit status must be this."""
	assert result.status == status, f"expected status {status}, got {result!r}"
	return result


COMPILED = BUILD_ROOT / "tests" / "compiled"


def built_once(folder, name, inputs, build):
	"""A program at folder/name, a copy that is the caller's to spoil. build(place) makes place/name,
	once for the same inputs (strings) in a build tree."""
	key = hashlib.sha256("\0".join(map(str, inputs)).encode()).hexdigest()[:32]
	place = COMPILED / key
	if not (place / name).exists():
		COMPILED.mkdir(parents=True, exist_ok=True)
		# Where it stays, so that sources are found where the debug information says.
		place.mkdir(exist_ok=True)
		with tempfile.TemporaryDirectory(dir=place) as fresh:
			build(pathlib.Path(fresh))
			os.replace(pathlib.Path(fresh) / name, place / name)
	return pathlib.Path(shutil.copy(place / name, pathlib.Path(folder) / name))


def compiler_identity(name):
	"""Changes when another compiler is installed."""
	path = shutil.which(name.split()[0])
	return f"{path} {os.stat(path).st_mtime_ns}" if path else name


def compile_c(folder, source, *flags, name="program", compiler=None):
	"""Compiles C (or, with compiler="c++", C++) text or a source file; the program's path."""
	compiler = compiler or os.environ.get("CC", "cc")
	flags = flags or ("-O2", "-g")
	headers = []
	if isinstance(source, pathlib.Path):
		text = source.read_text()
		headers = [path.read_text() for path in sorted(source.parent.glob("*.h"))]
	else:
		text = source

	def build(place):
		path = source
		if not isinstance(source, pathlib.Path):
			is_cpp = compiler in ("c++", "g++", "clang++")
			path = place.parent / (name + (".cpp" if is_cpp else ".c"))
			path.write_text(source)
		check(run(*compiler.split(), *flags, path, "-o", place / name))
	return built_once(folder, name,
		[compiler_identity(compiler), name, source if headers else "", text, *headers, *flags], build)


def takes_long(function):
	"""Marks a case of some seconds of CPU time: `make check` leaves it to `make check-long`."""
	function.suite = "long"
	return function


def takes_hours(function):
	"""Marks a case that takes longer, or shows once more what others show: only `make check-hours` runs it."""
	function.suite = "hours"
	return function


def _call(function):
	if not inspect.signature(function).parameters:
		return function()
	with tempfile.TemporaryDirectory(prefix="sonde-test-") as folder:
		return function(pathlib.Path(folder))


def _in_a_line(error):
	"""What failed and where, so that the first lines of a log show it. TAP has a
	meaning for #, unless it is escaped."""
	place = ""
	for frame in traceback.extract_tb(error.__traceback__):
		# The innermost line of the tests, not of what they call.
		if pathlib.Path(frame.filename).parent == HERE and frame.filename != __file__:
			place = f"{pathlib.Path(frame.filename).name}:{frame.lineno}: {frame.line}: "
	words = " ".join(f"{place}{type(error).__name__}: {error}".split())
	return words[:LINE_MAX].replace("#", "\\#")


def _cpu_seconds():
	"""CPU time of this process and all that it waited for."""
	return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _run_all(functions):
	"""Whether one of them has failed."""
	failed = False
	for number, function in enumerate(functions, 1):
		name = function.__name__[len("test_"):].replace("_", " ")
		begin, cpu_begin = time.monotonic(), _cpu_seconds()
		try:
			_call(function)
			print(f"ok {number} - {name}")
		except Skip as skip:
			print(f"ok {number} - {name} # SKIP {skip}")
		except Exception as error:
			failed = True
			print(f"not ok {number} - {name}: {_in_a_line(error)}")
			for line in traceback.format_exc().splitlines():
				print(f"# {line}")
		print(f"# {time.monotonic() - begin:.2f} s, {_cpu_seconds() - cpu_begin:.2f} s of CPU time", flush=True)
	return failed


def main():
	"""Runs the test_* functions of the program that calls it: all, those named by arguments, or with `--suite NAME
	SUITES` those of one of the suites that its row in meson.build has."""
	functions = [f for name, f in sys.modules["__main__"].__dict__.items()
		if name.startswith("test_") and callable(f)]
	if sys.argv[1:2] == ["--suite"]:
		suite, suites = sys.argv[2], sys.argv[3].split(",")
		found = {getattr(f, "suite", "check") for f in functions}
		assert found == set(suites), f"its row in meson.build has the suites {suites}, its cases {sorted(found)}"
		functions = [f for f in functions if getattr(f, "suite", "check") == suite]
	elif len(sys.argv) > 1:
		unknown = set(sys.argv[1:]) - {f.__name__ for f in functions}
		assert not unknown, f"there is no {', '.join(sorted(unknown))}"
		functions = [f for f in functions if f.__name__ in sys.argv[1:]]
	# In the background, or below nohup, these may be ignored, and would be by what is tested.
	for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
		signal.signal(number, signal.SIG_DFL)
	print(f"1..{len(functions)}", flush=True)
	# Names that were kept of a program would be those of its stripped self, too.
	with tempfile.TemporaryDirectory(prefix="sonde-test-cache-") as cache:
		os.environ["XDG_CACHE_HOME"] = cache
		failed = _run_all(functions)
	sys.exit(1 if failed else 0)
