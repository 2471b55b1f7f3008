#!/usr/bin/env python3
"""Texts of perf script compared with what stackcollapse-perf.pl makes of them.

It makes names shorter and marks them, each option in its way, and shows the first event alone; here
the same is done to what sonde read, frame by frame, and then all stacks and weights must be equal.
"""

import json
import re
import shutil
import subprocess

import corpus

FOLDER = "perf-script/brendangregg+FlameGraph/test"
OPTIONS = ["pid", "tid", "kernel", "jit", "all", "addrs"]


def read_collapsed(text):
	"""{line: weight}, with names as sonde has them where the script left them mangled."""
	done = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=True)
	found = {}
	for mangled, line in zip(text.splitlines(), done.stdout.splitlines()):
		names, _, weight = line.rpartition(" ")
		if mangled != line:
			names = ";".join(tidied(name, "") for name in names.split(";"))
		found[names] = found.get(names, 0) + int(weight)
	return found


def tidied(name, root):
	"""What it leaves of a function's name."""
	name = name.replace(";", ":")
	if not re.search(r"\.\(.*\)\.", name):
		name = re.sub(r"\((?!anonymous namespace\)).*", "", name)
	name = re.sub("[\"']", "", name)
	return name[1:] if root == "java" and name.startswith("L") and "/" in name else name


def named(name, path, address, root, is_nested, option):
	"""A frame as it stands in a collapsed line."""
	if name == "[unknown]":
		name = path.rpartition("/")[2] if path != "[unknown]" else "unknown"
		name = f"[{name} <{address:x}>]" if option == "addrs" else f"[{name}]"
	name = tidied(name, root)
	if is_nested:
		return name if "_[i]" in name else name + "_[i]"
	if option in ("kernel", "all") and re.search(r"^\[|vmlinux$", path) and "unknown" not in path:
		return name + "_[k]"
	if option in ("jit", "all") and re.search(r"/tmp/perf-\d+\.map", path):
		return name if "_[j]" in name else name + "_[j]"
	return name


class Read:
	"""What sonde reads of a file."""

	def __init__(self, file):
		self.profile = json.loads(corpus.sonde("convert", str(file), "-o", "-", "--to", "json"))
		self.stacks = self.profile["stacks"]
		# The script forgets the last sample where no empty line follows it.
		self.forgotten = 0 if file.read_bytes().endswith(b"\n\n") else 1

	def frames(self, stack):
		"""(name, path of the load object, address as perf prints it, whether inlined), root first."""
		found, is_leaf = [], True
		while stack:
			frame = self.profile["frames"][self.stacks["frame"][stack]]
			function = self.profile["functions"][frame["function"]]
			object_ = function["object"]
			path = "[unknown]" if object_ is None else self.profile["objects"][object_]["path"]
			address = frame["address"] + (not is_leaf and frame["address"] > 0)
			found.insert(0, (function["name"], path, address, frame["inline"]))
			is_leaf = is_leaf and frame["inline"]
			stack = self.stacks["parent"][stack]
		return found

	def root(self, thread, option):
		process = self.profile["processes"][thread["process"]]
		pid = process["pid"] if process["pid"] >= 0 else "?"
		ids = {"pid": f"-{pid}", "tid": f"-{pid}/{thread['tid']}"}
		return thread["name"].replace(" ", "_") + ids.get(option, "")

	def collapsed(self, option):
		"""{line: weight} as the option has it."""
		samples, found = self.profile["samples"], {}
		weights = samples["weights"][self.profile["default_metric"]]
		rows = list(zip(samples["stack"], samples["thread"], weights))
		for stack, thread, weight in rows[:len(rows) - self.forgotten]:
			if weight == 0:
				continue
			thread = self.profile["threads"][thread]
			root = self.root(thread, option)
			line = ";".join([root] + [named(name, path, address, root, inline, option)
				for name, path, address, inline in self.frames(stack) if not name.startswith("(")])
			found[line] = found.get(line, 0) + weight
		return found


@corpus.case(FOLDER + "/*.txt", "stackcollapse-perf.pl, six options")
def collapsed(file):
	if shutil.which("c++filt") is None:
		raise corpus.harness.Skip("c++filt is not there")
	read = Read(file)
	wanted = {}
	for option in OPTIONS:
		text = corpus.use(file.parent / "results" / f"{file.stem}-collapsed-{option}.txt").read_text()
		wanted = read_collapsed(text)
		corpus.same_stacks(read.collapsed(option), wanted)
	return f"{len(wanted)} stacks, {sum(wanted.values())}"


corpus.main("perf-script", ["perf-script"])
