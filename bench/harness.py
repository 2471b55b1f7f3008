"""What bench/run's rows share: running commands and measuring them, the programs, the scratch folder."""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SONDE = os.environ.get("SONDE", os.path.join(ROOT, "build", "sonde"))
SINK = subprocess.DEVNULL
NOBODY = 65534
# Without frame pointers and not stripped, as Debian builds; the programs of tests/programs say their own truth.
FLAGS = ["-O2", "-g", "-fomit-frame-pointer", "-pthread", "-D_GNU_SOURCE"]
OWN_PROGRAMS = ["bench/gap", "bench/pingpong", "bench/sleepers", "bench/copy", "bench/cost", "bench/account"] + [
	f"tests/programs/{name}" for name in ("shares", "deep", "churn", "threads")]


class Skip(Exception):
	"""What this machine, or this version, cannot measure, and why."""


def as_user(command, user):
	if user is None:
		return command
	return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] + command


def peak_mb(pid):
	"""Peak memory of a living process; 0 if it is none."""
	try:
		with open(f"/proc/{pid}/status") as status:
			found = re.search(r"VmHWM:\s+(\d+)", status.read())
	except OSError:
		return 0
	return int(found.group(1)) / 1024 if found else 0


def own_cpu_s(pid):
	"""CPU seconds of a process's first thread alone, when it has ended but was not waited for."""
	try:
		with open(f"/proc/{pid}/schedstat") as told:
			return int(told.read().split()[0]) / 1e9
	except OSError:
		return 0


class Cost:
	"""
	What a command took. wall and cpu: seconds, its waited-for children's too; own: of cpu, what it used itself
	and not its children; peak: its own memory in MB, where it was watched.
	"""

	def __init__(self, wall, cpu, own, peak, stderr):
		self.wall, self.cpu, self.own, self.peak, self.stderr = wall, cpu, own, peak, stderr


def run(command, user=None, env=None, watch=False):
	"""Runs a command to its end. With watch its memory is looked at each 20 ms."""
	start, peak = time.monotonic(), 0
	with tempfile.TemporaryFile("w+", errors="replace") as errors, subprocess.Popen(as_user(command, user),
			stdin=SINK, stdout=SINK, stderr=errors, env=env) as process:
		while watch and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
			peak = max(peak, peak_mb(process.pid))
			time.sleep(0.02)
		os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
		wall, own = time.monotonic() - start, own_cpu_s(process.pid)
		_, code, usage = os.wait4(process.pid, 0)
		process.returncode = os.waitstatus_to_exitcode(code)
		errors.seek(0)
		stderr = errors.read()
	if process.returncode != 0:
		last = stderr.strip().rpartition("\n")[2]
		raise Skip(f"exit {process.returncode}: {last[-80:]}")
	return Cost(wall, usage.ru_utime + usage.ru_stime, own, peak, stderr)


def capture(command):
	return subprocess.run(command, stdin=SINK, stdout=subprocess.PIPE, stderr=SINK, check=True).stdout


def lines(command):
	"""The lines that a command prints, one by one."""
	with subprocess.Popen(command, stdin=SINK, stdout=subprocess.PIPE, stderr=SINK, text=True,
			errors="replace") as process:
		yield from process.stdout


def real_programs():
	"""The real programs: name → command."""
	folder = capture([os.path.join(HERE, "programs.sh")]).decode().strip()
	cc1 = capture(["gcc", "-print-prog-name=cc1"]).decode().strip()
	found = {
		"lua": [f"{folder}/lua", f"{HERE}/recursion.lua", "900"],
		"sqlite": [f"{folder}/sqlite", "25"],
		"tcc": [f"{folder}/tcc", "20", f"{folder}/src-tcc", f"{folder}/sqlite3.c"],
		"quickjs": [f"{folder}/quickjs", f"{HERE}/recursion.js", "150"],
		"stockfish": [f"{folder}/stockfish", "bench", "16", "1", "10"],
		"cc1": [cc1, "-quiet", "-O0", f"{folder}/sqlite3.i", "-o", "/dev/null"],
	}
	if shutil.which("clang++"):
		source = os.path.join(folder, "templates.cpp")
		shutil.copy(os.path.join(HERE, "templates.cpp"), source)
		found["clang++"] = ["clang++", "-std=c++17", "-O2", "-c", source, "-o", "/dev/null"]
	return found


class Bench:
	def __init__(self, rounds, scratch):
		self.rounds = rounds
		self.is_quick = rounds == 1
		self.scratch = scratch
		self.commands = []  # what the current row ran
		self.kept = {}
		os.chmod(scratch, 0o777)
		self.build()

	def build(self):
		for name in OWN_PROGRAMS:
			source = os.path.join(ROOT, name + ".c")
			subprocess.run(["cc", *FLAGS, source, "-o", self.path(os.path.basename(name)), "-lm"], check=True)

	def path(self, name):
		return os.path.join(self.scratch, name)

	def keep(self, key, make):
		"""What make() gives, made once."""
		if key not in self.kept:
			self.kept[key] = make()
		return self.kept[key]

	def program(self, name, *arguments):
		"""A command: a real program by its name, or one of the project's own with its arguments."""
		if not arguments:
			programs = self.keep("programs", real_programs)
			if name not in programs:
				raise Skip(f"{name} is not installed")
			return programs[name]
		return [self.path(name), *map(str, arguments)]

	def note(self, command):
		"""Remembers a command for the list of what each row ran, without this machine's folders."""
		words = ["sonde" if word == SONDE else re.sub(r"(?<![^=])/\S*/(?=[^/])", "", word) if word != "/dev/null" else word
			for word in command]
		text = " ".join(words)
		if text not in self.commands:
			self.commands.append(text)

	def run(self, command, **keywords):
		self.note(command)
		return run(command, **keywords)

	def median(self, measure, rounds=None):
		return statistics.median(measure() for _ in range(rounds or self.rounds))

	def wall_ms(self, command, rounds=None):
		return 1000 * self.median(lambda: self.run(command).wall, rounds)

	def realtime(self):
		"""What keeps other tasks from a thread that is watched, where that is allowed."""
		return self.keep("realtime", lambda: ["chrt", "-f", "1"] if subprocess.run(["chrt", "-f", "1", "true"],
			stderr=SINK, check=False).returncode == 0 else [])

	def sonde_can(self, option):
		"""Whether `sonde record` has an option yet."""
		text = self.keep("help", lambda: capture([SONDE, "record", "--help"]).decode())
		return re.search(rf"(?<![\w-]){re.escape(option)}\b", text) is not None

	def npm(self, package):
		"""The folder of a package of npm, NAME@VERSION, installed once."""
		def install():
			if not shutil.which("node") or not shutil.which("npm"):
				raise Skip("there is no node or npm")
			name = package.partition("@")[0]
			folder = self.path(f"npm-{name}")
			run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, package])
			return os.path.join(folder, "node_modules", name)
		return self.keep(package, install)

	def speedscope(self):
		"""The folder of speedscope's page."""
		return os.path.join(self.npm("speedscope@1.25.0"), "dist", "release")

	def folded(self, shape, *numbers):
		def make():
			path = self.path("-".join([shape, *map(str, numbers)]) + ".folded")
			run([sys.executable, os.path.join(HERE, "make_folded.py"), shape, path, *map(str, numbers)])
			return path
		return self.keep((shape, *numbers), make)


def sonde_report(path, *options):
	"""A report as JSON, all rows of it."""
	return json.loads(capture([SONDE, "report", path, *options, "--format", "json", "--limit", "0"]))
