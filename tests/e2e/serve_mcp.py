"""sonde serve --mcp, as coding agents use it: both generations of the protocol; figures are those of
the command line; nothing outside what is served; hostile messages."""

import json
import os
import pathlib
import select
import signal
import subprocess
import time

import harness
import npm
from served import slow_profile

IN = harness.SOURCE_ROOT / "tests" / "golden" / "in"
CALC = IN / "calc.folded"
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
	"io.modelcontextprotocol/clientCapabilities": {}}
SDK = "1.32.2"


class Client:
	"""A client that writes lines and reads responses."""

	def __init__(self, *args, cwd=None):
		self.process = subprocess.Popen([harness.SONDE, "serve", "--mcp", *map(str, args)], stdin=subprocess.PIPE,
			stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd)
		self.id = 0
		self.bytes = b""

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.process.kill()
		self.process.communicate()

	def write(self, data):
		self.process.stdin.write(data)
		self.process.stdin.flush()

	def send(self, message):
		self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

	def receive(self, timeout=60):
		while b"\n" not in self.bytes:
			ready = select.select([self.process.stdout], [], [], timeout * harness.PATIENCE)[0]
			assert ready, "no response"
			more = os.read(self.process.stdout.fileno(), 1 << 16)
			assert more, "sonde has ended: " + self.process.stderr.read().decode()
			self.bytes += more
		line, _, self.bytes = self.bytes.partition(b"\n")
		message = json.loads(line)
		assert message["jsonrpc"] == "2.0" and ("result" in message) != ("error" in message), message
		return message

	def request(self, method, params=None):
		self.id += 1
		self.send({"id": self.id, "method": method, **({} if params is None else {"params": params})})
		message = self.receive()
		assert message["id"] == self.id, message
		return message

	def result(self, method, params=None):
		message = self.request(method, params)
		assert "result" in message, message
		return message["result"]

	def initialize(self, version="2025-11-25"):
		result = self.result("initialize", {"protocolVersion": version, "capabilities": {},
			"clientInfo": {"name": "test", "version": "1"}})
		self.send({"method": "notifications/initialized"})
		return result

	def call(self, name, **arguments):
		"""The text of an answer, and whether it is an error."""
		result = self.result("tools/call", {"name": name, "arguments": arguments})
		assert [item["type"] for item in result["content"]] == ["text"], result
		return result["content"][0]["text"], result["isError"]

	def answer(self, name, **arguments):
		text, is_error = self.call(name, **arguments)
		assert not is_error, text
		return text

	def refusal(self, name, **arguments):
		text, is_error = self.call(name, **arguments)
		assert is_error, text
		return text

	def end(self):
		"""Closes its input; the exit status."""
		self.process.stdin.close()
		self.process.stdin = None
		return self.process.wait(60)


# ---- the protocol ----

def test_handshake():
	with Client(CALC) as client:
		result = client.initialize()
		assert result["protocolVersion"] == "2025-11-25" and result["serverInfo"]["name"] == "sonde", result
		assert "tools" in result["capabilities"] and "profiles" in result["instructions"]
		assert client.result("ping") == {}
		assert client.end() == 0


def test_versions_are_negotiated():
	for asked, agreed in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1900-01-01", "2025-11-25"),
		("2999-01-01", "2025-11-25")):
		with Client(CALC) as client:
			assert client.initialize(asked)["protocolVersion"] == agreed
	with Client(CALC) as client:
		for params in (None, {}, {"protocolVersion": 7}):
			assert client.request("initialize", params)["error"]["code"] == -32602


def test_requests_with_their_version():
	with Client(CALC) as client:
		found = client.result("server/discover", {"_meta": MODERN})
		assert found["resultType"] == "complete" and "2026-07-28" in found["supportedVersions"], found
		assert found["ttlMs"] > 0 and found["cacheScope"] == "private" and "tools" in found["capabilities"]
		tools = client.result("tools/list", {"_meta": MODERN})
		assert tools["resultType"] == "complete" and tools["ttlMs"] > 0
		assert tools["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "sonde"
		answer = client.result("tools/call", {"name": "report", "_meta": MODERN})
		assert answer["resultType"] == "complete" and not answer["isError"]
		error = client.request("tools/list", {"_meta": {**MODERN, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}})
		assert error["error"]["code"] == -32022 and "2026-07-28" in error["error"]["data"]["supported"], error
		assert error["error"]["data"]["requested"] == "1900-01-01"
		error = client.request("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})
		assert error["error"]["code"] == -32602, error
		assert client.request("server/discover")["error"]["code"] == -32601
		assert "resultType" not in client.result("tools/list")


def test_tools_are_described():
	with Client(CALC) as client:
		client.initialize()
		first = client.result("tools/list")
		names = [tool["name"] for tool in first["tools"]]
		assert names == ["profiles", "report", "callers", "annotate", "diff", "explain"], names
		for tool in first["tools"]:
			schema = tool["inputSchema"]
			assert schema["type"] == "object" and schema["additionalProperties"] is False
			assert len(tool["description"]) > 40 and tool["annotations"]["readOnlyHint"] is True
			assert set(schema.get("required", [])) <= set(schema["properties"])
			assert all(p["description"] and p["type"] for p in schema["properties"].values()), tool["name"]
		report = first["tools"][1]["inputSchema"]["properties"]
		assert "tree" in report["view"]["enum"] and report["limit"]["type"] == "integer" and "array" in report["focus"]["type"]
		assert first == client.result("tools/list")
		assert len(json.dumps(first)) < 25000, "an agent reads all of this"


def test_methods_and_notifications():
	with Client(CALC) as client:
		client.initialize()
		for method in ("resources/list", "prompts/list", "logging/setLevel", "nope", "initialize2"):
			assert client.request(method)["error"]["code"] == -32601
		client.send({"method": "notifications/nope"})
		client.send({"method": "notifications/cancelled"})
		client.send({"method": "notifications/cancelled", "params": {"requestId": 99}})
		client.send({"method": "tools/list"})
		client.send({"id": 5, "result": {}})
		client.write(b"\n  \r\n")
		assert client.result("ping") == {}
		for params in (None, {}, {"name": 7}, {"name": "nope"}, {"name": "report", "arguments": []}, {"name": "report",
			"arguments": "x"}):
			assert client.request("tools/call", params)["error"]["code"] == -32602, params


def test_ids_come_back():
	with Client(CALC) as client:
		for id in (0, -1, 2**53, "", "a", "ä\n\"\\", "x" * 200):
			client.send({"id": id, "method": "ping"})
			assert client.receive()["id"] == id


# ---- answers ----

def command(*args, cwd=None):
	return harness.check(harness.sonde(*args, cwd=cwd)).out


def without_next(text):
	return text.partition("\nnext:\n")[0]


def test_figures_are_the_command_lines(folder):
	with Client(CALC.name, "diff-old.folded", "diff-new.folded", "threads.dump", cwd=IN) as client:
		client.initialize()
		for tool, arguments, args in (
			("report", {"profile": "calc.folded"}, ["report", "calc.folded"]),
			("report", {"profile": "calc.folded", "view": "tree", "collapse": "none", "limit": 7},
				["report", "calc.folded", "--view", "tree", "--collapse", "none", "--limit", "7"]),
			("report", {"profile": "calc.folded", "focus": ["pow", "eval"], "hide": "apply", "spread": True},
				["report", "calc.folded", "--focus", "pow", "--focus", "eval", "--hide", "apply", "--spread"]),
			("report", {"profile": "threads.dump", "level": "line", "metric": "cpu-time", "spread": False, "sort": None},
				["report", "threads.dump", "--level", "line", "--metric", "cpu-time"]),
			("report", {"profile": "threads.dump", "view": "stats"},
				["report", "threads.dump", "--view", "stats"]),
			("callers", {"profile": "calc.folded", "function": "parse"}, ["report", "calc.folded", "--center", "parse"]),
			("diff", {"old": "diff-old.folded", "new": "diff-new.folded", "limit": 3},
				["diff", "diff-old.folded", "diff-new.folded", "--limit", "3"]),
			("diff", {"old": "diff-old.folded", "new": "diff-new.folded", "normalize": True, "view": "tree"},
				["diff", "diff-old.folded", "diff-new.folded", "--normalize", "--view", "tree"]),
			("annotate", {"profile": "threads.dump", "function": "hash", "source": True},
				["annotate", "threads.dump", "hash", "--source"]),
		):
			# With room for all, as the next questions, which differ, take some.
			wanted = command(*args, "--budget", "9000", cwd=IN)
			answer = client.answer(tool, **{**arguments, "budget": 9000})
			if tool != "annotate": # The note on the missing source names other options.
				assert without_next(answer) == without_next(wanted), (answer, wanted)
			whole = json.loads(command(*args, "--brief", "--format", "json", cwd=IN))
			brief = json.loads(client.answer(tool, format="json", **arguments))
			for report in (whole, brief):
				del report["next"]
				if tool == "annotate":
					del report["notes"]
			assert brief == whole, (tool, arguments)
		assert client.end() == 0


def test_next_questions_can_be_asked():
	with Client(CALC.name, "diff-old.folded", "diff-new.folded", cwd=IN) as client:
		asked = [("report", {"profile": "calc.folded", "focus": ["e", "a"], "same": "pow|exp=power"}),
			("diff", {"old": "diff-old.folded", "new": "diff-new.folded"})]
		for round in range(3):
			answers = [json.loads(client.answer(tool, format="json", **arguments)) for tool, arguments in asked]
			asked = [(step["tool"], step["arguments"]) for answer in answers for step in answer["next"]]
		assert len(asked) > 6 and all("focus" in arguments for tool, arguments in asked if tool != "diff"), asked


def test_answers_are_bounded(folder):
	path = folder / "large.folded"
	with open(path, "w") as file:
		for i in range(5000):
			file.write(f"main;ns::type<{'int, ' * (i % 300)}>::f{i};hub;g{i % 2000} {i % 9 + 1}\n")
	with Client(path) as client:
		for tool, arguments in (("report", {}), ("report", {"limit": 0}), ("report", {"view": "tree", "limit": 0}),
			("callers", {"function": "hub"}), ("report", {"view": "callers", "limit": 1000}), ("report", {"view": "graph"})):
			assert len(client.answer(tool, **arguments).encode()) <= 2000, (tool, arguments)
			assert len(client.answer(tool, format="json", **arguments)) <= 12000, (tool, arguments)
		assert "at most" in client.refusal("report", budget=0)
		assert "at most" in client.refusal("report", budget=10**7)


def test_mistakes_are_explained():
	with Client(CALC) as client:
		for arguments, word in (({"view": "trees"}, "tree"), ({"nope": 1}, "nope"), ({"limit": "x"}, "limit"), ({"limit": -1}, "limit"),
			({"limit": 1.5}, "integer"), ({"focus": {"a": 1}}, "focus"), ({"focus": [[1]]}, "focus"), ({"focus": "("}, "focus"),
			({"spread": "yes"}, "spread"), ({"view": True}, "view"), ({"profile": "calc.foldet"}, "calc.folded"),
			({"metric": "cpu"}, "cpu"), ({"format": "svg"}, "format"), ({"center": "pwo", "view": "callers"}, "pow"),
			({"focus": "a\0b"}, "NUL"), ({"limit": 10**400}, "limit"), ({"collapse": "none", "view": "graph"}, "collapse")):
			assert word in client.refusal("report", **arguments), arguments
		assert "function" in client.refusal("callers")
		assert "function" in client.refusal("annotate")
		assert "pow" in client.refusal("annotate", function="pwo")
		assert "old and new" in client.refusal("diff", old="calc.folded")
		assert "calc.folded" in client.answer("profiles")


def test_terms():
	with Client(CALC) as client:
		assert "weight of the samples taken in the function itself" in client.answer("explain", term="exclusive")
		assert "attributed" in client.refusal("explain", term="attribted")
		assert "term" in client.refusal("explain")
		assert "term" in client.refusal("explain", term="")
		assert "x" * 300 not in client.refusal("explain", term="x" * 100000)


def test_files_that_cannot_be_read(folder):
	(folder / "bad.prof").write_bytes(b"\0\1\2nonsense")
	with Client(folder / "bad.prof", folder / "none.prof", CALC) as client:
		listed = client.answer("profiles")
		assert "calc.folded" in listed and "bad.prof: " in listed and "none.prof: " in listed, listed
		assert "none.prof" in client.refusal("report", profile="none.prof")
		assert "which one" in client.refusal("report")
		assert "pow" in client.answer("report", profile="calc.folded")


# ---- what may be reached ----

def profile_naming(folder, name, *sources):
	"""A profile that names these files as its functions' sources, and as its program."""
	path = folder / name
	dump = command("convert", IN / "list.dump", "-o", "-", "--to", "dump")
	path.write_text(dump.replace("/build/list/list.c", str(sources[0])))
	return path


def test_only_sources_below_the_root(folder):
	root = folder / "root"
	(root / "src").mkdir(parents=True)
	secret = folder / "secret.c"
	secret.write_text("secret\n" * 30)
	(root / "src" / "list.c").write_text("".join(f"line {i}\n" for i in range(1, 31)))
	(root / "src" / "link.c").symlink_to(secret)
	(root / "out").symlink_to(folder)
	os.mkfifo(root / "src" / "fifo.c")
	for source, is_shown in ((root / "src" / "list.c", True), ("/build/other/src/list.c", True), (secret, False),
		("/etc/passwd", False), (root / "src" / "link.c", False), (root / "out" / "secret.c", False),
		(f"{root}/src/../../secret.c", False), (root / "src" / "fifo.c", False), ("/dev/zero", False), (root / "src", False)):
		path = profile_naming(folder, "named.dump", source)
		with Client(path, "--source-root", root) as client:
			answer = client.answer("annotate", function="sum", limit=0, budget=8000)
			assert ("line 9" in answer) == is_shown, (source, answer)
			assert "secret\n" not in answer and "root:" not in answer, (source, answer)
			assert is_shown or "not found below" in answer, answer


def test_no_other_file_is_named():
	with Client(CALC) as client:
		for name in ("/etc/passwd", str(CALC), "../in/calc.folded", "./calc.folded", "diff-old.folded", "-", ""):
			if name:
				assert "no '" in client.refusal("report", profile=name), name
				assert "no '" in client.refusal("diff", old="calc.folded", new=name), name


# ---- hostile and slow clients ----

def test_hostile_messages():
	with Client(CALC) as client:
		deep = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + b'{"a":' * 100000 + b"1" + b"}" * 100001
		messages = [b"nonsense", b"{", b"[]", b"[1]", b"7", b"null", b'"x"', b"\xff\xfe\x00", b"{}", b'{"jsonrpc":"2.0"}',
			b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":["ping"]}',
			b'{"jsonrpc":"1.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"ping","params":3}',
			b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', b"[" * 500000, b'{"a":' * 150000, deep,
			b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report","arguments":{"focus":' + b"[" * 900000 +
			b"}}}", b'{"jsonrpc":"2.0","id":"' + b"i" * 5000 + b'","method":"ping"}']
		for message in messages:
			client.write(message + b"\n")
			response = client.receive()
			assert "error" in response or response["result"]["isError"], (message[:80], response)
		assert client.result("ping") == {}


def resident_kb(pid):
	text = pathlib.Path(f"/proc/{pid}/status").read_text()
	return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1])


def test_a_line_of_100_megabytes():
	with Client(CALC) as client:
		client.initialize()
		before = resident_kb(client.process.pid)
		block = b"x" * (1 << 20)
		client.write(b'{"jsonrpc":"2.0","id":1,"method":"')
		for _ in range(100):
			client.write(block)
		client.write(b'"}\n')
		assert client.receive()["error"]["code"] == -32600
		assert client.result("ping") == {}
		if not harness.SANITIZED:
			assert resident_kb(client.process.pid) < before + 10000


SLOW = {"name": "report", "arguments": {"view": "tree", "invert": True, "collapse": "none", "limit": 0, "metric": "all"}}


def test_calls_are_cancelled(folder):
	with Client(slow_profile(folder)) as client:
		client.answer("report")
		client.send({"id": "slow", "method": "tools/call", "params": SLOW})
		client.send({"id": "next", "method": "tools/call", "params": SLOW})
		client.send({"id": "last", "method": "tools/call", "params": {"name": "report", "arguments": {"limit": 1}}})
		# Answered while the first one is computed.
		client.send({"id": "alive", "method": "ping"})
		assert client.receive()["id"] == "alive"
		client.send({"method": "notifications/cancelled", "params": {"requestId": "next", "reason": "test"}})
		client.send({"method": "notifications/cancelled", "params": {"requestId": "slow"}})
		assert client.receive()["id"] == "last", "a cancelled call is not answered"
		client.send({"method": "notifications/cancelled", "params": {"requestId": "last"}})
		assert client.result("ping") == {}


def test_calls_wait_in_a_queue(folder):
	with Client(CALC) as client:
		data = b"".join(json.dumps({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "report",
			"arguments": {"limit": 1 + i % 3}}}).encode() + b"\n" for i in range(100))
		client.write(data)
		assert [client.receive()["id"] for _ in range(100)] == list(range(100))


def children(pid):
	return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_it_ends_with_its_input(folder):
	path = slow_profile(folder)
	with Client(path) as client:
		client.send({"id": 1, "method": "tools/call", "params": {"name": "report", "arguments": {"limit": 1}}})
		assert client.end() == 0, "what was asked is answered first"
		assert client.receive()["id"] == 1
	with Client(path) as client:
		client.answer("report")
		client.send({"id": "slow", "method": "tools/call", "params": SLOW})
		client.send({"id": "alive", "method": "ping"})
		client.receive()
		child = children(client.process.pid)
		client.process.send_signal(signal.SIGTERM)
		client.process.wait(60)
		for _ in range(600):
			if not any(os.path.exists(f"/proc/{pid}") for pid in child):
				return
			time.sleep(0.1)
		raise AssertionError("the child goes on")


def test_a_client_that_reads_nothing_costs_no_memory():
	with Client(CALC) as client:
		client.initialize()
		before = resident_kb(client.process.pid)
		os.set_blocking(client.process.stdin.fileno(), False)
		line = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
		written = 0
		for _ in range(20000):
			try:
				written += os.write(client.process.stdin.fileno(), line)
			except BlockingIOError:
				break
		assert written < 20000 * len(line), "it goes on reading"
		if not harness.SANITIZED:
			assert resident_kb(client.process.pid) < before + 10000


# ---- an official client ----

SCRIPT = """
import {Client} from "SDK/dist/esm/client/index.js";
import {StdioClientTransport} from "SDK/dist/esm/client/stdio.js";
const [, , sonde, file] = process.argv;
const client = new Client({name: "test", version: "1"});
await client.connect(new StdioClientTransport({command: sonde, args: ["serve", "--mcp", file]}));
const tools = await client.listTools();
const answer = await client.callTool({name: "report", arguments: {limit: 2, format: "json"}});
const wrong = await client.callTool({name: "report", arguments: {view: "trees"}});
let refused = "";
try { await client.callTool({name: "nope"}); } catch (error) { refused = String(error); }
await client.ping();
console.log(JSON.stringify({server: client.getServerVersion(), tools: tools.tools.map(t => t.name), answer, wrong, refused}));
await client.close();
"""


def test_the_official_client(folder):
	sdk = npm.package("@modelcontextprotocol/sdk", SDK)
	script = folder / "client.mjs"
	script.write_text(SCRIPT.replace("SDK", str(sdk)))
	done = harness.check(harness.run("node", script, harness.SONDE, CALC))
	said = json.loads(done.out)
	assert said["server"]["name"] == "sonde" and "report" in said["tools"], said
	rows = json.loads(said["answer"]["content"][0]["text"])["rows"]
	assert [row["name"] for row in rows] == ["pow", "malloc"], rows
	assert said["wrong"]["isError"] and "-32602" in said["refused"], said


# ---- the command ----

def test_usage(folder):
	harness.check(harness.sonde("serve", "--mcp", CALC, "--source-root", folder / "none"), 2)
	harness.check(harness.sonde("serve", "--mcp", "-"), 2)
	harness.check(harness.sonde("serve", "--mcp", CALC, CALC), 2)


harness.main()
