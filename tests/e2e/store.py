"""A store gives the answers of the files that were pushed to it, to the integer: in every view, on one shard, on two and on
a current ClickHouse, whatever was sent twice, cut or killed."""

import json
import os
import pathlib
import random
import re
import shlex
import signal
import socket
import subprocess
import time

import clickhouse
import fault_proxy
import faults
import fleet
import harness
import pprof_shapes
import proto_wire
import recording
import shards
from harness import check, sonde

VIEWS = (["--view", "functions"], ["--view", "modules"], ["--view", "callers"], ["--view", "graph"],
	*(["--view", "tree", "--collapse", degree] for degree in ("none", "direct", "conservative", "full")),
	["--view", "tree", "--invert"], ["--view", "functions", "--spread"], ["--view", "functions", "--when", ".main->*"],
	["--view", "tree", "--when", ".run|.eval"], ["--view", "callers", "--focus", "parse"], ["--view", "functions", "--hide", "apply"])
# Whose order is of equal weights is not the same in a sum that was made in another order.
SETTLED = ("--limit", "0")


class Folder:
	"""A store in a folder. It keeps files as they are, so profiles without samples have no labels,
	and no time but their own."""

	keeps_labels = keeps_time = False

	def __init__(self, folder):
		self.url, self.options = str(folder / "store"), []
		self.init()

	def init(self):
		# Profiles of the tests are from 2023, and would be too old at once.
		check(self.fleet("init", "--keep", "0", "--keep-stacks", "0", "--keep-hours", "0"))

	def fleet(self, *words):
		return sonde("fleet", *words, "--store", self.url, *self.options)

	def push(self, *words, **more):
		return sonde("push", "--store", self.url, *self.options, *words, **more)

	def push_profile(self, profile, folder):
		path = profile.write(folder / f"{id(profile)}.folded")
		return self.push(path, *profile.options())

	def report(self, *words):
		return sonde("report", "--store", self.url, *self.options, *words)

	def json(self, *words):
		return json.loads(check(self.report("--format", "json", *SETTLED, *words)).out)

	def stacks(self, *words):
		return fleet.parsed(check(self.report("--format", "folded", *words)).out)

	def total(self, *words):
		return self.json("--view", "functions", *words)["total"]


class Store(Folder):
	"""A database of its own on these servers; proxy: all goes through it, to one of them."""

	keeps_labels = keeps_time = True

	def __init__(self, *servers, proxy=None, options=()):
		self.servers, self.options = servers, list(options)
		self.database = clickhouse.fresh_database()
		ports = [proxy.port] if proxy else [server.port for server in servers]
		self.url = self.url_of(*(f"127.0.0.1:{port}" for port in ports))
		self.init()

	def url_of(self, *places, more=""):
		return f"clickhouse://{','.join(places)}/{self.database}{more}"


def canonical(value):
	"""Rows without what depends on the order in which equal weights were met."""
	if isinstance(value, list):
		return sorted((canonical(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True))
	if isinstance(value, dict):
		return {key: canonical(one) for key, one in value.items()}
	return value


def tree_paths(rows):
	"""Rows of a tree, each with the path to it in place of its number."""
	paths, path = [], []
	for row in rows:
		path = [*path[:row["level"] - 1], (row["name"], row["module"])]
		paths.append(path)
	return [{**row, "path": path, "target": None if row["target"] is None else paths[row["target"]]}
		for row, path in zip(rows, paths)]


def graph_names(rows):
	"""Rows of a graph; numbers of equal weights may change places, so names stand for them."""
	def without(row):
		return {key: without(one) if isinstance(one, dict) else [without(o) for o in one] if isinstance(one, list) else one
			for key, one in row.items() if key not in ("index", "cycle")} if isinstance(row, dict) else row
	return [without(row) for row in rows]


def answers(report, view):
	rows = report["rows"]
	rows = tree_paths(rows) if "tree" in view else graph_names(rows) if "graph" in view else rows
	return report["total"], canonical(rows)


def same_answers(store, path, *query, views=VIEWS):
	"""The store and the file answer alike."""
	for view in views:
		of_file = json.loads(check(sonde("report", path, "--format", "json", *SETTLED, *view)).out)
		assert answers(store.json(*query, *view), view) == answers(of_file, view), view


def merged(folder, profiles, name="merged.prof"):
	"""The file of the sum of some profiles."""
	paths = [profile.write(folder / f"{i}.folded") for i, profile in enumerate(profiles)]
	check(sonde("merge", *paths, "-o", folder / name))
	return folder / name


def random_fleet(store, folder, seed):
	made = fleet.Fleet(seed, is_labelled=store.keeps_labels)
	for profile in made.profiles:
		check(store.push_profile(profile, folder))
	return made


def check_fleet(store, folder, seed, views=VIEWS):
	"""Every selection sums as plain Python does; the views of one are those of the merged files."""
	made = random_fleet(store, folder, seed)
	check_sums(store, made)
	service = made.services[-1]
	same_answers(store, merged(folder, made.chosen(service=service)), "--service", service, views=views)


def check_sums(store, made, step_s=60):
	"""What each selection sums to."""
	host, service = made.profiles[0].host, made.services[-1]
	since, until = fleet.T0 + step_s, fleet.T0 + 2 * step_s
	queries = [([], made.chosen()),
		(["--service", service], made.chosen(service=service)),
		(["--host", host], made.chosen(host=host)),
		(["--service", service, "--host", host], made.chosen(service=service, host=host))]
	if store.keeps_labels:
		queries.append((["--label", "version=1.4"], made.chosen(version="1.4")))
	if store.keeps_time:
		queries += [(["--since", f"@{since}"], made.chosen(since=since)),
			(["--until", f"@{until}", "--service", service], made.chosen(until=until, service=service))]
	for query, chosen in queries:
		if chosen:
			assert store.stacks(*query) == fleet.summed(chosen), query
		else:
			check(store.report(*query), 1)


def test_random_profiles_on_one_shard(folder):
	check_fleet(Store(shards.shared(0)), folder, 1, views=VIEWS[:4])


def check_roots(store, folder, seed):
	"""Labels as roots have what a report of each value has."""
	made = random_fleet(store, folder, seed)
	for key, values in (("service", made.services), ("host", made.hosts), ("version", ("1.4", "1.5"))):
		expected = {}
		for value in values:
			chosen = made.chosen(**{key: value})
			if chosen:
				expected[f"{key}={value}"] = sum(profile.total for profile in chosen)
		rows = store.json("--view", "tree", "--roots", f"label:{key}")["rows"]
		assert {row["name"]: row["direct"] + row["indirect"] for row in rows if row["level"] == 1} == expected, key


def test_labels_as_roots(folder):
	check_roots(Store(shards.shared(0), shards.shared(1)), folder, 30)


@harness.takes_long
def test_labels_as_roots_on_a_current_version(folder):
	check_roots(Store(shards.current()), folder, 31)


@harness.takes_long
def test_random_profiles_in_all_views(folder):
	for seed in range(2, 12 if harness.LONG else 5):
		check_fleet(Store(shards.shared(0)), folder, seed)


@harness.takes_long
def test_random_profiles_on_two_shards(folder):
	for seed in range(20, 30 if harness.LONG else 22):
		check_fleet(Store(shards.shared(0), shards.shared(1)), folder, seed)


@harness.takes_long
def test_random_profiles_on_a_current_version(folder):
	check_fleet(Store(shards.current()), folder, 40)


@harness.takes_long
def test_random_profiles_on_an_old_and_a_current_version(folder):
	check_fleet(Store(shards.shared(0), shards.current()), folder, 41)


@harness.takes_long
def test_random_profiles_in_a_folder(folder):
	check_fleet(Folder(folder), folder, 42)


@harness.takes_long
def test_recordings(folder):
	"""Real stacks with load objects, inlined calls and several metrics."""
	store, paths = Store(shards.shared(0), shards.shared(1)), []
	for name, argument in (("mutual", 300), ("deep", 60), ("shares", 320)):
		program = recording.program(folder, name)
		arguments = [argument, 400] if name == "deep" else [harness.work(argument)]
		paths.append(recording.record(folder, program, *arguments, name=f"{name}.prof").path)
		check(store.push(paths[-1], "--service", name, "--host", f"host-of-{name}"))
		check(store.push(paths[-1], "--service", name, "--host", f"host-of-{name}"))
		same_answers(store, paths[-1], "--service", name)
		same_answers(store, paths[-1], "--service", name, views=(["--view", "lines"], ["--level", "module"], ["--metric", "samples"]))
	check(sonde("merge", *paths, "-o", folder / "all.prof"))
	same_answers(store, folder / "all.prof", views=(["--view", "functions"], ["--view", "callers"], ["--view", "tree"]))


# ---- exactly once ----


def test_what_is_pushed_twice_counts_once(folder):
	store, (profile, other) = Store(shards.shared(0)), fleet.Fleet(50).profiles[:2]
	for _ in range(2):
		check(store.push_profile(profile, folder))
	assert store.stacks() == profile.stacks
	check(store.push_profile(other, folder))
	check(store.push_profile(profile, folder))
	assert store.stacks() == fleet.summed([profile, other])


def test_equal_profiles_of_two_hosts_count_twice(folder):
	store, profile = Store(shards.shared(0)), fleet.Fleet(51).profiles[0]
	path = profile.write(folder / "same.folded")
	for host in ("one", "two"):
		check(store.push(path, "--service", "s", "--host", host))
	assert store.total() == 2 * profile.total


DUMP_HEAD = """sonde-dump 1
{head}
{metrics}
function "main"
frame
stack 1 "main" {weights}
end
"""


def dump(path, metrics, weights, head="", time_s=fleet.T0):
	"""A profile with these metrics: ((name, unit) …)."""
	path.write_text(DUMP_HEAD.format(head=head, weights=" ".join(map(str, weights)),
		metrics="\n".join(f'metric "{name}" "{unit}"{" default" if i == 0 else ""}' for i, (name, unit) in enumerate(metrics))))
	os.utime(path, (time_s, time_s))
	return path


def odd_profiles(store, folder):
	"""Three that go together, and four that do not, each with a host of its own."""
	cpu, counted, stated = ("cpu-time", "ns"), ("cpu-time", "count"), ("samples", "count")
	odd = {"scaled": ([("cpu-time", "us")], [5], ""), "counts": ([counted, stated], [3, 3], ""),
		"chosen": ([cpu], [50], 'when ".main->*\\x00"'), "bytes": ([("heap", "bytes"), counted], [70, 2], "")}
	for host, (metrics, weights, head) in {"web1": ([cpu], [100], ""), "web2": ([cpu, stated], [200, 2], ""),
			"heap": ([("heap", "bytes")], [4096], ""), **odd}.items():
		check(store.push(dump(folder / f"{host}.dump", metrics, weights, head), "--service", f"of-{host}", "--host", host))
	return odd


def notes_of(report):
	return [note["text"] for note in report["notes"]]


def check_odd_profiles(store, folder):
	"""What cannot be added up is left out of every view, and named with its reason."""
	odd = odd_profiles(store, folder)
	for words in ((), ("--roots", "label:service"), ("--view", "tree")):
		if words and words[0] == "--roots" and not store.keeps_labels:
			continue
		report = store.json("--metric", "cpu-time", *words)
		assert report["total"] == 300, (words, report["total"])
		left = [note for note in notes_of(report) if "left out" in note]
		assert len(left) == len(odd), left
		for host in odd:
			assert sum(f"1 recording of service of-{host} on host {host} is left out: " in note for note in left) == 1, (host, left)
	assert store.json("--metric", "heap")["total"] == 4096
	reasons = "\n".join(left)
	for reason in ("cpu-time in us; most have it in ns", "cpu-time in count; most have it in ns",
			"recorded with --when '.main->*'; most, with no --when"):
		assert reason in reasons, (reason, reasons)
	# An odd one is found where it is alone, and left out where it is excluded.
	assert store.json("--service", "of-scaled", "--metric", "cpu-time")["total"] == 5
	without = store.json(*(word for host in odd for word in ("--host", f"!{host}")), "--metric", "cpu-time")
	assert without["total"] == 300 and not any("left out" in note for note in notes_of(without)), notes_of(without)


def test_odd_profiles_are_left_out(folder):
	check_odd_profiles(Store(shards.shared(0)), folder)


def test_odd_profiles_are_left_out_of_folders(folder):
	check_odd_profiles(Folder(folder), folder)


@harness.takes_long
def test_odd_profiles_are_left_out_with_a_current_version(folder):
	check_odd_profiles(Store(shards.current()), folder)


def test_unreadable_recordings_are_left_out(folder):
	"""A folder may have files that are damaged, or that another version wrote."""
	store = Folder(folder)
	check(store.push(dump(folder / "good.dump", [("cpu-time", "ns")], [7]), "--service", "good"))
	path, = pathlib.Path(store.url).glob("*.prof")
	(path.parent / "damaged.prof").write_bytes(b"nothing of the kind \0\1")
	report = store.json()
	assert report["total"] == 7
	assert any("1 recording is left out, as it cannot be read: " in note and "damaged.prof" in note for note in notes_of(report))
	path.unlink()
	assert "damaged.prof" in check(store.report(), 1).err


def test_profiles_without_samples_keep_the_labels_of_others(folder):
	"""A heap profile has totals alone; it must not take labels and times from the sum, and counts under its service."""
	store = Folder(folder)
	check(store.push(dump(folder / "cpu.dump", [("cpu-time", "ns"), ("samples", "count")], [40, 4]), "--service", "api", "--host", "web1"))
	check(store.push(dump(folder / "heap.dump", [("heap", "bytes")], [4096]), "--service", "of-heap", "--host", "web2"))
	for metric, key, expected in (("cpu-time", "service", {"service=api": 40}), ("heap", "service", {"service=of-heap": 4096}),
			("samples", "host", {"host=web1": 4})):
		rows = store.json("--view", "tree", "--roots", f"label:{key}", "--metric", metric)["rows"]
		found = {row["name"]: row["direct"] + row["indirect"] for row in rows if row["level"] == 1}
		assert {name: weight for name, weight in found.items() if weight} == expected, (metric, found)
	assert store.total("--label", "service=api", "--metric", "cpu-time") == 40
	assert store.total("--label", "service=of-heap", "--metric", "heap") == 4096
	assert store.total("--time", "0s:1s", "--metric", "cpu-time") == 40


def check_exclusion(store, folder):
	"""'!' leaves out services, hosts and labels, in options and in selections."""
	for i, (service, host, zone) in enumerate((("api", "web1", "a"), ("api", "web2", "b"), ("db", "web1", "b"), ("!odd", "web3", None))):
		path = folder / f"{i}.folded"
		path.write_text(f"main {10 ** i}\n")
		check(store.push(path, "--service", service, "--host", host, *(["--label", f"zone={zone}"] if zone else [])))
	for words, total in ((["--service", "!api"], 1100), (["--service", "!api", "--service", "!db"], 1000), (["--host", "!web1"], 1010),
			(["--service", "api", "--host", "!web1"], 10), (["service=!api"], 1100), (["service=!api,service=!db"], 1000),
			(["--service", "!api", "service=!db"], 1000), (["--service", "!db", "service=api"], 11), (["host=!web1,zone=!b"], 1000),
			(["zone=!a"], 1110), (["zone=b"], 110), (["--service", "\\!odd"], 1000), (["--service", "!!odd"], 111)):
		assert store.total(*words) == total, (words, store.total(*words))
	refused = check(store.report("--service", "!"), 2)
	assert "expected a name after '!'" in refused.err, refused.err


def test_exclusion(folder):
	check_exclusion(Store(shards.shared(0)), folder)


def test_exclusion_in_folders(folder):
	check_exclusion(Folder(folder), folder)


FAULTS = (fault_proxy.refuse, fault_proxy.drop_answer, fault_proxy.twice, lambda: fault_proxy.cut_request(-1),
	lambda: fault_proxy.cut_request(-9), lambda: fault_proxy.cut_request(20), lambda: fault_proxy.cut_answer(0),
	lambda: fault_proxy.answer(500, "Code: 241. DB::Exception: Memory limit exceeded", 241),
	lambda: fault_proxy.answer(503, "no server is available"))


def inserts(request):
	return b"INSERT" in request.query


def with_fault(server, folder, number, make):
	"""Pushes with a fault at the number-th insert, and again without; whether there was such an insert."""
	with fault_proxy.FaultProxy(server.port) as proxy:
		store, profiles = Store(server, proxy=proxy), fleet.Fleet(60 + number).profiles[:2]
		proxy.clear()
		proxy.fault(make(), when=inserts, skip=number)
		for profile in profiles:
			done = store.push_profile(profile, folder)
			assert done.status == 0 or done.err.count("\n") >= 1, done
		has_met = any(fault for *_, fault in proxy.requests)
		for profile in profiles:
			check(store.push_profile(profile, folder))
		assert store.stacks() == fleet.summed(profiles), (number, proxy.requests)
	return has_met


def test_a_fault_at_an_insert(folder):
	assert with_fault(shards.shared(0), folder, 2, fault_proxy.drop_answer)
	assert with_fault(shards.shared(0), folder, 3, lambda: fault_proxy.cut_request(-9))


@harness.takes_long
def test_faults_at_every_insert(folder):
	for make in FAULTS:
		number = 0
		while with_fault(shards.shared(0), folder, number, make):
			number += 1
		assert number >= 4, "frames, stacks, profiles and commits are inserted one after the other"


@harness.takes_long
def test_faults_with_a_current_version(folder):
	for number, make in enumerate(FAULTS):
		assert with_fault(shards.current(), folder, number % 4, make)


@harness.takes_long
def test_many_push_at_the_same_time(folder):
	"""Twice each, so that a profile is also sent by two at once."""
	store, profiles = Store(shards.shared(0), shards.shared(1)), fleet.Fleet(71).profiles
	paths = [profile.write(folder / f"{number}.folded") for number, profile in enumerate(profiles)]
	running = [subprocess.Popen([harness.SONDE, "push", "-q", "--store", store.url, path, *profile.options()], stderr=subprocess.PIPE)
		for path, profile in zip(paths, profiles) for _ in range(2)]
	for process in running:
		_, err = process.communicate(timeout=120 * harness.PATIENCE)
		assert process.returncode == 0, err
	assert store.stacks() == fleet.summed(profiles)


@harness.takes_long
def test_an_unfinished_push_is_not_seen(folder):
	"""Killed before the last insert, a push has sent rows that no report shows."""
	for number in range(4):
		with fault_proxy.FaultProxy(shards.shared(0).port) as proxy:
			store, profile = Store(shards.shared(0), proxy=proxy), fleet.Fleet(70).profiles[0]
			path = profile.write(folder / "killed.folded")
			process = []
			kill = lambda: process[0].kill()
			proxy.fault((fault_proxy.then if number < 3 else fault_proxy.before)(kill), when=inserts, skip=number)
			process.append(subprocess.Popen([harness.SONDE, "push", "--store", store.url, str(path), *map(os.fsdecode, profile.options())],
				stderr=subprocess.DEVNULL))
			assert process[0].wait(60 * harness.PATIENCE) == -signal.SIGKILL
			check(store.report("--view", "functions"), 1)
			check(store.push_profile(profile, folder))
			assert store.stacks() == profile.stacks


@harness.takes_long
def test_a_server_is_killed_during_pushes(folder):
	with shards.server() as server, fault_proxy.FaultProxy(server.port) as proxy:
		store, profiles = Store(server, proxy=proxy), fleet.Fleet(80).profiles
		for number, profile in enumerate(profiles):
			if number % 3 == 1:
				proxy.fault(fault_proxy.then(server.kill), when=inserts, skip=number % 4)
			store.push_profile(profile, folder)
			if server.process.poll() is not None:
				server.restart()
		for profile in profiles:
			check(store.push_profile(profile, folder))
		assert store.stacks() == fleet.summed(profiles)


# ---- sums of hours ----


def check_hours(store, folder, seed):
	"""Answers do not change when hours are summed, nor when something comes late; and sums outlive what they are of."""
	made = fleet.Fleet(seed, minutes=6, step_s=1500)
	every, late = made.profiles, made.profiles[::7]
	roll_up = ["rollup", "--since", f"@{fleet.T0 - 7200}", "--until", f"@{fleet.T0 + 14400}"]
	made.profiles = [profile for profile in every if profile not in late]
	for profile in made.profiles:
		check(store.push_profile(profile, folder))
	check_sums(store, made, 1500)
	assert " 0 hours" not in check(store.fleet(*roll_up)).err
	check_sums(store, made, 1500)
	made.profiles = every
	for profile in late:
		check(store.push_profile(profile, folder))
	check_sums(store, made, 1500)
	assert " 0 hours" not in check(store.fleet(*roll_up)).err
	assert " 0 hours" in check(store.fleet(*roll_up)).err
	check_sums(store, made, 1500)
	for profile in every[:3]:
		check(store.push_profile(profile, folder))
	check_sums(store, made, 1500)
	for server in store.servers:
		for day in (20231114, 20231115):
			server.sql(f"ALTER TABLE profiles DROP PARTITION {day}", database=store.database)
	assert store.stacks() == fleet.summed(every)


@harness.takes_long
def test_sums_of_hours(folder):
	check_hours(Store(shards.shared(0), shards.shared(1)), folder, 110)


@harness.takes_long
def test_sums_of_hours_with_a_current_version(folder):
	check_hours(Store(shards.current()), folder, 111)


# ---- shards ----


def test_a_missing_shard_is_named(folder):
	both = Store(shards.shared(0), shards.shared(1))
	made = random_fleet(both, folder, 90)
	places = [f"127.0.0.1:{server.port}" for server in both.servers]
	alone = [fleet.parsed(check(sonde("report", "--store", both.url_of(place), "--format", "folded")).out) for place in places]
	assert fleet.summed(made.profiles) == fleet.summed([fleet.Profile("", "", {}, 0, stacks) for stacks in alone])
	assert all(alone)
	missing = f"127.0.0.1:{clickhouse.free_port()}"
	both.url = both.url_of(places[0], missing)
	for words in (["--view", "functions"], ["--view", "tree", "--format", "json"]):
		done = check(both.report(*words))
		assert missing in done.out, done
	assert both.stacks() == alone[0]
	both.url = both.url_of(missing)
	done = check(both.report(), 1)
	assert missing in done.err, done


def test_a_missing_shard_is_left_out(folder):
	"""The first statements find it missing; no other waits for it. The status has all that the others have."""
	both = Store(shards.shared(0), shards.shared(1))
	for number in (1, 2, 3, 4):
		check(both.push(spoiled(folder, number, number), "--service", f"s{number % 2}", "--host", f"h{number}"))
	places, whole = [f"127.0.0.1:{server.port}" for server in both.servers], status(both)
	assert [row["service"] for row in whole["services"]] == ["s0", "s0", "s1", "s1"], whole
	with fault_proxy.FaultProxy(both.servers[1].port) as proxy:
		both.url, missing = both.url_of(places[0], f"127.0.0.1:{proxy.port}"), f"127.0.0.1:{proxy.port}"
		proxy.fault(fault_proxy.refuse(), times=1000)
		done = check(both.report())
		first, then = [request[1] for request in proxy.requests[:2]], proxy.requests[2:]
		assert f"with all of its hosts: {missing}" in done.out and len(first) == 2 and not then, (done, proxy.requests)
		proxy.requests.clear()
		done = check(both.fleet("status", "--format", "json"), 1)
		assert missing in done.err and len(proxy.requests) == 1, (done, proxy.requests)
		for name, rows in json.loads(done.out).items():
			assert name == "errors" or rows == [row for row in whole[name] if row["shard"] == places[0]] != [], (name, rows, whole)


def test_next_commands_work(folder):
	"""What a report suggests can be typed, and asks for the same profiles."""
	store, path = Folder(folder), folder / "p.folded"
	path.write_text("main;work 10\nmain;rest 2\n")
	check(store.push(path, "--service", "it's", "--host", "h"))
	check(store.push(path, "--service", "other", "--host", "h"))
	for command, words in (("report", ["--service", "it's", "--last", "1h"]), ("report", ["--service", "it's", "--brief"]), ("report", ["service=it's", "--brief"]),
		("annotate", ["work", "--service", "it's", "--brief"]), ("diff", ["service=it's", "service=other", "--brief"])):
		said = sonde(command, "--store", store.url, *words).out
		suggested = [line[line.index("sonde "):].partition("   ")[0] for line in said.splitlines() if re.match(r"(next:)?\s*sonde (report|annotate|diff) ", line)]
		assert suggested or command == "annotate", (command, words, said)
		for line in suggested:
			done = check(sonde(*shlex.split(line)[1:], "--text") if " report " in line and "--brief" not in line else sonde(*shlex.split(line)[1:]))
			assert store.url in done.out or "12" in done.out, (line, done)


# ---- how long it is kept ----


def kept_days(store):
	"""Days that a current server keeps the rows of each table; None: for ever."""
	rows = store.servers[0].rows(f"SELECT name, engine_full FROM system.tables WHERE database = '{store.database}'")
	return {name: int(engine.partition("toIntervalDay(")[2].partition(")")[0]) if " TTL " in engine else None for name, engine in rows}


@harness.takes_long
def test_tables_that_are_there_keep_rows_for_another_time(folder):
	store = Store(shards.current())
	assert set(kept_days(store).values()) == {None}, kept_days(store)
	assert "stays as it is" in check(store.fleet("init")).err
	assert set(kept_days(store).values()) == {None}, kept_days(store)
	assert "changed how long 4 tables keep their rows" in check(store.fleet("init", "--keep", "30", "--keep-hours", "500")).err
	expected = {"profiles": 30, "commits": 500, "hours": 500, "hour_commits": 500, "stacks": None, "frames": None, "schema": None}
	assert kept_days(store) == expected
	assert "stays as it is" in check(store.fleet("init", "--keep", "30")).err
	assert "stays as it is" in check(store.fleet("init")).err
	assert "changed how long 1 table keeps its rows" in check(store.fleet("init", "--keep", "0", "--keep-stacks", "0")).err
	assert kept_days(store) == {**expected, "profiles": None}


def aged_frames(store, server, folder):
	"""Two frames are years old then; one was named. Returns a function that asks the server."""
	check(store.push_profile(fleet.Profile("api", "a", {}, fleet.T0, {("main", name): 1 for name in ("gone", "plain", "here")}), folder))
	ask = lambda sql: server.rows(sql, database=store.database)
	columns = "frame_id, depth, version, kind, module, build_id, address, function, aliases, defined_in, defined_at, file, line, is_inline"
	ask(f"INSERT INTO frames ({columns}) SELECT frame_id, depth, toUInt32(7) AS version, kind, module, build_id, address, "
		"'named', aliases, defined_in, defined_at, file, line, is_inline FROM frames WHERE function = 'plain'")
	ask("ALTER TABLE frames DROP COLUMN last_seen")
	ask("ALTER TABLE frames ADD COLUMN last_seen DateTime MATERIALIZED "
		"if(function IN ('gone', 'plain', 'named'), toDateTime(1500000000), now())")
	return ask


def check_frames_are_dropped(store, server, folder):
	ask = aged_frames(store, server, folder)
	check(store.fleet("retain", "--keep", "0", "--keep-hours", "0", "--keep-stacks", "0"))
	assert ask("SELECT count() FROM frames WHERE function = 'gone'") == [["1"]]
	check(store.fleet("retain", "--keep", "0", "--keep-hours", "0", "--keep-stacks", "90"))
	faults.wait_until(lambda: ask("SELECT count() FROM frames WHERE function = 'gone'") == [["0"]], "a frame is dropped")
	assert sorted(row[0] for row in ask("SELECT function FROM frames")) == ["here", "main", "named"]


def test_frames_are_dropped_that_nothing_has_sent(folder):
	"""What no stack refers to goes, except names that were added; a table that is older than the column gets it, and keeps all."""
	server = shards.shared(0)
	store = Store(server)
	check_frames_are_dropped(store, server, folder)
	before = store.stacks()
	server.rows("ALTER TABLE frames DROP COLUMN last_seen", database=store.database)
	check(store.fleet("retain", "--keep", "0", "--keep-hours", "0", "--keep-stacks", "1"))
	assert "1 table" in check(store.fleet("init")).err
	assert "stays as it is" in check(store.fleet("init")).err
	check(store.fleet("retain", "--keep", "0", "--keep-hours", "0", "--keep-stacks", "1"))
	assert server.rows("SELECT count() FROM frames", database=store.database) == [["3"]] and store.stacks() == before


@harness.takes_long
def test_frames_are_dropped_on_a_current_version(folder):
	"""By itself, a month after stacks, whatever they are kept; also where the column comes later."""
	server = shards.current()
	store = Store(server)
	check_frames_are_dropped(store, server, folder)
	server.rows("ALTER TABLE frames DROP COLUMN last_seen", database=store.database)
	assert "1 table" in check(store.fleet("init")).err and kept_days(store)["frames"] is None
	check(store.fleet("init", "--keep-stacks", "60"))
	assert (kept_days(store)["stacks"], kept_days(store)["frames"]) == (60, 93)
	server.rows("ALTER TABLE frames REMOVE TTL", database=store.database)
	check(store.fleet("init"))
	assert kept_days(store)["frames"] == 93
	server.rows("OPTIMIZE TABLE frames FINAL", database=store.database)
	assert ("main", "here") in store.stacks()


def test_init_names_what_it_made(folder):
	made = folder / "made"
	assert check(sonde("fleet", "init", "--store", made)).err == f"sonde: {made}: made the folder\n" and made.is_dir()
	assert "stays as it is" in check(sonde("fleet", "init", "--store", made)).err


def test_init_names_a_shard_that_refuses_once(folder):
	store = Store(shards.shared(0))
	with fault_proxy.FaultProxy(shards.shared(0).port) as proxy:
		store.url, place = store.url_of(f"127.0.0.1:{proxy.port}"), f"127.0.0.1:{proxy.port}"
		for query in (b"SELECT version", b"EXISTS TABLE", b"SELECT max(version)"):
			proxy.fault(fault_proxy.answer(403, "Code: 497. No rights"), when=lambda request, query=query: query in request.query)
			done = check(store.fleet("init"), 1)
			assert done.err.count(place) == 1 and "No rights" in done.err, (query, done)
		proxy.fault(fault_proxy.answer(200, "none\n"), when=lambda request: b"SELECT version" in request.query)
		done = check(store.fleet("init"), 1)
		assert f"{place}: not a ClickHouse server" in done.err, done
		proxy.fault(fault_proxy.answer(200, "99\n"), when=lambda request: b"max(version)" in request.query)
		done = check(store.fleet("init"), 1)
		assert f"{place}: its tables have version 99" in done.err, done


def test_what_drops_nothing_by_itself_says_so(folder):
	for store in (Store(shards.shared(0)), Folder(folder)):
		assert "run sonde fleet retain" in check(store.fleet("init", "--keep", "30")).err
		assert "retain" not in check(store.fleet("init")).err


def test_a_folder_has_recordings(folder):
	"""The words are those of a folder: no shards, tables, rows and partitions."""
	place, path = str(folder / "store"), folder / "p.folded"
	path.write_text("main 1\n")

	def said(*words):
		done = check(sonde("fleet", *words, "--store", place))
		assert not any(word in done.out + done.err for word in ("shard", "table", "row", "part")), done
		return done

	assert said("init").err == f"sonde: {place}: made the folder\n"
	assert said("init").err == f"sonde: {place}: the folder exists already, and stays as it is\n"
	assert said("status").out.splitlines()[1:] == ["", f"{place}: 0 recordings"]
	check(sonde("push", "--store", place, "--service", "api", path))
	lines = said("status").out.splitlines()
	assert lines[0].split()[-1] == "folder" and lines[1].split()[-1] == place, lines
	assert re.fullmatch(rf"{place}: 1 recording in [0-9]+ B", lines[-1]), lines
	assert "no sums of hours" in said("rollup").err
	file, = pathlib.Path(place).glob("*.prof")
	os.utime(file, (1, 1))
	assert said("retain").err == f"sonde: {place}: dropped 1 recording\n"
	assert said("retain").err == f"sonde: {place}: dropped 0 recordings\n"


def test_what_push_adds_is_kept_with_many_labels(folder):
	"""A sample keeps 256 labels: its service, its host and those of the command line are among them."""
	sent = folder / "sent.pb"
	sent.write_bytes(pprof_shapes.labels_of_many_keys(600))
	harness.check(harness.sonde("fleet", "init", "--store", folder / "store"))
	harness.check(harness.sonde("push", "-q", "--store", folder / "store", "--service", "api", "--host", "web1", "--label",
		"version=1.4", sent))
	found = json.loads(harness.check(harness.sonde("report", "--store", folder / "store", "--service", "api", "--host", "web1",
		"--label", "version=1.4", "--format", "json")).out)
	# 344 by the reader, and as many more as were added.
	left_out = [note["count"] for note in found["notes"] if "labels of samples were left out" in note["text"]]
	assert found["total"] == 1 and left_out == [347], found


def test_services_of_samples_are_replaced(folder):
	"""By the one that it is sent as, on servers and in a folder; without one, it stays."""
	(folder / "made").mkdir()
	made, source = Folder(folder / "made"), folder / "p.folded"
	source.write_text("main;work 7\n")
	check(made.push(source, "--service", "own", "--host", "there", "--label", "zone=a"))
	path, = pathlib.Path(made.url).glob("*.prof")
	for store in (Store(shards.shared(0)), Folder(folder)):
		check(store.push(path, "--host", "here", "--all-labels"))
		assert {(row["service"], row["host"]) for row in status(store)["services"]} == {("own", "here")}, store.url
		check(store.push(path, "--service", "other", "--host", "here", "--all-labels"))
		assert {(row["service"], row["host"]) for row in status(store)["services"]} == {("own", "here"), ("other", "here")}, store.url
		for words in (["--service", "own"], ["--service", "other"], ["--service", "other", "--label", "zone=a"]):
			assert store.total(*words) == 7, (store.url, words)
		assert store.total("--label", "zone=a") == 14


def test_a_host_without_a_name_is_this_one(folder):
	"""A file that does not state its host was recorded here, on servers and in a folder."""
	path = folder / "p.folded"
	path.write_text("main 7\n")
	for store in (Store(shards.shared(0)), Folder(folder)):
		for words in ([], ["--label", "zone=a"]):
			check(store.push(path, "--service", "api", *words))
		assert {row["host"] for row in status(store)["services"]} == {socket.gethostname()}, store.url
		assert store.total("--host", socket.gethostname()) == 14, store.url


# ---- what was lost ----


def status(store, *words):
	return json.loads(check(store.fleet("status", "--format", "json", *words)).out)


def spoiled(folder, number, bad):
	"""A file in which some lines cannot be read, which a note of it counts; it is number hours old."""
	path = folder / f"{number}.folded"
	path.write_text("main;work 10\n" * (10 + number) + "bad\n" * bad)
	then = time.time() - 3600 * number
	os.utime(path, (then, then))
	return path


def check_losses(store, folder):
	"""Notes of the same words are one row for each host and service; what was pushed twice counts once."""
	for number, (service, host, bad) in enumerate((("api", "one", 1), ("api", "one", 5), ("api", "two", 3), ("db", "two", 2), ("db", "one", 0)), 1):
		path = spoiled(folder, number, bad)
		for _ in range(2):
			check(store.push(path, "--service", service, "--host", host))
	for words, expected in (([], {("one", "api"): (6, 2), ("two", "api"): (3, 1), ("two", "db"): (2, 1)}),
		(["--since", "-210min"], {("one", "api"): (6, 2), ("two", "api"): (3, 1)}), (["--until", "-210min"], {("two", "db"): (2, 1)})):
		found = {}
		for loss in status(store, *words)["losses"]:
			assert loss["kind"] == "bad-record" and loss["text"], loss
			count, recordings = found.get((loss["host"], loss["service"]), (0, 0))
			found[loss["host"], loss["service"]] = (count + loss["count"], recordings + loss["recordings"])
		assert found == expected, (words, found)
	text = check(store.fleet("status")).out
	assert "bad-record" in text and "  last                  note\n" in text, text
	assert all(row["lost"] is None for row in status(store)["services"]), "a folded file does not know"


def test_losses_on_servers(folder):
	check_losses(Store(shards.shared(0), shards.shared(1)), folder)


def test_losses_in_a_folder(folder):
	check_losses(Folder(folder), folder)


@harness.takes_long
def test_losses_on_a_current_version(folder):
	check_losses(Store(shards.current()), folder)


LOSSES = """sonde-dump 1
start-unix-ns {start}
metric "cpu-time" "ns" default
function "main"
frame
stack 0
stack 1 "main" 1
{notes}
end
"""


def push_losses(stores, folder, notes, hours_ago=1):
	"""A recording with notes: (kind, count, text)."""
	path = folder / f"losses-{hours_ago}.dump"
	quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for _, _, text in notes)
	path.write_text(LOSSES.format(start=(time.time_ns() // 10**9 - 3600 * hours_ago) * 10**9,
		notes="\n".join(f'note {kind} {count} "{text}"' for (kind, count, _), text in zip(notes, quoted))))
	for store in stores:
		check(store.push(path, "--service", "api", "--host", "web1"))


def losses(store):
	return sorted((row["kind"], row["text"], row["count"], row["recordings"], row["last"]) for row in status(store)["losses"])


def check_numbers_in_losses(store, folder):
	"""One stack that is truncated and three are the same loss; the words are those of the greatest count."""
	stores = (store, Folder(folder))
	push_losses(stores, folder, [("truncated", 3, "stacks are truncated: their code has no unwind rule"),
		("lost", 1, "the kernel throttled sampling once"), ("bad-record", 1, "a line is malformed and skipped: line 3")], 2)
	push_losses(stores, folder, [("truncated", 1, "a stack is truncated: its code has no unwind rule"),
		("truncated", 1, "a stack is truncated: it changed while being read"), ("lost", 7, "times the kernel throttled sampling"),
		("bad-record", 9, "lines are malformed and skipped: lines 1, 2, 3, …")])
	push_losses(stores, folder, [("lost", 2, "times the kernel throttled sampling"), ("lost", 1, "the kernel throttled sampling once")], 3)
	for one in stores:
		assert [row[:4] for row in losses(one)] == [("bad-record", "lines are malformed and skipped: lines 1, 2, 3, …", 10, 2),
			("lost", "times the kernel throttled sampling", 11, 3), ("truncated", "a stack is truncated: it changed while being read", 1, 1),
			("truncated", "stacks are truncated: their code has no unwind rule", 4, 2)], one.url
	assert losses(stores[0]) == losses(stores[1])


def check_words_of_losses(store, folder):
	"""Servers and folders see the same losses in random words, which a regular expression and a function compare."""
	r, stores = random.Random(5), (store, Folder(folder))
	words = ("a", "an", "ant", "as", "stack", "stacks", "is", "its", "isle", "y", "ys", "key", "keys", "entry", "entries", "eyes", "eesies",
		"sees", "e", "class", "classes", "once", "0x1f", "3", "1.5", "x86_64", "ab1es", "ab1is", "12ies", "_s", "s_", "λs", "s…", "…", "-", "a-s",
		"C:\\a", "it's", ",", ".", "the,a", "The", "%s", "")
	for hours_ago in range(1, 9):
		notes = {" ".join(r.choice(words) for _ in range(r.randint(1, 3))): r.randrange(1, 10**9) for _ in range(60)}
		push_losses(stores, folder, [("lost", count, text) for text, count in notes.items() if text], hours_ago)
	found, in_folder = losses(stores[0]), losses(stores[1])
	assert found == in_folder, set(found) ^ set(in_folder)
	assert 100 < len(found) < 400 and any(row[3] > 3 for row in found), found


def test_numbers_in_losses(folder):
	check_numbers_in_losses(Store(shards.shared(0)), folder)


def test_words_of_losses(folder):
	check_words_of_losses(Store(shards.shared(0)), folder)


@harness.takes_long
def test_numbers_and_words_of_losses_on_a_current_version(folder):
	for number, checked in enumerate((check_numbers_in_losses, check_words_of_losses)):
		(folder / str(number)).mkdir()
		checked(Store(shards.current()), folder / str(number))


def test_notes_of_many_recordings(folder):
	"""Reports have one note for a loss, in words that go with its count, however many recordings have it."""
	stores = {Store(shards.shared(0), shards.shared(1)): "recordings", Folder(folder): "files"}
	for hours_ago in range(1, 36):
		push_losses(stores, folder, [("lost", 1, "a sample was lost"), ("truncated", 1, "a stack is truncated") if hours_ago < 35
			else ("truncated", 7, "stacks are truncated")], hours_ago)
	for store, what in stores.items():
		report = json.loads(check(sonde("report", "--store", store.url, "--service", "api", "--format", "json")).out)
		found = {note["text"]: note["count"] for note in report["notes"]}
		assert found == {f"in 35 of the {what}: a sample was lost": 1, "stacks are truncated": 41}, (store.url, found)


def test_selections_are_named(folder):
	"""Both sides of a difference say what they are of the store."""
	for store in (Store(shards.shared(0)), Folder(folder)):
		push_losses([store], folder, [])
		out = check(sonde("diff", "--store", store.url, "--service", "api", "since=-2h", "last=1d,host=web1")).out
		assert f"old: {store.url} since=-2h" in out and f"new: {store.url} last=1d,host=web1" in out, out


def test_figures_of_recordings(folder):
	"""What recordings know of lost, truncated and unresolved samples is added up, on servers and in a folder."""
	stores, expected = (Store(shards.shared(0), shards.shared(1)), Folder(folder)), {"lost": 0, "truncated": 0, "unresolved": 0}
	program = recording.program(folder, "mutual")
	for number in range(2):
		path = recording.record(folder, program, harness.work(200), name=f"{number}.prof").path
		row, = json.loads(check(sonde("report", path, "--view", "stats", "--format", "json")).out)["rows"]
		for key, name in (("lost", "lost"), ("truncated", "critical"), ("unresolved", "foreign")):
			expected[key] += row[name]
		for store in stores:
			check(store.push(path, "--service", "s", "--host", "h"))
	for store in stores:
		row, = status(store)["services"]
		assert {key: row[key] for key in expected} == expected, (row, expected)


def test_what_another_shard_has_is_named(folder):
	"""A shard more, and what was sent to the old one again: it counts twice, and a note says so."""
	both = Store(shards.shared(0), shards.shared(1))
	places = [f"127.0.0.1:{server.port}" for server in both.servers]
	of_both, of_first = both.url, both.url_of(places[0])
	made, moved = fleet.Fleet(92, services=1, hosts=8, minutes=1).profiles, []
	for profile in made:
		both.url = of_first
		check(both.push_profile(profile, folder))
		both.url = of_both
		if places[1] in check(both.push_profile(profile, folder)).err:
			moved.append(profile)
	report = both.json("--view", "functions")
	assert moved and report["total"] == sum(profile.total for profile in made + moved)
	notes = [note for note in report["notes"] if "count twice" in note["text"]]
	assert [note["count"] for note in notes] == [len(moved)], report["notes"]


# ---- clocks ----


def check_clocks(store, folder):
	now = int(time.time())
	ahead = {0: "web1", 7200: "web2", 40 * 86400: "web3", -7200: "web4", -3 * 86400: "web5"}
	for skew, host in ahead.items():
		profile = fleet.Profile("api", host, {}, now + skew, {("main", host): 1 + abs(skew)})
		# A clock that was set meanwhile does not make it another profile.
		for _ in range(2):
			check(store.push_profile(profile, folder))
	assert store.total() == sum(1 + abs(skew) for skew in ahead)
	assert store.total("--last", "1h") == 1
	assert store.total("--last", "3h") == 1 + 7201
	assert store.total("--since", f"@{now + 3600}") == 7201 + 40 * 86400 + 1
	named = check(store.fleet("status")).err
	assert [host for host in ahead.values() if f"{host}: its clock was ahead" in named] == ["web2", "web3"], named


def test_clocks_that_are_wrong(folder):
	"""A profile counts once, at the time of its host's clock; one of the future is not of the last hour, and its host is
	named."""
	check_clocks(Store(shards.shared(0)), folder)


# ---- names ----

HOSTILE = ("'); DROP TABLE profiles; --", "\\", "a\\'b", "`x`", '"', "%27", "{x:String}", "\t", "é", "𝄞", "a\rb", "service=x,host=y",
	"$(id)", "\x01\x1b[31m", "NULL", "0", " ", "-")


def test_hostile_services_hosts_and_labels(folder):
	store, expected = Store(shards.shared(0)), {}
	path = folder / "p.folded"
	for number, name in enumerate((*HOSTILE, "x" * 3000), 1):
		path.write_text(f"main;work {number}\n")
		check(store.push(path, "--service", name, "--host", f"h{name}", "--label", f"key={name}"))
		expected[name] = number
	assert store.total() == sum(expected.values())
	for name, number in expected.items():
		assert store.total("--service", name) == number, name
		assert store.total("--host", f"h{name}") == number, name
	assert store.servers[0].count("profiles", store.database) == len(expected)
	check(store.report("--service", "' OR 1 = 1 OR service = '"), 1)


def test_weights_are_spread_over_their_interval(folder):
	"""Those of a minute are not all at its beginning, in the heat map and for --time, and add up to the integer."""
	profile, source = pprof_shapes.Pprof(), folder / "a.pb"
	profile.function(2, "rare")
	for _ in range(130):
		profile.sample([1])
	for _ in range(7):
		profile.sample([2, 1])
	source.write_bytes(profile.bytes() + proto_wire.put_number(10, 60 * 10**9))
	store = Store(shards.shared(0))
	check(store.push(source, "--service", "api", "--host", "a"))
	heat = [row["weight"] for row in store.json("--view", "heat")["rows"]]
	assert sum(heat) == 137 and sum(weight > 0 for weight in heat) > 50 and max(heat) < 10, heat
	parts = [store.json("--view", "functions", "--time", f"{at}s:{at + 15}s") for at in (0, 15, 30, 45)]
	assert sum(part["total"] for part in parts) == 137, parts
	assert all(30 <= part["total"] <= 39 for part in parts), parts
	assert any("spread evenly" in note["text"] and note["count"] == 67 for note in parts[0]["notes"]), parts[0]["notes"]
	assert store.total() == 137


def test_names_that_are_no_text(folder):
	"""Bytes of any kind, and names of a megabyte, come back as they were."""
	store, path = Store(shards.shared(0)), folder / "p.folded"
	names = [b"\xff\xfe", b"a\x80b", b"'); DROP TABLE stacks; --", b"x" * (1 << 20), b"back\\slash", b"\xc3("]
	path.write_bytes(b"".join(b"main;" + name + b" %d\n" % number for number, name in enumerate(names, 1)))
	check(store.push(path, "--service", b"\xfe\xff", "--host", b"\x80"))
	of_file = check(sonde("report", path, "--format", "folded")).out_bytes
	assert sorted(check(store.report("--format", "folded")).out_bytes.splitlines()) == sorted(of_file.splitlines())
	assert store.total("--service", b"\xfe\xff", "--host", b"\x80") == sum(range(1, len(names) + 1))


# ---- access ----


def credentials(folder, user, password, mode=0o600):
	path = folder / f"{user}.credentials"
	path.write_text(f"{user}:{password}\n")
	path.chmod(mode)
	return path


def test_credentials(folder):
	path = credentials(folder, "guarded", clickhouse.PASSWORD)
	store, profile = Store(shards.shared(0), options=["--credentials", path]), fleet.Fleet(100).profiles[0]
	check(store.push_profile(profile, folder))
	assert store.stacks() == profile.stacks
	for bad, word in ((credentials(folder, "guarded", "wrong"), "assword"), (credentials(folder, "nobody", ""), "nobody"),
		(credentials(folder, "other", "x", 0o644), "other.credentials"), (folder / "missing", "missing")):
		store.options = ["--credentials", bad]
		for done in (store.push_profile(profile, folder), store.report()):
			assert done.status in (1, 2) and word in done.err and clickhouse.PASSWORD not in done.err, (bad, done)
	store.options = []
	assert store.stacks() == profile.stacks


def test_a_password_is_not_seen(folder):
	path = credentials(folder, "guarded", clickhouse.PASSWORD)
	with fault_proxy.FaultProxy(shards.shared(0).port) as proxy:
		store = Store(shards.shared(0), proxy=proxy, options=["--credentials", path])
		seen = []
		proxy.fault(fault_proxy.hold(), when=lambda request: not seen.append(request.first[1]))
		arguments = [harness.SONDE, "report", "--store", store.url, "--credentials", str(path)]
		process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		try:
			while not seen:
				assert process.poll() is None
				time.sleep(0.01)
			line = open(f"/proc/{process.pid}/cmdline", "rb").read() + open(f"/proc/{process.pid}/environ", "rb").read()
			assert b"secret" not in line and all("secret" not in url for url in seen)
		finally:
			process.kill()
			process.wait()
	for scheme in ("clickhouse", "http"):
		done = check(sonde("report", "--store", f"{scheme}://guarded:secret@127.0.0.1/x"), 2)
		assert "--credentials" in done.err and "secret" not in done.err, done


def test_times_before_1970(folder):
	store, profile = Folder(folder), fleet.Fleet(103, is_labelled=False).profiles[0]
	check(store.push_profile(profile, folder))
	for words in (("--last", "40000d"), ("--since", "-40000d"), ("since=-40000d",)):
		assert store.total(*words) == profile.total, words


def test_answers_that_lack_rows(folder):
	with fault_proxy.FaultProxy(clickhouse.free_port()) as proxy:
		for words, text in ((b"CREATE", ""), (b"version()", "26.1\n"), (b"EXISTS", "1\n"), (b"max(version)", "")):
			proxy.fault(fault_proxy.answer(200, text), when=lambda request, words=words: words in request.query)
		done = check(sonde("fleet", "init", "--store", f"clickhouse://127.0.0.1:{proxy.port}"), 1)
		assert f"127.0.0.1:{proxy.port}: the table schema is empty" in done.err, done


def test_tls(folder):
	with shards.server(is_tls=True) as server:
		store, profile = Store(server), fleet.Fleet(101).profiles[0]
		store.url = store.url_of(f"127.0.0.1:{server.tls_port}", more="?secure=true")
		store.options = ["--ca", server.certificate]
		check(store.push_profile(profile, folder))
		assert store.stacks() == profile.stacks
		store.options = []
		done = check(store.report(), 1)
		assert "ertificate" in done.err, done


if __name__ == "__main__":
	harness.main()
