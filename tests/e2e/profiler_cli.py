"""The Firefox Profiler's own front end without a browser, as a judge of what sonde writes and reads."""

import json
import os
import re
import signal
import time

import harness
import npm

PACKAGE, VERSION = "@firefox-devtools/profiler-cli", "0.10.0"


class Session:
	"""A profile that its daemon has loaded: `with Session(folder, path) as s: s.json("thread", "list")`."""

	def __init__(self, folder, path):
		self.program = npm.package(PACKAGE, VERSION) / "dist" / "profiler-cli.js"
		# Sockets have short paths; the daemon must look for no symbols.
		self.home = folder
		self.env = {**os.environ, "HOME": str(folder), "PROFILER_CLI_NO_SYMBOLICATE": "1"}
		self.path, self.pid = path, None

	def run(self, *arguments):
		return harness.run("node", self.program, *arguments, cwd=self.home, env=self.env, timeout=100)

	def json(self, *arguments):
		return json.loads(harness.check(self.run(*arguments, "--json")).out)

	def __enter__(self):
		loaded = self.run("load", self.path)
		daemon = re.search(r"as pid (\d+)", loaded.err)
		self.pid = int(daemon[1]) if daemon else None
		# It gives its daemon half a second to begin, which is short on a busy machine.
		until = time.monotonic() + 60
		while loaded.status != 0 and time.monotonic() < until:
			time.sleep(0.5)
			loaded = self.run("thread", "list")
		assert loaded.status == 0, loaded
		return self

	def __exit__(self, *_):
		if self.run("stop", "--all").status != 0 and self.pid:
			os.kill(self.pid, signal.SIGKILL)

	def threads(self):
		return self.json("thread", "list")["threads"]

	def functions(self, thread):
		"""{name: (self, total)} of those with weight, as the front end has them: ms, bytes or samples."""
		harness.check(self.run("thread", "select", thread["threadHandle"]))
		rows = self.json("thread", "functions", "--limit", "0", "--include-idle")["functions"]
		return {row["name"]: (row["selfSamples"], row["totalSamples"]) for row in rows if row["totalSamples"]}

	def markers(self, thread):
		harness.check(self.run("thread", "select", thread["threadHandle"]))
		return {row["markerName"]: row for row in self.json("thread", "markers")["byType"]}

	def tree(self, thread):
		"""The call tree as (name, weight, whether its calls were inlined, children), of what has weight."""
		harness.check(self.run("thread", "select", thread["threadHandle"]))

		def node(row):
			is_inlined = row.get("inlineStatus") == "inlined"
			return row["name"], row["totalSamples"], is_inlined, [node(child) for child in row["children"]]
		return node(self.json("thread", "samples-top-down")["regularCallTree"])[3]

	def zoom(self, begin_ms, end_ms):
		"""From here on, only what is between in the timeline."""
		harness.check(self.run("zoom", "clear"))
		harness.check(self.run("zoom", "push", f"{begin_ms}ms,{end_ms}ms"))
