"""Zones in programs as people build them: static, with other C libraries, link-time optimization,
hardened, for size; and left by C++ exceptions."""

import os
import re
import shutil

import harness
from harness import BUILD_ROOT, SOURCE_ROOT, check, run

INCLUDE = f"-I{SOURCE_ROOT / 'include'}"
HEADER = f"-I{BUILD_ROOT / 'src/zones/package'}"
LIBRARY = BUILD_ROOT / "libsonde-zones.a"

PROGRAM = r"""
#define Prof_ENABLED
#ifdef SINGLE
#define Prof_IMPLEMENTATION
#include <sonde_zones.h>
#else
#include <prof.h>
#endif
#include <prof_internal.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void work(int times)
{
	for (; times; times--) {
		Prof_Begin(outer) Prof_Begin(inner) Prof_End Prof_End
	}
}
static void *live(void *unused)
{
	work(100);
	return unused;
}
int main(void)
{
	Prof_Report *report;
	pthread_t thread;
	int i;

	if (fork() == 0)
		return 0;
	Prof_set_average(0);
	work(1);
	Prof_update(1);
	for (i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, live, NULL);
		work(100);
		pthread_join(thread, NULL);
	}
	Prof_update(1);
	report = Prof_create_report();
	for (i = 0; i < report->num_record; i++)
		printf("%s %.0f\n", report->record[i].name, report->record[i].values[2]);
	Prof_free_report(report);
	return 0;
}
"""

EXCEPTIONS = r"""
#define Prof_ENABLED
#include <prof.h>
#include <prof_internal.h>
#include <cstdio>

Prof_Define(outer);

static void thrower(int n)
{
	Prof(thrower);
	if (!n)
		throw n;
	thrower(n - 1);
}
static void unended()
{
	Prof_Begin(unended) thrower(2);
	Prof_End
}
static void draws(int, int, int, float *, void *)
{
	throw 'x';
}
static void catches(void (*body)())
{
	try {
		Prof_Scope(outer);
		try {
			body();
		} catch (int) {
			Prof(handler);
			throw;
		}
	} catch (int) {
	}
}
static void throws()
{
	thrower(3);
}
int main()
{
	int left = 0;

	catches(throws);
	Prof_set_average(0);
	Prof_update(1);
	for (int i = 0; i < 10; i++)
		catches(throws);
	for (int i = 0; i < 5; i++)
		catches(unended);
	std::printf("depth %u\n", Prof_stack->depth);
	Prof_update(1);
	try {
		Prof_graph(10, draws, NULL);
	} catch (char) {
		left = 1;
	}
	Prof_Report *report = Prof_create_report();
	std::printf("left %d\n", left);
	for (int i = 0; i < report->num_record; i++)
		std::printf("%s %.0f\n", report->record[i].name, report->record[i].values[2]);
	std::printf("%s\n", report->title[1] ? report->title[1] : "balanced");
	Prof_free_report(report);
}
"""


def counts(text):
	return dict(re.findall(r"(?m)^(\w+) (\d+)$", text))


def build_and_run(folder, compiler, *flags, single=False):
	if not shutil.which(compiler):
		raise harness.Skip(f"no {compiler}")
	source = folder / "program.c"
	source.write_text(PROGRAM)
	more = ("-DSINGLE", HEADER) if single else ()
	done = run(compiler, *flags, *more, INCLUDE, source, "-o", folder / "program",
		*(() if single else (LIBRARY,)), "-lm", "-pthread")
	assert done.status == 0, (flags, done)
	found = counts(check(run(folder / "program")).out)
	assert found.get("outer") == "600" and found.get("inner") == "600", (flags, found)


@harness.takes_long
def test_static(folder):
	build_and_run(folder, "gcc", "-static")
	build_and_run(folder, "gcc", "-O2", "-static", "-pthread", single=True)


@harness.takes_long
def test_musl(folder):
	"""From the source, as its library is another one."""
	build_and_run(folder, "musl-gcc", "-O2", single=True)
	build_and_run(folder, "musl-gcc", "-Os", "-static", single=True)


@harness.takes_long
def test_link_time_optimization(folder):
	build_and_run(folder, "gcc", "-O2", "-flto=auto")
	build_and_run(folder, "gcc", "-O2", "-flto=auto", single=True)


@harness.takes_long
def test_clang(folder):
	build_and_run(folder, "clang", "-O2")
	build_and_run(folder, "clang", "-Oz", "-fcf-protection=full" if os.uname().machine == "x86_64" else "-O1",
		single=True)


@harness.takes_long
def test_hardened_and_small(folder):
	build_and_run(folder, "gcc", "-Os", "-fno-plt", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3",
		"-fstack-protector-strong", "-fstack-clash-protection", "-Wl,-z,relro,-z,now", single=True)
	build_and_run(folder, "gcc", "-O0", "-fno-pie", "-no-pie")


def test_exceptions(folder):
	if not shutil.which("g++"):
		raise harness.Skip("no g++")
	source = folder / "program.cpp"
	source.write_text(EXCEPTIONS)
	check(run("g++", "-std=c++11", INCLUDE, source, LIBRARY, "-o", folder / "program", "-lm", "-pthread"))
	out = check(run(folder / "program")).out
	found = counts(out)
	assert found["depth"] == "0" and found["left"] == "1", out
	assert found["outer"] == "15" and found["handler"] == "15" and found["unended"] == "5", out
	assert found["thrower"] == str(10 * 4 + 5 * 3), out
	# The five that were not ended, and by whose end they were left.
	assert "5 missing Prof_End; last: outer ended where unended was open" in out, out


harness.main()
