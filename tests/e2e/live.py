"""sonde live on programs that run, stop, end and are killed: what it shows is what they have counted
themselves."""

import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import time

import harness
from harness import BUILD_ROOT, SONDE, SOURCE_ROOT, check, compile_c, run, sonde

ZONES = ("frame", "outer", "inner", "leaf")
LIBRARY = BUILD_ROOT / "libsonde-zones.a"


class Program:
	"""counted.c, running; `told` is what it said it has done. Ended by leaving the block."""

	def __init__(self, folder, *ways, name="counted", start=(), **more):
		if not LIBRARY.exists():
			raise harness.Skip("libsonde-zones.a is not built")
		# A name of its own: other programs with zones may run, too.
		path = compile_c(folder, SOURCE_ROOT / "tests/programs/zones/counted.c", "-O2", "-g", "-I",
			SOURCE_ROOT / "include", "-pthread", "-Wl,--whole-archive", LIBRARY, "-Wl,--no-whole-archive", "-lm")
		self.name = f"{name}{os.getpid()}"
		self.path = path.rename(path.with_name(self.name))
		self.process = subprocess.Popen([*start, self.path, *ways], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
			cwd=folder, **more)
		self.pid = self.process.pid
		self.listen()

	def listen(self):
		"""Waits until it has told, of whichever process."""
		self.teller, self.told = None, {}
		for line in iter(self.process.stdout.readline, b".\n"):
			assert line, "it has ended"
			name, number = line.decode().split()
			if name == "done":
				self.teller = int(number)
			else:
				self.told[name] = int(number)

	def go_on(self):
		self.process.stdin.write(b"\n")
		self.process.stdin.flush()

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.process.kill()
		self.process.wait()
		self.process.stdin.close()
		self.process.stdout.close()


def look(target, *options, **more):
	return json.loads(check(sonde("live", target, "--once", "--format", "json", *options, **more)).out)


def zones_of(report):
	return {z["name"]: z for z in report["zones"]}


def entries_of(report):
	zones = zones_of(report)
	return {name: zones[name]["entries"] for name in ZONES}


def listed():
	"""Programs by pid."""
	return {p["pid"]: p for p in json.loads(check(sonde("live", "--format", "json")).out)["programs"]}


def trouble_of(report):
	"""Nothing where it is but what measuring costs, which depends on the machine."""
	trouble = report["trouble"] or ""
	return "" if re.fullmatch(r"estimated .*% profile overhead.*", trouble) else trouble


def test_lists_programs_with_zones(folder):
	with Program(folder) as program:
		mine = listed()[program.pid]
		assert mine["program"] == program.name and mine["problem"] is None
		assert mine["state"] == "running" and mine["threads"] == 1
		assert mine["frames"] == 50 and mine["frame_ms"] > 0 and mine["uptime_ns"] > 0
		assert mine["zones"] == 5, mine
		text = check(sonde("live")).out
		assert re.search(rf"^ *{program.pid} +1 +5 +50 +[\d.]+ +[\d.]+  {program.name}$", text, re.M), text
	assert program.pid not in listed()


def test_counts_are_the_programs_own(folder):
	with Program(folder) as program:
		report = look(program.pid)
		assert entries_of(report) == program.told
		assert report["program"] == program.name and report["state"] == "running"
		assert report["frames"]["of"] == "frame" and report["frames"]["kept"] == 50
		assert report["streams"] == [{"name": "frame", "frames": 50}]
		assert set(report["troubles"].values()) == {0} and not trouble_of(report)
		assert [t["state"] for t in report["threads"]] == ["thread"]
		assert zones_of(report)["leaf"]["recursion"] == 1
		assert zones_of(report)["leaf"]["file"].endswith("counted.c")
		program.go_on()
		program.listen()
		assert entries_of(look(program.pid)) == program.told
		assert program.told["frame"] == 100


def test_times_close(folder):
	"""Self times of all zones are the time of the root; the whole's of one zone what is below it."""
	with Program(folder) as program:
		program.process.send_signal(signal.SIGSTOP)
		zones = zones_of(look(program.pid))
		whole, parts = zones["_global"]["total_ns"], sum(z["self_ns"] for z in zones.values())
		assert abs(whole - parts) < 1000, (whole, parts)
		outer = zones["outer"]["total_ns"]
		assert outer <= zones["frame"]["total_ns"] <= whole
		assert zones["inner"]["total_ns"] + zones["outer"]["self_ns"] - outer in range(-5, 6)


def test_text_shows_the_displays(folder):
	with Program(folder) as program:
		text = check(sonde("live", program.pid, "--once", "--frames", "run", "--mode", "hier")).out
		assert re.match(r"[0-9.]+ ms in all  sort hier\n", text), text
		rows = {line.split()[0].lstrip("+"): line.split() for line in text.splitlines()[2:]}
		assert "sort hier" in text.splitlines()[0]
		assert float(rows["outer"][-1]) == program.told["outer"], text
		graph = check(sonde("live", program.name, "-1", "--zone", "inner", "--frames", "run")).out
		names = [line.split()[0] for line in graph.splitlines()[2:]]
		assert names == ["+outer", "-inner", "leaf"] or names == ["+outer", "-inner", "+leaf"], graph


def test_switched_off_is_said(folder):
	"""Else a program without zones, or one in none, looks just so."""
	with Program(folder, env={"SONDE_ZONES": "off"}) as program:
		assert "zones are switched off\n" in check(sonde("live", program.pid, "--once")).out
		assert look(program.pid)["is_off"]
		check(sonde("live", program.pid, "--save", folder / "off.zones"))
	text = check(sonde("report", folder / "off.zones")).out
	assert "note: zones of a program were switched off" in text, text
	with Program(folder) as program:
		assert "switched off" not in check(sonde("live", program.pid, "--once")).out


def test_graph_sums_close(folder):
	with Program(folder) as program:
		rows = look(program.pid, "--zone", "leaf", "--frames", "run")["rows"]
		focus = [r for r in rows if r["kind"] == "focus"][0]
		callers = [r for r in rows if r["kind"] == "caller"]
		assert {r["name"] for r in callers} == {"frame", "inner"}
		for key in "self_ms", "hier_ms", "count":
			assert abs(sum(r[key] for r in callers) - focus[key]) < 1e-3, (key, rows)
		assert [r["count"] for r in rows if r["kind"] == "recursion"] == [program.told["inner"]]


def test_open_zones_show_their_time_so_far(folder):
	with Program(folder) as program:
		first = zones_of(look(program.pid))["waiting"]
		time.sleep(0.3)
		second = zones_of(look(program.pid))["waiting"]
		assert first["open"] == second["open"] == 1
		assert second["total_ns"] - first["total_ns"] > 290_000_000


@harness.takes_long
def test_watches_for_a_while(folder):
	with Program(folder, "hard") as program:
		report = look(program.pid, "--for", "400ms", "--frames", "looks")
		assert 1 <= report["frames"]["kept"] <= 10
		worker = [r for r in report["rows"] if r["name"] == "worker"][0]
		assert worker["count"] > 1 and worker["self_ms"] > 0
		mine = look(program.pid, "--thread", "worker-thread", "--for", "100ms", "--frames", "looks")
		assert mine["slot"] == 1
		assert "worker" in [r["name"] for r in mine["rows"]]
		assert "outer" not in [z["name"] for z in mine["zones"]]


def test_stopped_program(folder):
	with Program(folder) as program:
		program.process.send_signal(signal.SIGSTOP)
		os.waitpid(program.pid, os.WUNTRACED)
		report = look(program.pid)
		assert report["state"] == "stopped" and entries_of(report) == program.told
		assert "(stopped)" in check(sonde("live")).out


def watch(program, *options):
	"""sonde live --for, in the background, once it has attached."""
	watcher = subprocess.Popen([SONDE, "live", str(program.pid), "--format", "json", *options],
		stdout=subprocess.PIPE)
	# It has the memory mapped as soon as it has attached.
	while "memfd:sonde-zones" not in pathlib.Path(f"/proc/{watcher.pid}/maps").read_text():
		assert watcher.poll() is None
		time.sleep(0.01)
	time.sleep(0.1)
	return watcher


def test_killed_program_stays_as_it_was(folder):
	with Program(folder) as program:
		watcher = watch(program, "--for", "60s")
		program.process.kill()
		program.process.wait()
		report = json.loads(watcher.communicate(timeout=60)[0])
		assert report["state"] == "ended" and entries_of(report) == program.told
		assert report["detail"] in ("killed by SIGKILL", None)
		waiting = zones_of(report)["waiting"]
		assert waiting["open"] == 1 and waiting["total_ns"] < 60_000_000_000


def test_exec_ends_it(folder):
	with Program(folder, "exec") as program:
		watcher = watch(program, "--for", "60s")
		program.go_on()
		report = json.loads(watcher.communicate(timeout=60)[0])
		assert report["state"] == "ended" and report["detail"] == "runs another program now"
		assert entries_of(report) == program.told
		result = check(sonde("live", program.pid, "--once"), 1)
		assert "has no zones" in result.err


@harness.takes_long
def test_killed_reader_disturbs_nobody(folder):
	with Program(folder, "hard") as program:
		for _ in range(5):
			watcher = watch(program, "--for", "60s")
			watcher.kill()
			watcher.communicate()
		program.go_on()
		program.listen()
		assert entries_of(look(program.pid)) == program.told


def test_file_of_a_killed_program(folder):
	with Program(folder, env={**os.environ, "SONDE_ZONES": "file=%p.zones"}) as program:
		path = folder / f"{program.pid}.zones"
		# It runs: by its number, and by its file.
		assert entries_of(look(program.pid)) == program.told
		assert look(path)["state"] == "running"
		assert listed()[program.pid]["problem"] is None
		program.process.kill()
		program.process.wait()
		report = look(path)
		assert report["state"] == "saved" and entries_of(report) == program.told
		assert zones_of(report)["waiting"]["open"] == 1
		assert report["is_lower_bound"] and "took at least as long" in report["trouble"]
		assert "its end is not known: open zones took at least as long as shown" in check(sonde("live", path, "-1")).out
		assert "it is not known when the program ended" in check(sonde("report", path)).out
		# Saved, it says the same.
		check(sonde("live", path, "--save", folder / "saved.zones"))
		assert look(folder / "saved.zones")["is_lower_bound"]
		assert "it is not known when the program ended" in check(sonde("report", folder / "saved.zones")).out


RETURNS = """
#define Prof_ENABLED
#include <prof.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static void nap(long ms)
{
	struct timespec time = {0, ms * 1000000};
	nanosleep(&time, 0);
}
static sem_t sleeps;
static void *sleep_on(void *none)
{
	Prof_Block(sleeping);
	sem_post(&sleeps);
	for (;;)
		pause();
	return none;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	Prof_Begin(whole)
	nap(20);
	pthread_create(&thread, 0, sleep_on, 0);
	sem_wait(&sleeps);
	nap(60);
	if (argc > 1 && *argv[1] == 'e')
		exit(0);
	if (argc > 1 && *argv[1] == '_')
		_exit(0);
	Prof_End
	return 0;
}
"""


def test_file_of_a_program_that_has_ended(folder):
	program = harness.compile_c(folder, RETURNS, "-O1", "-I", harness.SOURCE_ROOT / "include",
		"-Wl,--no-as-needed", harness.BUILD_ROOT / "libsonde-zones.so", f"-Wl,-rpath,{harness.BUILD_ROOT}")
	path = folder / "ended.zones"
	for how in "returns", "exits", "_exits":
		check(run(program, how, env={"SONDE_ZONES": f"file={path}"}))
		told, report = how != "_exits", look(path)
		assert report["is_lower_bound"] == (not told), (how, report)
		assert ("it is not known when the program ended" in check(sonde("report", path)).out) == (not told), how
		# What was open at the end took until then: 60 ms and more, and nothing else in memory tells.
		zones = zones_of(report)
		assert zones["sleeping"]["open"] == 1 and zones["whole"]["open"] == (how != "returns"), zones
		rows = json.loads(check(sonde("report", path, "--format", "json", "--metric", "zone-time")).out)["rows"]
		slept = next((r["inclusive"] for r in rows if r["name"] == "sleeping"), 0)
		assert (slept >= 60e6) == told, (how, slept)


CRASHES = """
#define Prof_ENABLED
#include <prof.h>
#include <stdlib.h>
static void descend(int n)
{
	Prof_Block(path);
	if (n > 0)
		descend(n - 1);
	else {
		Prof_Block(dereference);
		abort();
	}
}
int main(void)
{
	Prof_thread_name("one\\033two");
	Prof_Block(frame);
	descend(9);
}
"""


def test_where_a_crashed_program_was(folder):
	program = harness.compile_c(folder, CRASHES, "-O1", "-I", harness.SOURCE_ROOT / "include",
		"-Wl,--no-as-needed", harness.BUILD_ROOT / "libsonde-zones.so", f"-Wl,-rpath,{harness.BUILD_ROOT}")
	run(program, env={"SONDE_ZONES": f"file={folder}/crashed.zones"})
	text = check(sonde("live", folder / "crashed.zones", "--once")).out
	assert re.search(r"^open at the end, thread \d+ \(one\\x1btwo\): \.\.\. > (path > ){5}dereference$", text,
		re.MULTILINE), text


def report_entries(path):
	rows = json.loads(check(sonde("report", path, "--metric", "zone-entries", "--format", "json")).out)["rows"]
	return {r["name"]: r["exclusive"] for r in rows if r["name"] in ZONES}


def test_saved_is_a_profile(folder):
	with Program(folder) as program:
		path = folder / "state.zones"
		assert check(sonde("live", program.name, "--save", path)).out == ""
		program.go_on()
		first = program.told
		program.listen()
	assert os.stat(path).st_blocks * 512 < 1 << 20 < os.stat(path).st_size
	assert entries_of(look(path)) == report_entries(path) == first
	waiting = zones_of(look(path))["waiting"]
	assert not look(path)["is_lower_bound"] and not trouble_of(look(path))
	time.sleep(0.05)
	assert zones_of(look(path))["waiting"] == waiting
	for view in "functions", "tree", "graph", "callers", "threads", "stats", "modules", "deep":
		check(sonde("report", path, "--view", view))
	graph = json.loads(check(sonde("report", path, "--view", "graph", "--format", "json")).out)["rows"]
	called = {r["name"]: r["called"] for r in graph if r["called"]}
	assert called["leaf"] == {"outside": first["leaf"] - first["inner"], "inside": first["inner"]}
	run("gzip", "-1", path)
	assert entries_of(look(f"{path}.gz")) == report_entries(f"{path}.gz") == first


def test_saved_streams_have_their_rows(folder):
	"""A program without frames: its other streams' ticks hold what its zones did."""
	with Program(folder, "stream") as program:
		path = folder / "state.zones"
		check(sonde("live", program.pid, "--save", path))
	rows = json.loads(check(sonde("report", path, "--view", "zones", "--format", "json")).out)["rows"]
	rows = {r["name"]: r for r in rows}
	assert rows["frame"]["ticks"] == 50 and rows["frame"]["entries_per_tick"] == 1
	assert rows["leaf"]["entries_per_tick"] * 50 == rows["leaf"]["entries"] == program.told["leaf"]
	part = json.loads(check(sonde("report", path, "--view", "zones", "--tick", "request=-10:", "--format", "json")).out)
	assert {r["name"]: r["entries"] for r in part["rows"]}["frame"] == 10


@harness.takes_long
def test_saved_events_are_whole(folder):
	"""The ring is overwritten, many times a second, while it is copied."""
	with Program(folder, "hard", env={**os.environ, "SONDE_ZONES": "events"}) as program:
		time.sleep(0.3)
		for _ in range(3):
			check(sonde("live", program.pid, "--save", folder / "state.zones"))
			dump = check(sonde("convert", folder / "state.zones", "-o", "-", "--to", "dump")).out
			events = [(int(time_ns), stack) for time_ns, stack in
				re.findall(r"^zone-event thread 1 time (\d+) stack (\d+)$", dump, re.MULTILINE)]
			assert len(events) > 10_000
			# In and out in turn; one at the beginning may be said many times over.
			begin = next(i for i, event in enumerate(events) if event != events[0])
			assert all(a[1] != b[1] and a[0] <= b[0] for a, b in zip(events[begin:], events[begin + 1:]))
			assert len({stack for _, stack in events}) == 2


def test_saving_is_whole_or_not_at_all(folder):
	with Program(folder) as program:
		path = folder / "old.zones"
		path.write_text("old")
		result = sonde("live", program.pid, "--save", path,
			preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
		assert result.status != 0 and path.read_text() == "old"
		assert len(list(folder.glob("old.zones*"))) == 1
		assert "expected a file name" in check(sonde("live", program.pid, "--save", "-"), 2).err


def core_of(folder):
	pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
	if pattern.startswith("|") or "/" in pattern:
		raise harness.Skip(f"core dumps go to {pattern}")
	for _ in range(100):
		for path in folder.glob("core*"):
			return path
		time.sleep(0.1)
	raise harness.Skip("no core dump was written")


def test_core_dump(folder):
	unlimited = lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
	if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
		raise harness.Skip("core dumps are forbidden")
	with Program(folder, "abort", preexec_fn=unlimited) as program:
		told = program.told
		program.go_on()
		program.process.wait(timeout=60)
		core = core_of(folder)
		report = look(core)
		assert report["state"] == "saved" and entries_of(report) == told
		assert zones_of(report)["waiting"]["open"] == 1
		assert f"'sonde live {core} --save FILE' takes them out" in check(sonde("report", core), 1).err
		check(sonde("live", core, "--save", folder / "taken.zones"))
		assert report_entries(folder / "taken.zones") == told
		with open(core, "r+b") as file:
			file.truncate(100_000)
		assert "truncated" in check(sonde("live", core), 1).err


def test_closed_descriptors(folder):
	with Program(folder, "close") as program:
		result = sonde("live", program.pid, "--format", "json")
		if result.status:
			assert "sudo" in result.err
			raise harness.Skip("the memory of others may be read by root alone")
		assert entries_of(json.loads(result.out)) == program.told
		assert listed()[program.pid]["problem"] is None
		program.go_on()
		program.listen()
		assert entries_of(look(program.pid)) == program.told


def test_forked_programs_have_their_own(folder):
	with Program(folder, "fork") as program:
		child, childs = program.teller, program.told
		program.listen()
		try:
			assert program.teller == program.pid != child
			assert entries_of(look(program.pid)) == program.told
			assert entries_of(look(child)) == childs
			assert {child, program.pid} <= set(listed())
			several = check(sonde("live", program.name, "--once"), 1).err
			assert str(child) in several and str(program.pid) in several
		finally:
			os.kill(child, signal.SIGKILL)


def test_program_in_a_container(folder):
	"""In a pid namespace of its own the program, and so its memory, knows other numbers."""
	if not shutil.which("unshare") or run("unshare", "--pid", "--fork", "--mount-proc", "true").status:
		raise harness.Skip("no pid namespaces here")
	with Program(folder, "hard", start=["unshare", "--pid", "--fork", "--kill-child"]) as program:
		assert program.teller < 10, "it sees its own namespace's numbers"
		pid = int(run("pgrep", "-x", "-P", str(program.process.pid), program.name[:15]).out)
		report = look(pid)
		assert entries_of(report) == program.told and report["pid"] == pid
		assert listed()[pid]["problem"] is None
		assert [t["name"] for t in report["threads"]] == [program.name[:15], "worker-thread"]
		result = check(sonde("live", program.name, "--format", "json"))
		assert json.loads(result.out)["pid"] == pid


def test_other_users(folder):
	if os.geteuid() != 0:
		raise harness.Skip("needs root to become another user")
	other = {"user": 65534, "group": 65534, "extra_groups": []}
	copy = pathlib.Path(shutil.copy(SONDE, folder / "sonde"))
	os.chmod(folder, 0o755)
	with Program(folder) as program:
		result = check(run(copy, "live", program.pid, "--once", **other), 1)
		assert "belongs to root" in result.err and "sudo sonde live" in result.err
		seen = json.loads(check(run(copy, "live", "--format", "json", **other)).out)
		assert program.pid not in [p["pid"] for p in seen["programs"]] and seen["hidden"] > 0
		with Program(folder, name="theirs", **other):
			assert "this user may not inspect" in check(run(copy, "live", "--once", **other)).err
	with Program(folder, name="other", **other) as program:
		assert entries_of(json.loads(check(run(copy, "live", program.pid, "--format", "json", **other)).out)) \
			== program.told
		assert entries_of(look(program.pid)) == program.told
	with Program(folder, "hide", name="hidden", **other) as program:
		result = check(run(copy, "live", program.pid, "--once", **other), 1)
		assert "does not let other programs inspect its zones" in result.err, result
		assert entries_of(look(program.pid)) == program.told


def test_what_has_no_zones(folder):
	with subprocess.Popen(["sleep", "60"]) as process:
		assert "has no zones: link it with" in check(sonde("live", process.pid, "-1"), 1).err
		process.kill()
	assert "no such process" in check(sonde("live", process.pid, "-1"), 1).err
	assert "no running program with zones named" in check(sonde("live", "no-such-program", "-1"), 1).err
	(folder / "text").write_text("text")
	assert "neither zones memory nor a core dump" in check(sonde("live", folder / "text"), 1).err
	(folder / "empty").write_text("")
	assert "too short" in check(sonde("live", folder / "empty"), 1).err
	assert "one program" in check(sonde("live", 1, 2), 2).err
	assert "need --once" in check(sonde("live", 1, "--for", "1s"), 2).err
	assert "a terminal" in check(sonde("live", "--zone", "x"), 2).err
	zombie = subprocess.Popen(["true"])
	os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
	assert "has ended" in check(sonde("live", zombie.pid, "-1"), 1).err
	zombie.wait()


def test_wrong_names_are_helped(folder):
	with Program(folder) as program:
		assert "did you mean 'outer'" in check(sonde("live", program.pid, "-1", "--zone", "outre"), 1).err
		assert "did you mean" in check(sonde("live", program.name[:-1], "-1"), 1).err
		assert "there are: frame, auto, run, looks" in \
			check(sonde("live", program.pid, "-1", "--frames", "films"), 1).err
		assert "no thread" in check(sonde("live", program.pid, "-1", "--thread", "x"), 1).err


def test_programs_called_as_their_file_is(folder):
	"""As it is for whoever has just built one."""
	with Program(folder) as program, Program(folder, name="other") as other:
		for name in program.name, "./" + program.name, program.path:
			assert look(name, cwd=folder)["pid"] == program.pid
		twin = subprocess.Popen([program.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
		twin.stdout.readline()
		for name in program.name, "./" + program.name:
			result = check(sonde("live", name, "-1", cwd=folder), 1)
			assert f"2 programs with zones are called '{program.name}'" in result.err, result
		twin.kill()
		twin.communicate()
	assert "nor zones memory" in check(sonde("live", other.path, "-1"), 1).err


def test_no_proc(folder):
	script = f"mount -t tmpfs none /proc && exec {SONDE} live --once"
	result = run("unshare", "-m", "sh", "-c", script)
	if "unshare" in result.err or "mount" in result.err:
		raise harness.Skip("needs a mount namespace")
	assert "/proc is not mounted" in check(result, 1).err


def page_commands():
	"""What the man page and docs/formats/zones.md show."""
	man = (SOURCE_ROOT / "man/sonde-live.1").read_text().partition(".SH EXAMPLES")[2]
	yield from re.findall(r"^\.B (sonde .*)$", man.replace("\\-", "-"), re.MULTILINE)
	page = (SOURCE_ROOT / "docs/formats/zones.md").read_text()
	for block in re.findall(r"^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
		yield from block.splitlines()


def test_commands_of_pages(folder):
	commands = list(page_commands())
	assert len(commands) >= 7
	with Program(folder) as program:
		for command in commands:
			for name, mine in ("game", program.name), ("physics", "inner"), ("4711", str(program.pid)):
				command = re.sub(rf"\b{name}\b", mine, command)
			# Here is no terminal.
			if re.fullmatch(r"sonde live \w+", command):
				command += " --once"
			result = check(run("sh", "-c", 'sonde() { "$SONDE" "$@"; }\n' + command, cwd=folder,
				env={"SONDE": SONDE}))
			assert result.out or "--save" in command, command


def mutate(file, used, dice):
	"""Changes some words of the file, in the used parts; what undoes it."""
	old = []
	for _ in range(dice.choice((1, 2, 8, 64))):
		at = dice.choice((0, dice.choice(used))) + dice.randrange(0, 4096, 4)
		old.append((os.pread(file, 4, at), at))
		os.pwrite(file, dice.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", dice.randbytes(4))), at)
	return reversed(old)


@harness.takes_long
def test_hostile_files(folder):
	path = folder / "bad.zones"
	with Program(folder) as program:
		check(sonde("live", program.pid, "--save", path))
	good = path.read_bytes()
	used = [at for at in range(0, len(good), 4096) if any(good[at:at + 4096])]
	file = os.open(path, os.O_RDWR)
	for seed in range(300 if harness.LONG else 30):
		undo = mutate(file, used, random.Random(seed))
		for command in ("live", path, "--format", "json"), ("report", path):
			result = sonde(*command)
			assert result.status in (0, 1), (seed, command, result)
			assert result.status == 0 or result.err.count("\n") == 1, (seed, command, result)
		for words, at in undo:
			os.pwrite(file, words, at)
	os.close(file)


if __name__ == "__main__":
	harness.main()
