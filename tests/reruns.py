"""Cases that failed and passed when they ran again: they are races, of a test or of sonde, so they are kept over runs.

The list is in the user's state folder ($XDG_STATE_HOME, ~/.local/state), as a fresh clone has no past. A case that
comes twice within ten runs of whole suites is named apart: its cause is to be mended.
"""

import json
import os
import pathlib

RUNS = 10
# What is kept of the past.
KEPT_RUNS = 100


def state_file():
	home = os.environ.get("XDG_STATE_HOME") or pathlib.Path.home() / ".local/state"
	return pathlib.Path(home) / "sonde" / "test-reruns.json"


def case_of(failure):
	"""The name of a failed case, without what was said of it."""
	return failure.partition(":")[0].partition(" (")[0]


class Reruns:
	def __init__(self, path=None):
		self.path = path or state_file()
		try:
			self.kept = json.loads(self.path.read_text())
		except (OSError, ValueError):
			self.kept = {"runs": 0, "cases": []}

	def add_run(self, cases):
		"""A run has ended in which these cases, (title, failure), failed at first and passed when they ran again."""
		self.kept["runs"] += 1
		now = self.kept["runs"]
		self.kept["cases"] += [{"run": now, "title": title, "case": case_of(failure), "failure": failure}
			for title, failure in cases]
		self.kept["cases"] = [one for one in self.kept["cases"] if one["run"] > now - KEPT_RUNS]
		try:
			self.path.parent.mkdir(parents=True, exist_ok=True)
			self.path.write_text(json.dumps(self.kept, indent=1))
		except OSError:
			pass  # The list is of use where it can be kept.

	def repeated(self):
		"""{(title, case): in how many of the last ten runs}, of those that came more than once."""
		runs = {}
		for one in self.kept["cases"]:
			if one["run"] > self.kept["runs"] - RUNS:
				runs.setdefault((one["title"], one["case"]), set()).add(one["run"])
		return {case: len(seen) for case, seen in runs.items() if len(seen) > 1}
