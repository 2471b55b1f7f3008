"""Snapshots of speedscope's own tests: what it makes of files."""

import re

import corpus


def snapshot(path, test):
	"""The blocks of a test: [(profile's name, {stack: weight}, [(function, self, total)])]."""
	text = corpus.use(corpus.FOLDER / path).read_text()
	found = []
	for number, block in re.findall(r"exports\[`" + re.escape(test) + r" (\d+)`\] = `\n\{(.*?)\n\}\n`;", text, re.S):
		stacks = {}
		for line in re.findall(r'^    "(.*) (\S+)",$', block[block.index('"stacks"'):], re.M):
			key = tuple(line[0].split(";"))
			stacks.setdefault(key, []).append(line[1])
		frames = [(name, float(own), float(total)) for name, own, total in
			re.findall(r'"name": "(.*)",\n\s*"selfWeight": (\S+),\n\s*"totalWeight": (\S+),', block)]
		found.append((re.search(r'^  "name": "(.*)",$', block, re.M)[1], stacks, frames))
	assert found, f"no snapshot {test}"
	return found
