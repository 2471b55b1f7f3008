"""sonde annotate on programs whose hot lines are known: figures of lines and instructions, inlined calls,
recursion, and what is said where source or program are not what they were."""

import json
import os
import re

import harness
from harness import Skip, check, compile_c, run, sonde

# Two lines of work, in a ratio of about three to one; a third in a function that is inlined; a recursion.
PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

#define STEP(n) for (int i = 0; i < (n); i++) sink = sink * 2862933555777941757u + 3037000493u

static inline __attribute__((always_inline)) void inlined(int n)
{
	STEP(n); /* inlined line */
}

__attribute__((noinline)) void work(int rounds)
{
	for (int r = 0; r < rounds; r++) {
		STEP(3000); /* hot line */
		STEP(1000); /* warm line */
		inlined(1000); /* call line */
	}
}

__attribute__((noinline)) int deep(int depth, int rounds)
{
	if (depth > 0)
		return deep(depth - 1, rounds) + 1; /* recursion */
	work(rounds); /* bottom */
	return 0;
}

int main(int argc, char **argv)
{
	double ms = argc > 1 ? atof(argv[1]) : 1;
	struct timespec now;

	do {
		deep(20, 100);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < ms);
	return sink == 1;
}
"""


def recorded(folder, milliseconds=300):
	program = compile_c(folder, PROGRAM, "-O2", "-g", "-fno-optimize-sibling-calls")
	check(run(harness.SONDE, "record", "-q", "-o", folder / "a.prof", program, harness.work(milliseconds)))
	return program


def annotated(folder, function, *options):
	out = check(sonde("annotate", folder / "a.prof", function, "--format", "json", *options)).out
	return json.loads(out)


def line_of(text):
	"""Which line of the program holds a comment."""
	return next(i for i, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def rows(report, kind, line=None):
	return [r for r in report["rows"] if r["kind"] == kind and line in (None, r["line"])]


def share(report, found, key="exclusive"):
	return sum(r[key] for r in found) / report["total"]


def test_lines_have_their_shares(folder):
	recorded(folder, 800)
	report = annotated(folder, "work")
	hot, warm = (share(report, rows(report, "line", line_of(t))) for t in ("hot line", "warm line"))
	inlined = share(report, rows(report, "inline"))
	assert 0.48 < hot < 0.72, hot
	assert 0.12 < warm < 0.29, warm
	assert 0.12 < inlined < 0.29, inlined
	call = rows(report, "line", line_of("call line"))
	assert share(report, call) < 0.02 and share(report, call, "inclusive") > 0.12, call
	assert {r["function"] for r in rows(report, "inline")} == {"inlined"}
	assert rows(report, "line", line_of("hot line"))[0]["text"].strip().startswith("STEP(3000)")


@harness.takes_long
def test_confidence_adds_margins_alone(folder):
	"""Half a second of samples tells the hot line's share to some percent, and leaves the figures as they are."""
	recorded(folder, 500)
	plain, report = annotated(folder, "work"), annotated(folder, "work", "--confidence")
	margins = [(row.pop("exclusive_margin_percent"), row.pop("inclusive_margin_percent")) for row in report["rows"]]
	assert report == plain
	hot = report["rows"].index(rows(report, "line", line_of("hot line"))[0])
	assert 1 < margins[hot][0] < 30 and 1 < margins[hot][1] < 30, margins[hot]
	assert "±" in check(sonde("annotate", folder / "a.prof", "work", "--confidence")).out


def test_lines_and_instructions_agree(folder):
	recorded(folder)
	report = annotated(folder, "work")
	instructions = rows(report, "instruction")
	if any("capstone" in note["text"] for note in report["notes"]):
		raise Skip("built without capstone")
	assert all(r["text"] for r in instructions), instructions
	addresses = [r["address"] for r in instructions]
	assert addresses == sorted(set(addresses))
	for kind in ("hot line", "warm line", "inlined line"):
		line = line_of(kind)
		of_line = sum(r["exclusive"] for r in rows(report, "line", line) + rows(report, "inline", line))
		of_code = sum(r["exclusive"] for r in instructions if r["line"] == line)
		assert abs(of_line - of_code) < 0.03 * report["total"], (kind, of_line, of_code)
	assert max(r["inclusive"] for r in report["rows"]) <= report["function"]["inclusive"] <= report["total"]


@harness.takes_long
def test_recursion_is_counted_once(folder):
	recorded(folder, 800)
	report = annotated(folder, "deep")
	assert report["function"]["inclusive"] <= report["total"]
	for row in report["rows"]:
		assert row["inclusive"] <= report["function"]["inclusive"], row
	again = rows(report, "line", line_of("recursion"))
	assert share(report, again, "inclusive") > 0.9, again
	calls = [r for r in rows(report, "instruction") if r["inclusive"] > 0.9 * report["total"]]
	assert len(calls) >= 2, "the call of itself, and that of work"


def test_an_inlined_function_has_lines(folder):
	recorded(folder)
	report = annotated(folder, "inlined")
	assert share(report, rows(report, "line", line_of("inlined line"))) > 0.12
	assert not rows(report, "instruction")


def test_text_is_for_people(folder):
	recorded(folder)
	out = check(sonde("annotate", folder / "a.prof", "work")).out
	assert re.search(r"\d+\.\d%  +\d+  .*STEP\(3000\); /\* hot line \*/", out), out
	assert "inlined: inlined (program.c:" in out, out
	assert not re.search(r"[ \t]$", out, re.MULTILINE), "blanks at the ends of lines"
	narrow = check(sonde("annotate", folder / "a.prof", "work", "--width", "60")).out
	code = narrow.split("work  [")[1].split("note:")[0].splitlines()[4:]
	assert max(map(len, code)) <= 60, narrow
	coloured = check(sonde("annotate", folder / "a.prof", "work", "--color", "always")).out
	assert "\033[" in coloured and "\033[" not in out
	assert re.sub(r"\033\[[0-9;]*m", "", coloured).replace(" ", "") == out.replace(" ", "")


def notes(folder, *options):
	return " ".join(note["text"] for note in annotated(folder, "work", *options)["notes"])


def test_a_changed_program_is_not_used(folder):
	program = recorded(folder)
	os.unlink(program)
	assert "No such file" in notes(folder)
	program.write_bytes(b"\x7fELF, and nothing more")
	assert "no instructions" in notes(folder)
	other = compile_c(folder, PROGRAM.replace("3000)", "3001)"), "-O2", "-g", name="other")
	os.replace(other, program)
	assert "another build" in notes(folder)
	report = annotated(folder, "work")
	assert share(report, rows(report, "instruction")) > 0.9, "addresses keep their figures"
	assert all(r["text"] is None for r in rows(report, "instruction"))


def test_a_damaged_program_does_no_harm(folder):
	"""With its build-id in place, and the rest of it cut or scrambled."""
	program = recorded(folder)
	whole = program.read_bytes()
	for size in (64, 1000, len(whole) // 4, len(whole) // 2, len(whole) - 100):
		program.write_bytes(whole[:size])
		check(sonde("annotate", folder / "a.prof", "work"))
	for begin in range(0x1000, len(whole), max(1, len(whole) // 12)):
		damaged = bytearray(whole)
		damaged[begin:begin + 200] = bytes((i * 37 + begin) & 255 for i in range(200))[:len(whole) - begin]
		program.write_bytes(damaged)
		check(sonde("annotate", folder / "a.prof", "work", "--limit", "0"))


def test_source_is_looked_for(folder):
	recorded(folder)
	recorded_path = annotated(folder, "work")["function"]["file"]
	below, name = os.path.split(recorded_path)
	elsewhere = folder / "elsewhere"
	elsewhere.mkdir()
	assert "--source-map" in notes(folder, "--source-map", f"{below}={elsewhere}")
	(elsewhere / name).write_text("\n".join(["replaced\x1b[31m line"] * 60))
	out = check(sonde("annotate", folder / "a.prof", "work", "--source", "--source-map",
		f"{below}={elsewhere}")).out
	assert "replaced\\x1b[31m line" in out and "\x1b" not in out, out
	assert f"{elsewhere / name} was changed after the recording" in out, out
	# Shorter than it was, no text at all, and no file.
	(elsewhere / name).write_text("one line\n")
	check(sonde("annotate", folder / "a.prof", "work", "--source-map", f"{below}={elsewhere}"))
	(elsewhere / name).write_bytes(b"\0\1\2" * 100)
	assert "not a text file" in notes(folder, "--source-map", f"{below}={elsewhere}")
	(elsewhere / name).unlink()
	os.mkfifo(elsewhere / name)
	assert "no source" in notes(folder, "--source-map", f"{below}={elsewhere}")


@harness.takes_long
def test_filters_choose_the_samples(folder):
	recorded(folder, 800)
	assert annotated(folder, "work", "--ignore", "^work$")["function"]["inclusive"] == 0
	hidden = annotated(folder, "deep", "--hide", "^work$")
	bottom = rows(hidden, "line", line_of("bottom"))
	assert share(hidden, bottom) > 0.5, "what is hidden is its caller's"


harness.main()
