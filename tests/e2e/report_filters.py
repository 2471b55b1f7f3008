"""Filters and levels on recordings: threads, processes and times of programs that say what they do."""

import json

import harness
import recording
from harness import check, sonde
from recording import needs_sampling, record


def document(path, *args):
	return json.loads(check(sonde("report", path, "--format", "json", *args)).out)


def figures(path, *args):
	"""{name: exclusive} of a flat view, and its total."""
	report = document(path, *args)
	sums = {}
	for row in report["rows"]:
		sums[row["name"]] = sums.get(row["name"], 0) + row["exclusive"]
	return sums, report["total"]


def record_threads(folder):
	needs_sampling()
	return record(folder, recording.program(folder, "threads"), 4, harness.work(680))


@harness.takes_long
def test_threads_by_name_and_number(folder):
	path = record_threads(folder).path
	_, total = figures(path)
	rows, of_threads = figures(path, "--view", "threads")
	assert of_threads == total == sum(rows.values())
	by_name = {name: figures(path, "--thread", name)[1] for name in ("light", "heavy")}
	for name, kept in by_name.items():
		assert kept == sum(w for row, w in rows.items() if row.startswith(name + " (")), rows
	# Three times the work.
	assert 0.65 < by_name["heavy"] / sum(by_name.values()) < 0.85, by_name
	functions, _ = figures(path, "--thread", "heavy")
	assert "light" not in functions and functions.get("work", 0) + functions.get("spin", 0) > 0, \
		functions
	for row, weight in rows.items():
		number = row.rpartition(" ")[2].rstrip(")")
		assert figures(path, "--thread", number)[1] == weight, (row, weight)


LIBRARY = """
#include <time.h>
int __lib_spin(int ms)
{
	struct timespec t;
	volatile unsigned x = 0;
	do
		for (int i = 0; i < 10000; i++)
			x += i;
	while (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
	return x;
}
extern __typeof(__lib_spin) spin __attribute__((alias("__lib_spin")));
extern __typeof(__lib_spin) __spin __attribute__((weak, alias("__lib_spin")));
int main(int argc, char **argv) { return spin(MS) & argc & 0; }
"""


def test_functions_are_found_by_each_of_their_names(folder):
	needs_sampling()
	program = harness.compile_c(folder, LIBRARY, "-O0", "-g", f"-DMS={harness.work(200)}")
	path = record(folder, program).path
	rows, _ = figures(path)
	assert "spin" in rows and not {"__spin", "__lib_spin"} & set(rows), rows
	wanted = document(path, "--center", "spin")
	for name in ("__spin", "__lib_spin"):
		found = document(path, "--center", name)
		assert found["rows"] == wanted["rows"], (name, found, wanted)
		assert figures(path, "--focus", f"^{name}$") == figures(path, "--focus", "^spin$")
		assert figures(path, "--when", f".{name}->*") == figures(path, "--when", ".spin->*")
		check(sonde("annotate", path, name))


@harness.takes_long
def test_a_name_that_is_not_there_is_answered_with_the_nearest(folder):
	path = record_threads(folder).path
	result = check(sonde("report", path, "--thread", "haevy"), 1)
	assert "'heavy'" in result.err, result
	result = check(sonde("report", path, "--pid", "0"), 1)
	assert "it has threads (" in result.err, result


@harness.takes_long
def test_times_divide_a_recording(folder):
	r = record_threads(folder)
	path, middle = r.path, f"{r.stats['duration_ns'] // 2000000}ms"
	_, total = figures(path)
	_, first = figures(path, "--time", f":{middle}")
	_, second = figures(path, "--time", f"{middle}:")
	assert first + second == total and 0 < first < total, (first, second, total)


def test_processes(folder):
	needs_sampling()
	program = recording.program(folder, "threads")
	path = record(folder, "sh", "-c", f"{program} 2 {harness.work(100)}; {program} 2 {harness.work(100)}").path
	rows, total = figures(path, "--level", "process")
	assert sum(rows.values()) == total
	for row, weight in rows.items():
		number = row.rpartition("(")[2].rstrip(")")
		assert figures(path, "--pid", number)[1] == weight, (row, weight)
	assert figures(path, "--pid", "threads")[1] == sum(
		w for row, w in rows.items() if row.startswith("threads (")), rows


def test_every_level_has_the_whole(folder):
	path = record_threads(folder).path
	_, total = figures(path)
	for level in ("module", "file", "line", "instruction", "thread", "process"):
		rows, of_level = figures(path, "--level", level)
		assert of_level == total == sum(rows.values()), (level, rows)
		for row in document(path, "--level", level)["rows"]:
			assert row["exclusive"] <= row["inclusive"] <= total, (level, row)
	lines = [row for row in document(path, "--view", "lines")["rows"] if row["name"] == "thread_main"]
	assert lines and all(row["file"].endswith("threads.c") and row["line"] for row in lines), lines
	assert any(row["address"] for row in document(path, "--level", "instruction")["rows"])


def test_run_filters_its_report(folder):
	needs_sampling()
	program = recording.program(folder, "threads")
	result = check(sonde("run", "-q", "-o", folder / "run.prof", "--ignore", "light", "--view",
		"functions", program, 2, harness.work(125)))
	assert "\nignore light keeps " in result.out, result
	assert "light\n" not in result.out.partition("Functions by")[2], result


def test_patterns_that_take_too_long(folder):
	"""No answer, rather than one for the names that it did not come to."""
	path = folder / "long.folded"
	path.write_text(f"main;{'a' * 60}c 3\nmain;aab 2\n")
	for options in (["--focus", "(a+)+[bd]"], ["--hide", "(a|a)*[bd]$"], ["--same", "(a+)+[bd]=x"]):
		done = sonde("report", path, *options)
		assert done.status == 2 and "takes more than" in done.err and not done.out, (options, done)
	assert "aab" in check(sonde("report", path, "--focus", "^a+b$")).out


if __name__ == "__main__":
	harness.main()
