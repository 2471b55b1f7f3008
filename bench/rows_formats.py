"""What other tools' files cost to read."""
import gzip
import os
import shutil
import subprocess
import sys

from harness import HERE, SONDE, Skip


def perf_data(bench, _):
	"""A perf.data of 1.25 M samples, 12,500 distinct stacks by frame pointers, with their names looked up."""
	def make():
		path = bench.path("fp.perf.data")
		subprocess.run([sys.executable, os.path.join(HERE, "make_perf_data.py"), path, SONDE, "1250000", "12500", "26"], check=True)
		return path
	path = bench.keep("perf-data", make)
	megabytes = os.path.getsize(path) / 1e6
	found = {"sonde": f"{bench.wall_ms([SONDE, 'report', path, '--limit', '20'], 3) / 1000:.2f} s ({megabytes:.0f} MB)"}
	if shutil.which("perf") and not bench.is_quick:
		command = ["perf", "report", "-i", path, "--stdio", "--no-children", "-g", "none"]
		bench.note(command)
		found["perf report"] = f"{bench.wall_ms(['sh', '-c', ' '.join(command) + ' > /dev/null 2>&1'], 1) / 1000:.0f} s"
	return found


def made(bench, name):
	"""The file that make_NAME.py makes, once."""
	def make():
		path = bench.path(f"{name}.input")
		subprocess.run([sys.executable, os.path.join(HERE, f"make_{name}.py"), path], check=True)
		return path
	return bench.keep(name, make)


def reading(bench, path, *options):
	"""How long sonde takes for a report of a file, and how many MB a second that is."""
	megabytes = os.path.getsize(path) / 1e6
	seconds = bench.wall_ms([SONDE, "report", path, *options], 3) / 1000
	return f"{seconds:.2f} s ({megabytes:.0f} MB, {megabytes / seconds:.0f} MB/s)"


def firefox(bench, _):
	"""A profile of the Firefox Profiler of 1.6 M samples, 500,000 stacks and 800,000 markers, which are skipped."""
	return {"sonde": reading(bench, made(bench, "firefox"), "--limit", "20")}


def speedscope(bench, kind):
	"""A file of speedscope: a million samples of 20,000 distinct stacks, or two million events."""
	def make():
		path = bench.path(f"{kind}.speedscope.json")
		subprocess.run([sys.executable, os.path.join(HERE, "make_speedscope.py"), kind, path], check=True)
		return path
	path = bench.keep(f"speedscope-{kind}", make)
	found = {"sonde": reading(bench, path, "--limit", "20")}
	if not bench.is_quick:
		script = os.path.join(HERE, "..", "tests", "e2e", "speedscope_import.cjs")
		try:
			command = ["node", "--max-old-space-size=8192", script, bench.speedscope(), path, "totals"]
			found["speedscope's importer"] = f"{bench.wall_ms(command, 1) / 1000:.1f} s"
		except Skip as why:
			found["speedscope's importer"] = f"with 8 GB not measured: {why}"
	return found


def callgrind(bench, _):
	"""A callgrind.out of 280,000 places, five times, and as many calls as every fifth has."""
	path = made(bench, "callgrind")
	found = {"sonde": reading(bench, path, "--view", "stats")}
	if shutil.which("callgrind_annotate") and not bench.is_quick:
		found["callgrind_annotate"] = f"{bench.wall_ms(['callgrind_annotate', path], 1) / 1000:.1f} s"
	return found


def chrome(bench, _):
	"""A trace of Chrome of 500,000 slices with arguments, in 4 threads, and 25,000 counters, which are skipped."""
	return {"sonde": reading(bench, made(bench, "chrome"), "--limit", "20")}


def pprof(bench, _):
	"""100,000 distinct stacks of 8 to 60 frames, packed as pprof profiles are."""
	def make():
		path, folded = bench.path("broad.pb.gz"), bench.folded("broad")
		subprocess.run([sys.executable, os.path.join(HERE, "make_pprof.py"), folded, path], check=True)
		return path
	path = bench.keep("pprof-broad", make)
	with gzip.open(path) as packed:
		megabytes = len(packed.read()) / 1e6
	found = {"sonde": f"{bench.wall_ms([SONDE, 'report', path, '--limit', '20'], 5) / 1000:.2f} s ({megabytes:.0f} MB unpacked)"}
	if shutil.which("go") and not bench.is_quick:
		found["go tool pprof -top"] = f"{bench.wall_ms(['go', 'tool', 'pprof', '-top', path], 1) / 1000:.1f} s"
	return found


def otlp(bench, _):
	"""The same stacks as OpenTelemetry has them, in both of its encodings."""
	found = {}
	for name, ending in (("sonde", "otlp"), ("sonde, of JSON", "otlp.json")):
		def make():
			path, folded = bench.path(f"broad.{ending}"), bench.folded("broad")
			subprocess.run([sys.executable, os.path.join(HERE, "make_otlp.py"), folded, path], check=True)
			return path
		found[name] = reading(bench, bench.keep(f"broad-{ending}", make), "--limit", "20")
	return found


def perf_script(bench, _):
	"""What perf script prints of 1.25 M samples, 188 MB or so."""
	def make():
		path = bench.path("samples.perf.txt")
		subprocess.run([sys.executable, os.path.join(HERE, "make_perf_script.py"), path], check=True)
		return path
	path = bench.keep("perf-script", make)
	size = f"({os.path.getsize(path) / 1e6:.0f} MB)"
	found = {"sonde": f"{bench.wall_ms([SONDE, 'report', path, '--limit', '20'], 3) / 1000:.2f} s {size}"}
	for peer in ("stackcollapse-perf.pl", "inferno-collapse-perf"):
		if shutil.which(peer) and not bench.is_quick:
			command = ["sh", "-c", f"{peer} < {path} > /dev/null 2>&1"]
			found[peer] = f"{bench.wall_ms(command, 1) / 1000:.1f} s"
	return found


def folded_large(bench, _):
	"""5 M lines of folded stacks, 2.4 GB."""
	if bench.is_quick:
		raise Skip("2.4 GB, left out by --quick")
	path = bench.folded("wide", 5_000_000)
	try:
		size = f"({os.path.getsize(path) / 1e9:.1f} GB)"
		found = {"sonde": f"{bench.wall_ms([SONDE, 'report', path, '--limit', '20'], 3) / 1000:.2f} s {size}",
			"wc -l": f"{bench.wall_ms(['wc', '-l', path]) / 1000:.2f} s"}
		if shutil.which("flamegraph.pl"):
			found["flamegraph.pl"] = f"{bench.wall_ms(['sh', '-c', f'flamegraph.pl {path} > /dev/null 2>&1'], 1) / 1000:.0f} s"
		return found
	finally:
		os.remove(path)
		bench.kept.pop(("wide", 5_000_000))


def trace(bench, kind):
	"""Two million calls, allocations or ticks."""
	def make():
		path = bench.path(f"trace.{kind}")
		subprocess.run([sys.executable, os.path.join(HERE, "make_traces.py"), kind, "2000000", path], check=True)
		return path
	path = bench.keep(f"trace-{kind}", make)
	files = [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else [path]
	megabytes = sum(map(os.path.getsize, files)) / 1e6
	seconds = bench.wall_ms([SONDE, "report", path, "--limit", "20"], 3) / 1000
	return {"sonde": f"{seconds:.2f} s ({megabytes:.0f} MB, {megabytes / seconds:.0f} MB/s)"}


ROWS = [
	("firefox-json", "Firefox Profiler JSON: 1.6 M samples, 500,000 stacks, 800,000 markers", "≥ 200 MB/s", firefox, None),
	("speedscope", "speedscope's JSON: a million samples, 20,000 distinct stacks", "≥ 200 MB/s", speedscope, "sampled"),
	("speedscope-events", "speedscope's JSON: two million events", "≥ 200 MB/s", speedscope, "evented"),
	("callgrind", "callgrind.out of 280,000 places in 5 parts, three events", "≥ 200 MB/s", callgrind, None),
	("chrome-json", "Chrome trace: 500,000 slices with arguments, 25,000 counters", "≥ 200 MB/s", chrome, None),
	("pprof", "pprof profile of 100,000 distinct stacks, 8 to 60 deep", "≤ 0.3 s", pprof, None),
	("otlp", "OpenTelemetry profile of 100,000 distinct stacks, 8 to 60 deep", "", otlp, None),
	("perf-data-chains", "perf.data of 1.25 M samples by frame pointers, 12,500 distinct stacks", "≤ 1.5 s", perf_data, None),
	("perf-script-text", "perf script's text of 1.25 M samples", "≤ 0.5 s", perf_script, None),
	("folded-large", "folded stacks, 2.4 GB, 5 M lines, 100,000 distinct", "≤ 4 s", folded_large, None),
	("uftrace", "folder of uftrace, 2 M calls", "", trace, "uftrace"),
	("heaptrack", "file of heaptrack, 2 M allocations", "", trace, "heaptrack"),
	("gprofng", "experiment of gprofng, 2 M ticks", "", trace, "gprofng"),
]
