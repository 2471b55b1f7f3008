"""The pages of docs/howto/ that put sonde into other tools: what they say to copy is copied, and works.

CI jobs run step by step, with stand-ins for what the service provides; presets, tasks and gdb's
commands are given to the tools themselves, where a machine has them.
"""

import errno
import json
import os
import re
import shutil
import textwrap

import harness
import recording
from harness import BUILD_ROOT, SONDE, SOURCE_ROOT, check, run, sonde

# Lines and names that docs/howto/debugger.md shows: parse is called by work, and bench.c:8 is in its loop.
BENCH = r"""#include <stdio.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) static unsigned long parse(unsigned long n)
{
	unsigned long sum = 0;
	for (unsigned long i = 0; i < n; i++)
		sum += i * i ^ sum >> 3;
	return sum;
}
__attribute__((noinline)) static void work(clock_t end)
{
	while (clock() < end)
		sink += parse(20000);
}
int main(void)
{
	for (int i = 1; i <= 2; i++)
		work(i * (clock_t)(WORK_MS * 1e-3 * CLOCKS_PER_SEC));
	printf("%lu\n", sink);
}
"""
ZONED = r"""#include <prof.h>
__attribute__((noinline)) static void advance_by_one(void)
{
	Prof_Begin(step)
	__asm__ volatile("nop" ::: "memory");
	Prof_End
}
int main(void)
{
	for (int i = 0; i < 9; i++) {
		advance_by_one();
		Prof_update(1);
	}
}
"""
WORK_MS = harness.work(400)
MAKEFILE = f"bench: bench.c\n\tcc -O2 -g -DWORK_MS={WORK_MS} bench.c -o bench\n"
# In a name that no other process has, for -p.
NAME = f"bench{os.getpid()}"


def page(name):
	return (SOURCE_ROOT / "docs" / "howto" / f"{name}.md").read_text()


def blocks(text, language):
	return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def needs(*tools):
	for tool in tools:
		if not shutil.which(tool):
			raise harness.Skip(f"no {tool}")


def stand_ins(folder, **scripts):
	"""A folder for PATH, with sonde and these scripts."""
	place = folder / "stand-ins"
	place.mkdir()
	for name, script in {"sonde": f'exec "{SONDE}" "$@"', **scripts}.items():
		(place / name).write_text(f"#!/bin/sh\n{script}\n")
		(place / name).chmod(0o755)
	return place


def path_with(*folders):
	return os.pathsep.join([*map(str, folders), os.environ["PATH"]])


def steps(yaml, *keys):
	"""The shell commands of a job: the texts below these keys, in order. Enough YAML for what the page has."""
	found, lines = [], yaml.splitlines()
	indent = lambda line: len(line) - len(line.lstrip(" -"))
	for number, line in enumerate(lines):
		key, _, value = line.strip(" -").partition(":")
		if key not in keys:
			continue
		below = []
		for other in lines[number + 1:]:
			if len(other) - len(other.lstrip()) <= len(line) - len(line.lstrip()) or indent(other) <= indent(line):
				break
			below.append(other)
		if value.strip() == "|":
			found.append(textwrap.dedent("\n".join(below)) + "\n")
		elif value.strip():
			found.append(value.strip())
		else:
			found += [other.strip().removeprefix("- ") for other in below]
	return found


def check_yaml(yaml, commands, found_in):
	"""The commands, read by a whole parser if there is one."""
	try:
		import yaml as parser
	except ImportError:
		return
	assert found_in(parser.safe_load(yaml)) == commands


def write_project(folder):
	"""As it is in a repository that has followed the page."""
	(folder / "ci").mkdir(parents=True)
	(folder / "bench.c").write_text(BENCH)
	(folder / "Makefile").write_text(MAKEFILE)
	(folder / "ci" / "compare.sh").write_text(blocks(page("ci"), "sh")[0])


def assert_compared(folder, status):
	"""What a job leaves behind. Two runs of one program may differ on a busy machine: then the job fails, with 3."""
	profile = folder / "profile"
	text = (profile / "diff.txt").read_text()
	assert "Functions by change of exclusive cpu-time" in text, text
	assert "figures are sums of 5 runs in old, 5 in new" in text, text
	assert status in (0, 3), status
	assert any(";parse " in line for line in (profile / "new.folded").read_text().splitlines())
	assert len(list(profile.glob("???-?.prof"))) == 10
	return text


def needs_page(folder):
	(folder / "empty.folded").write_text("a 1\n")
	if "built without pages" in sonde("report", folder / "empty.folded", "-f", "html", "-o", os.devnull).err:
		raise harness.Skip("sonde is built without the page")


@harness.takes_hours
def test_github(folder):
	needs("bash", "curl", "make")
	recording.needs_sampling()
	needs_page(folder)
	yaml = next(block for block in blocks(page("ci"), "yaml") if "runs-on" in block)
	commands = steps(yaml, "run")
	check_yaml(yaml, commands,
		lambda data: [step["run"] for step in data["jobs"]["compare"]["steps"] if "run" in step])
	assert len(commands) == 6, commands
	for side in ("old", "new"):
		write_project(folder / side)
	place = stand_ins(folder, sudo=f'echo "$@" >> "{folder}/as-root"')
	env = {"HOME": str(folder), "SONDE_URL": (place / "sonde").as_uri(),
		"GITHUB_PATH": str(folder / "path"), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
	statuses = []
	for command in commands:
		added = (folder / "path").read_text().split() if (folder / "path").exists() else []
		env["PATH"] = path_with(*added, place) if "curl" not in command else os.environ["PATH"]
		(folder / "step").write_text(command)
		statuses.append(run("bash", "-e", folder / "step", cwd=folder, env=env))
	*before, compared, summary = statuses
	for result in (*before, summary):
		check(result)
	assert (folder / "as-root").read_text() == "sysctl kernel.perf_event_paranoid=1\n"
	assert "sonde record works here" in before[2].out, before[2]
	text = assert_compared(folder, compared.status)
	assert (folder / "summary.md").read_text() == f"```\n{text}```\n"
	assert "path: profile/" in yaml and "<html" in (folder / "profile" / "report.html").read_text()


@harness.takes_hours
def test_gitlab_in_a_container(folder):
	"""In a container, where perf events are refused."""
	needs("bash", "curl", "make", "git")
	needs_page(folder)
	deny = recording.program(folder, "deny_perf")
	if run(deny, errno.EPERM, "true").status == 77:
		raise harness.Skip("no seccomp here")
	yaml = next(block for block in blocks(page("ci"), "yaml") if "expose_as" in block)
	commands = steps(yaml, "before_script", "script")
	check_yaml(yaml, commands,
		lambda data: data["performance"]["before_script"] + data["performance"]["script"])
	write_project(folder / "origin")
	git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main")
	for args in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
		check(run(*git, *args, cwd=folder / "origin"))
	check(run("git", "clone", "-q", folder / "origin", folder / "clone"))
	place = stand_ins(folder)
	# As runners do: one shell, which ends with the first command that fails.
	(folder / "job").write_text("\n".join(commands) + "\n")
	result = run(deny, errno.EPERM, "bash", "-e", folder / "job", cwd=folder / "clone",
		env={"SONDE_URL": (place / "sonde").as_uri(), "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"})
	assert_compared(folder / "clone", result.status)
	assert "sonde record works here, by a preloaded library" in result.out, result
	assert "expose_as: profile\n    paths: [profile/]\n" in yaml


def cmake_commands(number):
	return [line for line in blocks(page("cmake"), "sh")[number].splitlines()]


@harness.takes_long
def test_cmake(folder):
	needs("cmake", "ctest")
	recording.needs_sampling()
	version = tuple(map(int, re.findall(r"\d+", check(run("cmake", "--version")).out)[:2]))
	if version < (3, 21):
		raise harness.Skip(f"cmake is older than presets of version 3: {version}")
	(folder / "bench.c").write_text(BENCH)
	(folder / "CMakePresets.json").write_text(blocks(page("cmake"), "json")[0])
	project, zones = blocks(page("cmake"), "cmake")
	(folder / "CMakeLists.txt").write_text(project + zones)
	place = stand_ins(folder)
	env = {"PATH": path_with(place), "CFLAGS": f"-DWORK_MS={WORK_MS / 4}"}
	shell = lambda command: check(run("sh", "-c", command, cwd=folder, env=env))
	*first, processes, bench = [shell(command) for command in cmake_commands(0)]
	assert "100% tests passed" in first[2].out, first[2]
	assert "bench" in processes.out and "ctest" in processes.out, processes
	assert "parse" in bench.out and "work" in bench.out, bench
	assert "bench.c:" in sonde("report", folder / "tests.prof", "--pid", "bench", "--view", "lines").out
	for command in cmake_commands(1):
		last = shell(command)
	assert "parse" in last.out, last
	launcher = [command if version >= (3, 29) else command.replace("TEST_LAUNCHER", "CROSSCOMPILING_EMULATOR")
		for command in cmake_commands(2)]
	for command in launcher:
		last = shell(command)
	assert "Functions by exclusive cpu-time" in last.out and "parse" in last.out, last


def task(tasks, label):
	return next(t for t in tasks["tasks"] if t["label"] == label)


@harness.takes_long
def test_tasks_of_vscode(folder):
	recording.needs_sampling()
	tasks = json.loads(blocks(page("vscode"), "json")[0])
	(folder / "build").mkdir()
	(folder / "bench.c").write_text(BENCH)
	check(run("cc", "-O2", "-g", f"-DWORK_MS={WORK_MS / 2}", folder / "bench.c", "-o", folder / "build" / "bench"))
	env = {"PATH": path_with(stand_ins(folder))}
	lines = task(tasks, "hot lines")
	for one in (task(tasks, lines["dependsOn"]), lines):
		assert one["type"] == "process" and one["options"]["cwd"] == "${workspaceFolder}"
		result = check(run(one["command"], *one["args"], cwd=folder, env=env))
	pattern = lines["problemMatcher"]["pattern"]
	problems = {}
	for line in result.out.splitlines():
		match = re.search(pattern["regexp"], line)
		if match:
			place = match[pattern["file"]], int(match[pattern["line"]])
			problems[place] = match[pattern["message"]], float(match[pattern["code"]])
	# Which of the loop's lines an interrupt hits depends on the processor.
	loop = [problems.get((str(folder / "bench.c"), line), ("parse", 0)) for line in (7, 8)]
	assert {function for function, _ in loop} == {"parse"} and 50 < sum(percent for _, percent in loop) <= 100.1, problems
	server = task(tasks, "profile in a browser")
	assert server["isBackground"] and server["args"][0] == "serve"
	assert re.search(pattern["regexp"], '/a.cpp,7,1.5,"f(int, char)"')[4] == "f(int, char)"


def gdb(folder, name, commands, program):
	"""What gdb prints, and the programs it runs, for these commands."""
	if run("gdb", "-batch", "-ex", "python print(1)").out.strip() != "1":
		raise harness.Skip("no gdb with Python")
	if run("gdb", "-batch", "-ex", "run", "true").status != 0:
		raise harness.Skip("gdb can't run programs here")
	script = folder / name
	script.write_text(commands)
	return ("gdb", "-q", "-nx", "-batch", "-ex", "set confirm off", "-x", script, program)


def needs_gdb():
	needs("gdb")
	if harness.SANITIZED:
		raise harness.Skip("the other build runs gdb")


def build_bench(folder, name="bench"):
	(folder / "bench.c").write_text(BENCH)
	program = folder / name
	check(run("cc", "-O2", "-g", f"-DWORK_MS={WORK_MS}", folder / "bench.c", "-o", program))
	return program


@harness.takes_long
def test_breakpoints_at_what_is_hot(folder):
	needs_gdb()
	recording.needs_sampling()
	program = build_bench(folder)
	recorded = recording.record(folder, program)
	hot = next(row for row in recorded.json("--level", "instruction")["rows"] if row["name"] == "parse")
	by_place, by_caller, _, _ = blocks(page("debugger"), "gdb")
	address = hex(hot["address"])
	assert "0x11ad" in by_place and "parse+29" in by_place
	named = check(run(*gdb(folder, "line.gdb", f"info line *{address}\n", program)))
	offset = re.search(r"<parse(?:\.constprop\.0)?\+(\d+)>", named.out)[1]
	text = by_place.replace("0x11ad", address).replace("+29", f"+{offset}")
	out = check(run(*gdb(folder, "place.gdb", text + "run\ndelete 1\ncontinue\nprint $pc - (long)&parse\n", program))).out
	assert "Breakpoint 1, parse" in out and re.search(rf"^\$1 = .*\b{int(offset):#x}\b|^\$1 = {offset}$", out, re.M), out
	out = check(run(*gdb(folder, "caller.gdb", by_caller + "run\nbt\n", program))).out
	assert re.search(r"^#0 +parse .*\n#1 .* in work ", out, re.M), out


@harness.takes_long
def test_recording_between_breakpoints(folder):
	needs_gdb()
	recording.needs_sampling()
	text = page("debugger")
	record, report = re.findall(r"^    (sonde .*part\.prof.*)$", text, re.M)
	env = {"PATH": path_with(stand_ins(folder))}
	program = build_bench(folder)
	gdb_part = " ".join(map(str, gdb(folder, "part.gdb", blocks(text, "gdb")[2] + "kill\n", program)[:-1])).replace(
		"set confirm off", "'set confirm off'")
	assert " gdb ./bench" in record

	def attempt():
		check(run("sh", "-c", record.replace(" gdb ", f" {gdb_part} "), cwd=folder, env=env))
		total = json.loads(check(run("sh", "-c", report + " -f json", cwd=folder, env=env)).out)["total"]
		# One of the two calls of work, and nothing of the other.
		assert 0.5 * WORK_MS * 1e6 < total < 1.2 * WORK_MS * 1e6, total
	recording.patiently(attempt)


@harness.takes_long
def test_a_program_that_gdb_has_stopped(folder):
	needs_gdb()
	recording.needs_sampling()
	record, report = re.findall(r"^    (sonde (?:record -p|report --metric).*)$", page("debugger"), re.M)
	program = build_bench(folder, NAME)
	command = record.replace("bench", NAME).replace("2s", "300ms")
	check(run(*gdb(folder, "stopped.gdb", f"break work\nrun\nshell {command}\nkill\n", program), cwd=folder,
		env={"PATH": path_with(stand_ins(folder))}))
	rows = json.loads(check(sonde(*report.split()[1:], "-f", "json", cwd=folder)).out)["rows"]
	blocked = {row["name"]: row["exclusive"] for row in rows}
	assert blocked["work"] > 100e6 and max(blocked.values()) == blocked["work"], rows
	assert json.loads(check(sonde("report", "-f", "json", cwd=folder)).out)["total"] == 0


@harness.takes_long
def test_zones_from_gdb(folder):
	needs_gdb()
	(folder / "zoned.c").write_text(ZONED)
	program = folder / NAME
	check(run("cc", "-O1", "-g", "-DProf_ENABLED", "-I", SOURCE_ROOT / "include", folder / "zoned.c",
		BUILD_ROOT / "libsonde-zones.a", "-lm", "-pthread", "-o", program))
	# Within the zone, whatever the compiler made of its lines; and the C library has a function called step.
	stop = next(i for i, line in enumerate(ZONED.splitlines(), 1) if "nop" in line)
	calls = run(*gdb(folder, "calls.gdb", "break main\nrun\nprint (int)Prof_report_writefile(\"tried.txt\")\nkill\n", program),
		cwd=folder)
	if calls.status or "$1 = " not in calls.out:
		raise harness.Skip(f"gdb can't call functions here: {calls.err.strip()}")
	text = page("debugger")
	(live,) = re.findall(r"^    (sonde live .*)$", text, re.M)
	out = check(run(*gdb(folder, "zones.gdb", f"break zoned.c:{stop}\nrun\nignore 1 5\ncontinue\n" + blocks(text, "gdb")[3]
		+ f"shell {live.replace('bench', NAME)}\nkill\n", program), cwd=folder,
		env={"PATH": path_with(stand_ins(folder))})).out
	assert re.search(r"step .* 1\.000", (folder / "zones.txt").read_text()), out
	top = re.search(r"^\$\d+ = (\{ticks = .*)", out, re.M)
	assert top and "depth = 1," in top[1] and "entries = 7," in top[1], out
	assert re.search(r"step .*[\d.]+ .*1\.000", out), out


harness.main()
