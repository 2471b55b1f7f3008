"""
The heaviest programs at hand that nobody wrote for a profiler: a browser, an encoder, a database under load, a
parallel build, interpreters, the whole machine.  What is lost, which stacks are whole, whether the total is what the
system accounts, how much of it is the kernel's, and what the recorder itself takes; sonde as it comes, as root and as
a user, and by perf, on a quiet machine and next to twenty busy loops.
"""
import contextlib
import glob
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

from harness import HERE, NOBODY, SINK, SONDE, Skip, as_user, capture, lines, own_cpu_s, real_programs, sonde_report

HEAD = ["| program | load | recorder | lost | whole stacks | total, of the system's account | in the kernel | recorder's CPU |",
	"|---|---|---|---|---|---|---|---|"]
RATE_NS = 1000000
SECONDS = 5
# A recording that takes longer is ended.
HUNG_S = 300
# Rows of a report by module that are code of the kernel.
KERNEL = re.compile(r"^\[(?!truncated|unknown|anon|vdso|lost|guessed|left out|kernel, not permitted)[^]]*\]$")


class Sonde:
	def __init__(self, label, user):
		self.label, self.user = label, user

	def prefix(self, path):
		return [SONDE, "record", "--interval", f"{RATE_NS // 1000}us", "-o", path]

	def read(self, path, stderr):
		stats = sonde_report(path, "--view", "stats")
		row, total = stats["rows"][0], stats["total"]
		modules = sonde_report(path, "--view", "modules")["rows"]
		kernel = sum(m["exclusive"] for m in modules if KERNEL.match(m["name"]) or m["name"].endswith(".ko"))
		due = row["counted"] + row["lost"]
		own = re.search(r"recorder used ([0-9.]+) (\w+) of CPU time", stderr)
		unit = {"s": 1, "ms": 1e-3, "us": 1e-6}
		return {"lost": row["lost"] / max(due, 1), "whole": 1 - row["critical"] / max(row["counted"], 1),
			"total_s": total / 1e9, "kernel": kernel / max(total, 1),
			"own_s": float(own.group(1)) * unit[own.group(2)] if own else None}


class Perf:
	"""Its stacks are not walked here: a browser's take perf script hours."""
	label, user = "perf 16 KB", None

	def prefix(self, path):
		return ["perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-c", str(RATE_NS), "--call-graph",
			"dwarf,16384", "-o", path]

	def read(self, path, _):
		kept = kernel = lost = 0
		for line in lines(["perf", "script", "-f", "--show-lost-events", "-F", "tid,misc", "-i", path]):
			found = re.search(r"PERF_RECORD_LOST\S* lost (\d+)", line)
			lost += int(found.group(1)) if found else 0
			if not found and line.strip() and "PERF_RECORD" not in line:
				kept += 1
				kernel += " K" in line
		return {"lost": lost / max(kept + lost, 1), "whole": None, "total_s": kept * RATE_NS / 1e9,
			"kernel": kernel / max(kept, 1), "own_s": None}


TOOLS = [Sonde("sonde", None), Sonde("sonde, user", NOBODY), Perf()]


@contextlib.contextmanager
def busy(count):
	"""So many processes that do nothing but run."""
	loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
	try:
		time.sleep(0.5 if count else 0)
		yield
	finally:
		for loop in loops:
			loop.kill()
		for loop in loops:
			loop.wait()


# ---- the account ----

def machine_cpu_s():
	"""All that was not idle since the machine started."""
	with open("/proc/stat") as told:
		user, nice, system, _, _, irq, soft = map(int, told.readline().split()[1:8])
	return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def family_cpu_s(pid):
	"""A process and its children, each with the children it has waited for."""
	total = 0
	with contextlib.suppress(OSError):
		with open(f"/proc/{pid}/stat") as told:
			total += sum(map(int, told.read().rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")
		with open(f"/proc/{pid}/task/{pid}/children") as told:
			total += sum(family_cpu_s(child) for child in told.read().split())
	return total


# ---- what is recorded ----

def need(*programs):
	for program in programs:
		if not shutil.which(program):
			raise Skip(f"{program} is not installed")


def chromium(bench):
	need("chromium")
	home = bench.path(f"chromium-{time.monotonic_ns()}")
	return ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={home}",
		f"--screenshot={home}.png", f"file://{HERE}/page.html"]


def ffmpeg(_):
	need("ffmpeg")
	return ["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=s=1280x720:d=4", "-c:v", "libx264",
		"-f", "null", "-"]


def build(bench):
	"""Lua, whole, again and again in a folder of its own."""
	need("make", "gcc")
	bench.keep("programs", real_programs)
	source = os.path.join(capture([os.path.join(HERE, "programs.sh")]).decode().strip(), "src-lua5.4")
	folder = bench.path(f"build-{time.monotonic_ns()}")
	shutil.copytree(source, folder)
	subprocess.run(["chmod", "-R", "a+rwX", folder], check=True)
	return ["make", "-s", "-B", "-j8", "-C", os.path.join(folder, "src"), "linux"]


def ruby(_):
	need("ruby")
	return ["ruby", os.path.join(HERE, "recursion.rb"), "4"]


def python(mode):
	def command(_):
		names = ["python3", *(f"python3.{minor}" for minor in range(12, 20))]
		least = (3, 13) if mode == "perf_jit" else (3, 12)
		test = f"import sys; sys.exit(sys.version_info[:2] < {least})"
		for name in filter(shutil.which, names):
			if subprocess.run([name, "-c", test], stderr=SINK, check=False).returncode == 0:
				return [name, "-X", mode, os.path.join(HERE, "recursion.py"), "4"]
		raise Skip(f"no Python {least[0]}.{least[1]}")
	return command


class Postgres:
	"""A server of its own on a socket of its own, and pgbench next to it."""

	def __init__(self, bench):
		found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
		if not found:
			raise Skip("postgresql is not installed")
		need("pgbench")
		self.bin, self.home = os.path.dirname(found[-1]), bench.path(f"pg-{time.monotonic_ns()}")
		os.mkdir(self.home)
		os.chown(self.home, NOBODY, NOBODY)

	def call(self, *command, **keywords):
		return subprocess.run(as_user(list(command), NOBODY), check=True, stdin=SINK, stdout=SINK, stderr=SINK, **keywords)

	def __enter__(self):
		data = f"{self.home}/data"
		self.call(f"{self.bin}/initdb", "-D", data, "-A", "trust", "-U", "bench", "--no-sync")
		self.server = subprocess.Popen(as_user([f"{self.bin}/postgres", "-D", data, "-k", self.home, "-c", "listen_addresses=",
			"-c", "fsync=off"], NOBODY), stdin=SINK, stdout=SINK, stderr=SINK)
		client = ["-h", self.home, "-U", "bench", "postgres"]
		for _ in range(200):
			if subprocess.run(as_user(["psql", *client, "-c", ""], NOBODY), stdout=SINK, stderr=SINK, check=False).returncode == 0:
				break
			time.sleep(0.1)
		self.call("pgbench", "-q", "-i", "-s", "5", *client)
		self.load = subprocess.Popen(as_user(["pgbench", "-S", "-c", "4", "-T", "60", *client], NOBODY), stdin=SINK, stdout=SINK,
			stderr=SINK)
		time.sleep(1)
		return self.server.pid

	def __exit__(self, *_):
		self.load.kill()
		self.load.wait()
		self.server.send_signal(signal.SIGINT)
		self.server.wait()


# ---- one measurement ----

def recorded(bench, tool, command):
	"""Runs the recorder to its end: what it has found, its own CPU seconds where it does not say them itself."""
	bench.note(command)
	with open(bench.path("stderr"), "w+", errors="replace") as errors, subprocess.Popen(as_user(command, tool.user),
			stdin=SINK, stdout=SINK, stderr=errors, env=dict(os.environ, HOME=bench.path("home"))) as process:
		hung = threading.Timer(HUNG_S, process.kill)
		hung.start()
		os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
		hung.cancel()
		own_s = own_cpu_s(process.pid)
		process.wait()
		errors.seek(0)
		return errors.read(), own_s


def path_of(bench, tool):
	bench.count = getattr(bench, "count", 0) + 1
	return bench.path(f"{bench.count}.heavy-{tool.label.split()[0].strip(',')}")


def finish(tool, path, stderr, own_s, used_s):
	if not os.path.exists(path):
		raise Skip(stderr.strip().rpartition("\n")[2][-100:])
	found = tool.read(path, stderr)
	found["total"] = found["total_s"] / used_s if used_s else 0
	found["own_s"] = own_s if found["own_s"] is None else found["own_s"]
	found["used_s"] = used_s
	os.unlink(path)
	return found


def launched(command_of):
	def once(bench, tool):
		path, account = path_of(bench, tool), bench.path(f"account-{time.monotonic_ns()}")
		stderr, own_s = recorded(bench, tool, [*tool.prefix(path), "--", bench.path("account"), account, *command_of(bench)])
		with open(account) as told:
			used_s = float(told.read())
		return finish(tool, path, stderr, own_s, used_s)
	return once


def timed(tool, path, target):
	"""A recording of so many seconds: perf ends with its own command, sonde by --duration."""
	if isinstance(tool, Perf):
		return [*tool.prefix(path), *target, "--", "sleep", str(SECONDS)]
	return [*tool.prefix(path), "--duration", f"{SECONDS}s", *target]


def attached(bench, tool):
	if tool.user is not None:
		raise Skip("of another user")
	with Postgres(bench) as pid:
		path, before = path_of(bench, tool), family_cpu_s(pid)
		children = subprocess.run(["pgrep", "-d,", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
		stderr, own_s = recorded(bench, tool, timed(tool, path, ["-p", f"{pid},{children}"]))
		return finish(tool, path, stderr, own_s, family_cpu_s(pid) - before)


def machine(bench, tool):
	"""Everything, while a build runs over and over."""
	if tool.user is not None:
		raise Skip("needs root")
	command = build(bench)
	loop = subprocess.Popen(["sh", "-c", 'while :; do "$@" || exit; done', "sh", *command], stdin=SINK, stdout=SINK, stderr=SINK,
		start_new_session=True)
	try:
		path, before = path_of(bench, tool), machine_cpu_s()
		stderr, own_s = recorded(bench, tool, timed(tool, path, ["-a"]))
		return finish(tool, path, stderr, own_s, machine_cpu_s() - before)
	finally:
		os.killpg(loop.pid, signal.SIGKILL)
		loop.wait()


ROWS = [
	("heavy-chromium", "chromium draws a page", launched(chromium)),
	("heavy-ffmpeg", "ffmpeg, testsrc2 → libx264", launched(ffmpeg)),
	("heavy-build", "make -j8 of Lua", launched(build)),
	("heavy-ruby", "ruby, a recursion", launched(ruby)),
	("heavy-python-perf", "python -X perf, a recursion", launched(python("perf"))),
	("heavy-python-jit", "python -X perf_jit, a recursion", launched(python("perf_jit"))),
	("heavy-postgres", "PostgreSQL under pgbench, attached", attached),
	("heavy-machine", "the whole machine (-a), make -j8 running", machine),
]


# ---- tables ----

def percent(part):
	return "–" if part is None else f"{100 * part:.2f} %"


def median_of(rounds, key):
	values = [found[key] for found in rounds if found[key] is not None]
	return statistics.median(values) if values else None


def line_of(what, load, tool, rounds):
	cells = [percent(median_of(rounds, key)) for key in ("lost", "whole", "total", "kernel")]
	own_s, used_s = median_of(rounds, "own_s"), median_of(rounds, "used_s")
	return [what, f"{load}", tool.label, *cells, f"{own_s:.2f} s of {used_s:.1f} s"]


def measure(bench, row, loads):
	"""The lines of a row: each load, each tool; tools take turns."""
	_, what, once = row
	found = []
	for load in loads:
		seen = {tool: [] for tool in TOOLS}
		why = {}
		with busy(load):
			for _ in range(1 if bench.is_quick else 5):
				for tool in TOOLS:
					try:
						seen[tool].append(once(bench, tool))
					except (Skip, OSError, subprocess.SubprocessError) as reason:
						why[tool] = reason
		for tool in TOOLS:
			found.append(line_of(what, load, tool, seen[tool]) if seen[tool] else
				[what, f"{load}", tool.label, f"not measured: {why[tool]}", "", "", "", ""])
	return found
