"""sonde top --store: what many machines do, in a terminal that shows it anew as more comes; what is missing is said, and
nothing is left running."""

import contextlib
import json
import os
import pathlib
import signal
import time

import fault_proxy
import harness
import recording
import shards
from attaching import wait_until
from harness import check, sonde
from report_input import complains
from store import Folder, Store, canonical, tree_paths
from terminal import Terminal

WORK = {"parse": 12, "work": 30}
MANY = 1 << 30


def push(store, folder, service, host, age_s=30, labels=(), **stacks):
	"""One profile that was recorded age_s ago."""
	path = folder / f"{service}-{host}-{age_s}.folded"
	path.write_text("".join(f"main;run;{name} {weight}\n" for name, weight in (stacks or WORK).items()))
	then = time.time() - age_s
	os.utime(path, (then, then))
	check(store.push(path, "--service", service, "--host", host, *(word for label in labels for word in ("--label", label))))


@contextlib.contextmanager
def terminal(folder, store, *arguments, ready="live"):
	shown = Terminal(folder, "top", "--store", store.url, "--every", "200ms", *arguments, width=140, height=30)
	try:
		shown.until(ready, "q quit")
		yield shown
	finally:
		shown.tmux("kill-server")


def children(pid):
	return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def same_as_report(store, *words):
	"""top's figures are those of a report on the same time."""
	shown = json.loads(check(sonde("top", "--store", store.url, "--keep", "10min", "--format", "json", "--limit", "0", *words)).out)
	report = store.json("--last", "10min", *words)
	for one in (shown, report):
		one["rows"] = tree_paths(one["rows"]) if "tree" in words else one["rows"]
	assert shown["total"] == report["total"] > 0 and canonical(shown["rows"]) == canonical(report["rows"]), (words, shown, report)


def check_figures(store, folder):
	for number, host in enumerate(("web1", "web2", "web3"), 1):
		push(store, folder, "api", host, labels=[f"version=1.{number % 2}"], parse=number, work=10 * number)
	push(store, folder, "db", "web1", scan=7)
	push(store, folder, "db", "web1", age_s=3000, scan=1000)
	for words in ([], ["--view", "tree"], ["--view", "tree", "--roots", "label:host"], ["--view", "tree", "--roots", "label:service"],
		["--service", "api"], ["--host", "web2", "--host", "web1"], ["--label", "version=1.1"], ["--focus", "parse"]):
		same_as_report(store, *words)
	assert "3 hosts, newest data " in check(sonde("top", "--once", "--store", store.url)).err


def test_figures_of_servers(folder):
	check_figures(Store(shards.shared(0), shards.shared(1)), folder)


def test_figures_of_a_folder(folder):
	check_figures(Folder(folder), folder)


@harness.takes_long
def test_figures_of_a_current_version(folder):
	check_figures(Store(shards.shared(0), shards.current()), folder)


def test_recordings_are_those_that_were_sent(folder):
	"""Names are the store's: this machine's files are not asked."""
	store = Store(shards.shared(0))
	program = recording.program(folder, "shares")
	check(store.push(recording.record(folder, program, harness.work(320), name="shares.prof").path, "--service", "s"))
	for words in ([], ["--view", "lines"], ["--view", "tree"], ["--metric", "samples"]):
		same_as_report(store, *words)


def follows(store, folder):
	push(store, folder, "api", "web1")
	with terminal(folder, store) as top:
		top.until("1 host, newest data ", "live")
		top.type("2", "*")
		top.until("service=api", "parse")
		push(store, folder, "db", "web2", scan=100)
		top.until("service=db", "service=api", "2 hosts, newest data ")
		top.type("Home", "*")
		top.until("scan")
		# The same keys as in any browser: without roots, and with them again.
		top.type("P")
		top.until("100.0% 0 1 main")
		top.type("P")
		top.until("70.4% 0 1 service=db")
		top.type("p")
		top.until("paused")
		push(store, folder, "api", "web3", late=900)
		time.sleep(1)
		assert "3 hosts" not in top.screen() and "late" not in top.screen()
		top.type("p")
		top.until("3 hosts")
		top.type("3")
		top.until("late", "live")
		pid = top.pid_of_sonde()
		top.type("q")
		top.is_clean()
		assert not pathlib.Path(f"/proc/{pid}").exists()


def test_a_terminal_follows_servers(folder):
	follows(Store(shards.shared(0), shards.shared(1)), folder)


def test_a_terminal_follows_a_folder(folder):
	follows(Folder(folder), folder)


def test_a_silent_host_is_said(folder):
	"""Of an hour, not of ever; and its data is not in the picture."""
	store = Store(shards.shared(0))
	push(store, folder, "api", "web1")
	push(store, folder, "api", "quiet", age_s=1000, alone=5000)
	push(store, folder, "api", "gone", age_s=9000)
	with terminal(folder, store) as top:
		screen = top.until("1 host, newest data ", "1 host silent")
		assert "alone" not in screen, screen
		push(store, folder, "api", "quiet", alone=5000)
		top.until("2 hosts, newest data ", "alone", gone=["silent"])


def test_a_missing_shard_is_said(folder):
	"""It goes and comes back while the view is open; without any, the last picture stays."""
	with fault_proxy.FaultProxy(shards.shared(1).port) as away, fault_proxy.FaultProxy(shards.shared(0).port) as other:
		store = Store(shards.shared(0), shards.shared(1))
		store.url = store.url_of(f"127.0.0.1:{other.port}", f"127.0.0.1:{away.port}")
		for host in "abcdefgh":
			push(store, folder, "api", host)
		with terminal(folder, store) as top:
			top.until("8 hosts, newest data ")
			away.fault(fault_proxy.refuse(), times=MANY)
			top.until("1 shard missing", "silent")
			# Each page names it.
			top.type("3")
			top.until(f"a shard is missing, with all of its hosts: 127.0.0.1:{away.port}")
			other.fault(fault_proxy.refuse(), times=MANY)
			top.until("no shard answers", "live", "parse")
			away.clear()
			other.clear()
			top.until("8 hosts, newest data ", gone=["missing", "no shard"])
			top.type("q")
			top.is_clean()


@harness.takes_long
def test_a_server_that_hangs(folder):
	"""Keys work, the wait is said, and nothing outlives the view, however it ends."""
	for kind in (None, signal.SIGTERM, signal.SIGKILL):
		with fault_proxy.FaultProxy(shards.shared(0).port) as proxy:
			store = Store(shards.shared(0), proxy=proxy)
			push(store, folder, "api", "web1")
			with terminal(folder, store) as top:
				proxy.fault(fault_proxy.hold(), times=MANY)
				pid = top.pid_of_sonde()
				asking = top.poll(lambda: children(pid) if children(pid) == children(pid) else None, "nobody asks")
				top.type("2", "*")
				top.until("service=api", "parse")
				if kind is None:
					top.until("no answer for ")
					top.type("q")
				else:
					os.kill(pid, kind)
				if kind != signal.SIGKILL:
					top.is_clean()
				wait_until(lambda: not any(pathlib.Path(f"/proc/{child}").exists() for child in asking))


def test_refusals(folder):
	store = Folder(folder)
	complains(sonde("top", "--store", store.url), "no profiles of the last 5 min")
	push(store, folder, "api", "web1", age_s=200)
	complains(sonde("top", "--store", store.url, "--keep", "60s"), "no profiles of the last 60 s")
	complains(sonde("top", "--store", store.url, "-p", "1"), "--pid is about recording this machine", status=2)
	complains(sonde("top", "--store", store.url, "--wakers"), "--wakers is about recording this machine", status=2)
	complains(sonde("top", "--service", "api"), "--store", status=2)
	complains(sonde("top", "--store", folder / "missing"), "missing")
	complains(sonde("top", "--store", "clickhouse://127.0.0.1:1/x"), "no shard answers")


if __name__ == "__main__":
	harness.main()
