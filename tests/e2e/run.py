"""sonde run: the program's own behaviour first, then the report of it."""

import os

import harness
from harness import Skip, check, compile_c, sonde

FIB = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) unsigned long fib(unsigned long n)
{
	unsigned long r;
	if (n < 2)
		return n;
	r = fib(n - 1) + fib(n - 2);
	sink += r;
	return r;
}
int main(int argc, char **argv)
{
	unsigned long r;
	do /* for so much CPU time that it is sampled on any machine */
		r = fib(strtoul(argv[1], 0, 10));
	while (clock() < CLOCKS_PER_SEC / 10);
	printf("%lu\\n", r);
	return argc > 2 ? atoi(argv[2]) : 0;
}
"""


def run_fib(folder, *options, n="30", status=0, **more):
	program = compile_c(folder, FIB, "-O1", "-g", name="fib")
	result = sonde("run", *options, "--", program, n, *([str(status)] if status else []),
		cwd=folder, **more)
	if "doctor" in result.err:
		raise Skip("this machine does not let us record")
	return result


def test_shows_functions_and_tree(folder):
	result = check(run_fib(folder))
	assert result.out.startswith("832040\n"), result
	assert "Functions by exclusive" in result.out and "Call tree" in result.out, result
	assert "fib..." in result.out, result
	assert (folder / "sonde.prof").exists()


def test_exits_as_the_program_did(folder):
	assert run_fib(folder, status=7).status == 7


def test_view_options_count(folder):
	result = check(run_fib(folder, "--view", "modules", "-q"))
	assert "Modules by exclusive" in result.out and "Call tree" not in result.out, result
	assert "wrote" not in result.err, result


def test_the_recording_goes_where_it_is_told(folder):
	check(run_fib(folder, "-o", folder / "other.prof"))
	assert (folder / "other.prof").exists() and not (folder / "sonde.prof").exists()


def test_wrong_options_run_nothing(folder):
	marker = folder / "ran"
	for options in (["--veiw", "tree"], ["--view", "functions", "--collapse", "full"],
			["-o", "-"], ["--sort", "nonsense"]):
		result = check(sonde("run", *options, "touch", marker, cwd=folder), 125)
		assert result.err.startswith("sonde: run: ") and result.err.count("\n") == 1, result
	check(sonde("run", cwd=folder), 125)
	assert not marker.exists() and os.listdir(folder) == []


def test_commands_that_cannot_be_run(folder):
	check(sonde("run", "./not-there", cwd=folder), 127)
	(folder / "plain").write_text("not a program")
	check(sonde("run", "./plain", cwd=folder), 126)


harness.main()
