"""What the page of `sonde report --format html` costs in a browser, next to speedscope's page of the same samples."""
import json
import os
import shutil
import subprocess
import sys

from harness import HERE, SONDE, Skip, run

def samples(bench, count, stacks):
	"""Timed samples as speedscope's JSON, and as sonde's page."""
	def make():
		path = bench.path(f"page-{count}.speedscope.json")
		run([sys.executable, os.path.join(HERE, "make_speedscope.py"), "sampled", path, str(count), str(stacks)])
		run([SONDE, "report", path, "--format", "html", "-o", path + ".html"])
		return path, path + ".html"
	return bench.keep(("page", count), make)


def times(bench, *arguments):
	chromium = shutil.which("chromium") or shutil.which("chromium-browser")
	if not chromium:
		raise Skip("there is no chromium")
	command = ["node", os.path.join(HERE, "page_times.mjs"), bench.npm("playwright-core@1.56.1"), chromium, *arguments]
	bench.note(command)
	done = subprocess.run(command, capture_output=True, text=True, check=False)
	if done.returncode:
		raise Skip(done.stderr.strip().partition("\n")[0][:80] or f"exit {done.returncode}")
	return json.loads(done.stdout)


def of_million(bench):
	"""A page of a million samples of 100,000 distinct stacks."""
	return bench.keep("page-times", lambda: times(bench, "sonde", samples(bench, 1000000, 100000)[1]))


def first(bench, _):
	found = of_million(bench)
	return {"sonde": f"{(found['first'] - found['read']) / 1000:.2f} s, and {found['read'] / 1000:.2f} s to read "
		f"{os.path.getsize(samples(bench, 1000000, 100000)[1]) / 1e6:.0f} MB"}


def views(bench, _):
	found = of_million(bench)["views"]
	slowest = max(found, key=found.get)
	return {"sonde": f"{found[slowest]:.0f} ms ({slowest.lower()}; median {sorted(found.values())[len(found) // 2]:.0f} ms)"}


def drag(bench, _):
	return {"sonde": f"{of_million(bench)['drag']:.0f} ms"}


def frames(bench, _):
	gaps = of_million(bench)["gaps"]
	return {"sonde": f"{gaps[len(gaps) // 2]:.1f} ms, 95 % ≤ {gaps[len(gaps) * 95 // 100]:.1f} ms"}


def memory(bench, _):
	return {"sonde": f"{of_million(bench)['memory']:.0f} MB"}


def opened(bench, _):
	"""From opening, reading included, to the first picture."""
	path, page = samples(bench, 100000, 20000)
	found = times(bench, "sonde", page)
	told = {"sonde": f"{found['first'] / 1000:.2f} s, {found['memory']:.0f} MB"}
	if bench.is_quick:
		return told
	try:
		release = os.path.join(bench.speedscope(), "index.html")
		peer = times(bench, "speedscope", release, path)
		told["speedscope's page"] = f"{peer['first'] / 1000:.2f} s, {peer['memory']:.0f} MB"
	except Skip as why:
		told["speedscope's page"] = f"not measured: {why}"
	return told


def size(bench, _):
	"""The page without data."""
	path = bench.path("empty.folded")
	with open(path, "w", encoding="ascii") as out:
		out.write("main 1\n")
	run([SONDE, "report", path, "--format", "html", "-o", path + ".html"])
	return {"sonde": f"{os.path.getsize(path + '.html') / 1000:.0f} kB"}


MILLION = "page of 1 M timed samples, 100,000 distinct stacks: "
ROWS = [
	("page-first", MILLION + "first picture once the file is read", "≤ 1 s", first, None),
	("page-views", MILLION + "the slowest view", "≤ 300 ms", views, None),
	("page-drag", MILLION + "a drag of time to the new flame graph", "≤ 100 ms", drag, None),
	("page-frames", MILLION + "between frames while the flame graph moves", "16.7 ms", frames, None),
	("page-memory", MILLION + "the tab's memory", "≤ 400 MB", memory, None),
	("page-size", "page with next to no data", "≤ 750 kB", size, None),
	("page-opened", "page of 100,000 samples, 20,000 distinct stacks: from opening to the first picture", "", opened, None),
]
