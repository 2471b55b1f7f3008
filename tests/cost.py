"""What a run of tests costs: CPU seconds by file, and the budget of the whole run.

A budget is in CPU seconds of a reference machine, as a clock on the wall shows the load of a machine and CPU seconds
show its kind. How fast this one is comes from a fixed piece of work, done by as many processes at once as tests run
at once, before the first test and after the last: arithmetic of an interpreter, and starting processes, which is what
tests do most.
"""

import resource
import statistics
import subprocess
import sys

# CPU seconds that WORK takes on the reference machine: two CPUs of an AMD EPYC (virtual), Debian 12.
REFERENCE_SECONDS = 0.85
WORK = """
import subprocess
for _ in range(5):
	n = 0
	for i in range(2000000): n = n * 31 + i & 0xffff
	for _ in range(40): subprocess.run(["sh", "-c", ": ; /bin/true"])
"""
# Files that take less are one row.
LEAST_SECONDS = 2.0


def cpu_seconds_of(usage):
	return usage.ru_utime + usage.ru_stime


def run_and_measure(command, **more):
	"""(exit status, CPU seconds of the command and all that it waited for)."""
	before = cpu_seconds_of(resource.getrusage(resource.RUSAGE_CHILDREN))
	status = subprocess.run(command, **more).returncode
	return status, cpu_seconds_of(resource.getrusage(resource.RUSAGE_CHILDREN)) - before


def measure_slowness(jobs):
	"""How many times as long as on the reference machine work takes here, now."""
	before = cpu_seconds_of(resource.getrusage(resource.RUSAGE_CHILDREN))
	children = [subprocess.Popen([sys.executable, "-c", WORK]) for _ in range(jobs)]
	for child in children:
		child.wait()
	used = cpu_seconds_of(resource.getrusage(resource.RUSAGE_CHILDREN)) - before
	return used / jobs / REFERENCE_SECONDS


class Budget:
	"""The CPU seconds that a run may take: as many as it is given, on the reference machine."""

	def __init__(self, seconds, jobs):
		self.seconds = seconds
		self.jobs = jobs
		self.slowness = [measure_slowness(jobs)] if seconds else []

	def end(self, used):
		"""The lines to print, and whether the run was within its budget."""
		if not self.seconds:
			return [f"{used:.0f} s of CPU time"], True
		self.slowness.append(measure_slowness(self.jobs))
		slowness = statistics.mean(self.slowness)
		reference = used / slowness
		line = f"{used:.0f} s of CPU time; {reference:.0f} s on the reference machine, {self.seconds:.0f} are allowed"
		if reference <= self.seconds:
			return [line], True
		return [line, "too much: make a test cheaper, or move it to a suite that runs less often (HACKING.md)"], False


def table(costs):
	"""Lines: what each file took, [(title, seconds, CPU seconds)], the longest first."""
	rows = sorted(costs, key=lambda row: -row[2])
	shown = [row for row in rows if row[2] >= LEAST_SECONDS]
	rest = rows[len(shown):]
	lines = ["    CPU s  seconds"] if rows else []
	lines += [f"{cpu:9.1f} {seconds:8.1f}  {title}" for title, seconds, cpu in shown]
	if rest:
		lines.append(f"{sum(row[2] for row in rest):9.1f} {sum(row[1] for row in rest):8.1f}  {len(rest)} more, each below {LEAST_SECONDS:g} s")
	return lines
