"""--anonymize: figures without names, in pages and in every format that is written."""

import base64
import gzip
import json
import re

import harness
from harness import SOURCE_ROOT, check, sonde
from page import page_of
from report_input import complains

SOURCES = sorted((SOURCE_ROOT / "tests/golden/in").glob("*.dump")) + [SOURCE_ROOT / "tests/fuzz/seeds/dump/all"]
KEPT = {"frame", "_global"}


def profile(folder, source=SOURCE_ROOT / "tests/golden/in/threads.dump"):
	"""A dump with every text of a person's choice replaced by one that holds "secret"; {text: what it became}."""
	text = check(sonde("convert", source, "-o", "-", "--to", "dump")).out
	names = {}

	def hide(m):
		word = m[1]
		if not word or word[0] == "[" or word in KEPT:
			return m[0]
		return f'"{names.setdefault(word, f"secret{len(names):03}")}"'

	# Metrics keep their names and units, and the file its format.
	hidden = "".join(line if line.startswith(("metric ", "format ")) else re.sub(r'"((?:[^"\\]|\\.)*)"', hide, line)
		for line in text.splitlines(keepends=True))
	path = folder / f"secret-{source.name}.dump"
	path.write_text(hidden)
	return path, names


def figures(path, *options):
	"""The numbers of the tree, which has the same shape under other names."""
	data = json.loads(check(sonde("report", path, "--view", "tree", "--format", "json", "--order", "first", *options)).out)
	return data["total"], sorted((row["level"], row["direct"] or 0, row["indirect"] or 0, row["in_only"] or 0, row["kind"]) for row in data["rows"])


def no_name_in(folder, path, form):
	out = folder / f"out.{form}"
	done = sonde("convert", path, "-o", out, "--to", form, "--anonymize")
	if done.status:
		# What the format cannot hold, with names or without.
		assert sonde("convert", path, "-o", out, "--to", form).status == done.status, done
		return
	data = out.read_bytes()
	for bytes_ in (data, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else b""):
		assert b"secret" not in bytes_, (path, form, re.findall(rb".{20}secret.{0,20}", bytes_)[:3])
	assert "secret" not in done.err.replace(str(path), ""), done.err
	# Recordings are packed: what is in them, as text.
	if form in ("sonde", "pprof", "otlp", "speedscope"):
		assert "secret" not in check(sonde("convert", out, "-o", "-", "--to", "dump")).out, (path, form)


@harness.takes_long
def test_no_name_is_left(folder):
	hidden = 0
	for source in SOURCES:
		path, names = profile(folder, source)
		hidden += len(names)
		for form in ("dump", "sonde", "folded", "pprof", "speedscope", "firefox", "callgrind", "perf-script", "chrome", "otlp", "svg", "dot"):
			no_name_in(folder, path, form)
	assert hidden > 50, hidden


def test_figures_stay(folder):
	path, _ = profile(folder)
	out = folder / "out.prof"
	check(sonde("convert", path, "-o", out, "--anonymize"))
	for source in SOURCES:
		whole, other = profile(folder, source)[0], folder / "other.prof"
		check(sonde("convert", whole, "-o", other, "--anonymize"))
		if json.loads(check(sonde("report", whole, "--format", "json")).out)["rows"] and "tree" in check(sonde("report", whole, "--text")).out:
			assert figures(whole) == figures(other), source
	for options in ([], ["--collapse", "none"], ["--metric", "samples"], ["--time", "0ns:10ms"], ["--level", "module"]):
		assert figures(path, *options) == figures(out, *options), options
	notes = [note["text"] for note in json.loads(check(sonde("report", out, "--format", "json")).out)["notes"]]
	assert any("anonymized" in note and "kept are" in note for note in notes), notes
	stats = [json.loads(check(sonde("report", p, "--view", "stats", "--format", "json")).out)["rows"] for p in (path, out)]
	assert stats[0] == stats[1]


def test_names_are_numbers_and_another_time_others(folder):
	path, _ = profile(folder)
	seen = set()
	for i in range(12):
		rows = json.loads(check(sonde("convert", path, "-o", folder / f"{i}.prof", "--anonymize")) and
			check(sonde("report", folder / f"{i}.prof", "--format", "json")).out)["rows"]
		names = [row["name"] for row in rows]
		assert all(re.fullmatch(r"f\d+|\[.*\]", name) for name in names), names
		# Functions of one name stay one.
		assert len(rows) == len(json.loads(check(sonde("report", path, "--format", "json")).out)["rows"])
		seen.add(tuple(names))
	assert len(seen) > 1, seen


def test_a_page_without_names(folder):
	path, names = profile(folder)
	out = page_of(folder, path, "--anonymize", "--focus", next(iter(names.values())), "--view", "functions")
	text = out.read_text()
	data = re.search(r'id="data"([^>]*)>([^<]*)', text)
	assert "secret" not in data[1] and "focus" not in data[1], data[1]
	(folder / "in.prof").write_bytes(base64.b64decode(data[2]))
	assert "secret" not in check(sonde("convert", folder / "in.prof", "-o", "-", "--to", "dump")).out


def test_refusals(folder):
	path, _ = profile(folder)
	complains(sonde("report", path, "--anonymize"), "--anonymize is for --format html", status=2)
	complains(sonde("report", path, "--format", "html", "--anonymize", "--embed", "source"), "--embed has names", status=2)


if __name__ == "__main__":
	harness.main()
