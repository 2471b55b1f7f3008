"""sonde serve over HTTP: figures are those of the command line; sixty hostile requests are refused while
a good client is answered as before."""

import html.parser
import http.client
import json
import os
import pathlib
import re
import select
import signal
import socket
import stat
import subprocess
import threading
import time
import urllib.parse

import harness
from served import Server, raise_missing, slow_profile, wait_until

IN = harness.SOURCE_ROOT / "tests" / "golden" / "in"
TOKEN_SIZE = 32


def command(*args, cwd=IN):
	return harness.check(harness.sonde(*args, cwd=cwd)).out_bytes


# ---- answers ----

def test_figures_are_the_command_lines():
	with Server("calc.folded", "threads.dump", "diff-old.folded", "diff-new.folded") as server:
		for options, args in (
			({"profile": "calc.folded"}, ["report", "calc.folded", "--format", "json"]),
			({"profile": "calc.folded", "view": "tree", "format": "text"}, ["report", "calc.folded", "--view", "tree"]),
			({"profile": "calc.folded", "format": "folded"}, ["report", "calc.folded", "--format", "folded"]),
			({"profile": "calc.folded", "format": "svg"}, ["report", "calc.folded", "--format", "svg"]),
			({"profile": "calc.folded", "format": "csv", "view": "graph"}, ["report", "calc.folded", "--format", "csv", "--view", "graph"]),
			({"profile": "calc.folded", "focus": ["pow", "e"], "hide": "apply", "spread": ""},
				["report", "calc.folded", "--focus", "pow", "--focus", "e", "--hide", "apply", "--spread", "--format", "json"]),
			({"profile": "threads.dump", "level": "line", "limit": 3}, ["report", "threads.dump", "--level", "line", "--limit", "3",
				"--format", "json"]),
			({"profile": "threads.dump", "brief": ""}, ["report", "threads.dump", "--brief", "--format", "json"])):
			body = server.good(**options)
			if "brief" in options: # Nobody typed a file's name, so there are no commands.
				assert json.loads(body)["rows"] == json.loads(command(*args))["rows"]
			else:
				assert body == command(*args), (options, body[:300])
		assert server.good("diff", old="diff-old.folded", new="diff-new.folded") == command("diff", "diff-old.folded",
			"diff-new.folded", "--format", "json")
		rows = json.loads(server.good("annotate", profile="threads.dump", function="hash"))["rows"]
		assert rows == json.loads(command("annotate", "threads.dump", "hash", "--format", "json"))["rows"]


def test_a_session_is_read_once(folder):
	path = folder / "p.folded"
	path.write_text("a;b 3\n")
	with Server(path) as server:
		first = server.good()
		path.write_text("nonsense")
		assert server.good() == first


def test_files_and_recordings(folder):
	with Server("calc.folded", "list.dump", "none.prof") as server:
		files = json.loads(server.get("files")[2])
		assert [file["profile"] for file in files] == ["calc.folded", "list.dump", "none.prof"]
		assert files[0]["default"] == "samples" and "error" in files[2] and "error" not in files[1]
		(folder / "back.prof").write_bytes(server.good("recording", profile="list.dump"))
		command("convert", IN / "list.dump", "-o", folder / "again.prof")
		for name in ("back.prof", "again.prof"):
			rows = json.loads(command("report", folder / name, "--format", "json"))["rows"]
			assert rows == json.loads(command("report", IN / "list.dump", "--format", "json"))["rows"]


class Links(html.parser.HTMLParser):
	def __init__(self):
		super().__init__()
		self.links, self.tags = [], set()

	def handle_starttag(self, tag, attributes):
		self.tags.add(tag)
		self.links += [value for key, value in attributes if key == "href"]


def test_the_index_works_without_script(folder):
	hostile = folder / 'a"><script>x<b>&.folded'
	hostile.write_text("<b>main;f 3\n")
	with Server("calc.folded", "threads.dump", hostile) as server:
		status, headers, body = server.get()
		page = Links()
		page.feed(body.decode())
		assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
		assert "script" not in page.tags and "style" not in page.tags, page.tags
		assert len(page.links) > 20, page.links
		for link in page.links:
			assert server.get(link)[0] == 200, link


def test_one_file_is_a_page(folder):
	"""The page with the profile in it, which may ask this server and nobody else; its lines are those of the file below the root."""
	hostile = folder / 'a"><script>x<b>&.folded'
	hostile.write_text("<b>main;f 3\n")
	for name in ("calc.folded", hostile):
		with Server(name) as server:
			status, headers, body = server.get()
			if b'id="worker"' not in body:
				raise harness.Skip("built without pages")
			policy = headers["Content-Security-Policy"]
			assert status == 200 and "connect-src 'self'" in policy and "script-src 'sha256-" in policy, policy
			assert "unsafe-inline" not in policy and "http:" not in policy and "*" not in policy, policy
			assert re.search(rb' data-served="[^"<>]*"', body) and b"<script>x" not in body
			page = Links()
			page.feed(server.get("index")[2].decode())
			assert any(link.startswith("page?profile=") for link in page.links), page.links


def test_mistakes_are_explained():
	with Server("calc.folded", "list.dump") as server:
		for options, status, word in (({"view": "trees", "profile": "calc.folded"}, 400, b"tree"),
			({"profile": "calc.foldet"}, 400, b"calc.folded"), ({}, 400, b"which one"),
			({"profile": "calc.folded", "nope": "1"}, 400, b"nope"), ({"profile": "calc.folded", "focus": "("}, 400, b"focus"),
			({"profile": "calc.folded", "center": "pwo"}, 422, b"pow"), ({"profile": "calc.folded", "spread": "yes"}, 400, b"spread")):
			got, _, body = server.ask(**options)
			assert got == status and word in body, (options, got, body)
		assert server.ask("annotate", profile="calc.folded")[0] == 400
		assert server.ask("diff", old="calc.folded")[0] == 400
		assert server.ask("source", profile="list.dump")[0] == 400
		status, _, body = server.ask("recording", select="all")
		assert status == 400 and b"--store" in body, (status, body)
		assert server.get("ask?" + "&".join("focus=a" for _ in range(100)))[0] == 400


def test_headers_are_strict():
	with Server("calc.folded") as server:
		for what in ("", "index", "page", "files", "ask", "ask?format=svg", "nope", "recording", "ask?view=trees"):
			_, headers, _ = server.get(what)
			assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer", what
			assert headers["Cross-Origin-Opener-Policy"] == headers["Cross-Origin-Resource-Policy"] == "same-origin", what
			assert headers["Cache-Control"] == "no-store" and headers["X-Frame-Options"] == "DENY", what
			assert headers["Content-Security-Policy"].startswith("default-src 'none'"), what
			assert "frame-ancestors 'none'" in headers["Content-Security-Policy"], what
			assert not any(name.lower().startswith("access-control") for name in headers), what
		assert "sandbox" in server.get("ask?format=svg")[1]["Content-Security-Policy"]


def test_connections_are_kept():
	with Server("calc.folded") as server:
		client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
		client.connect()
		first = client.sock
		for _ in range(20):
			assert server.get("ask?limit=1", client)[0] == 200
			assert server.get("files", client)[0] == 200
		assert client.sock is first, "a new connection for each request"
		client.close()


# ---- sources ----

def test_only_sources_below_the_root(folder):
	root = folder / "root"
	(root / "src").mkdir(parents=True)
	(folder / "secret.c").write_text("secret\n" * 30)
	(root / "src" / "list.c").write_text("marker\n" * 30)
	(root / "src" / "link.c").symlink_to(folder / "secret.c")
	(root / "out").symlink_to(folder)
	dump = command("convert", IN / "list.dump", "-o", "-", "--to", "dump").decode()
	for source, is_shown in ((root / "src" / "list.c", True), ("/build/x/src/list.c", True), (folder / "secret.c", False),
		("/etc/shadow", False), ("/etc/passwd", False), (root / "src" / "link.c", False), (root / "out" / "secret.c", False),
		(f"{root}/src/../../secret.c", False), ("/proc/self/environ", False), ("/dev/zero", False)):
		path = folder / "named.dump"
		path.write_text(dump.replace("/build/list/list.c", str(source)))
		with Server(path, "--source-root", root) as server:
			status, _, body = server.ask("source", file=str(source))
			assert (status == 200 and body == b"marker\n" * 30) if is_shown else status == 422, (source, status, body)
			text = server.good("annotate", function="sum", format="text", limit=0)
			assert (b"marker" in text) == is_shown, (source, text)
			assert b"secret\n" not in text + body and b"root:" not in text + body
			# Only what the profile names, even below the root.
			assert server.ask("source", file=str(root / "src" / "other.c"))[0] == 422
			for other in ("/etc/passwd", "../secret.c", "src/list.c", str(folder / "secret.c")):
				if other != str(source):
					assert server.ask("source", file=other)[0] == 422, other


# ---- hostile requests ----

def probes(server):
	"""(name, bytes, statuses that are fine) of hostile requests; 0: closed without a response."""
	host = f"127.0.0.1:{server.port}"
	path = server.path

	def get(path=path, method="GET", host=host, headers=(), version="HTTP/1.1", body=b""):
		lines = [f"{method} {path} {version}", *([f"Host: {host}"] if host is not None else []), *headers, "", ""]
		return "\r\n".join(lines).encode("latin-1") + body

	refused = {400, 403, 404, 405, 421}
	broken = {0, 400, 404, 405, 413, 414, 421, 431, 501, 505}
	for name in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example", "localhost.evil.example",
		f"127.0.0.1@evil.example:{server.port}", "0.0.0.0", "192.168.0.1", f"[::2]:{server.port}", "127.0.0.1:", "127.0.0.1:x",
		"127.0.0.1:80 evil", ""):
		yield f"rebinding, Host: {name}", get(host=name), {421, 400}
	yield "no Host", get(host=None), {400}
	yield "no Host in 1.0", get(host=None, version="HTTP/1.0"), {400}
	yield "two Hosts", get(headers=["Host: evil.example"]), {400, 421}
	yield "two good Hosts", get(headers=[f"Host: {host}"]), {400}
	for origin in ("http://evil.example", "null", f"https://{host}", f"http://{host}.evil.example", "http://127.0.0.1:1", "file://",
		f"http://{host}/", "x"):
		yield f"Origin: {origin}", get(headers=[f"Origin: {origin}"]), {403}
	yield "of another site", get(headers=["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"]), {403}
	yield "of the same site", get(headers=["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"]), {403}
	for bad in ("/", "/" + "0" * TOKEN_SIZE + "/", path[:-1], path[:-2] + "/", "/" + server.token.upper() + "x/", "//" + server.token,
		f"/x{path}", f"{path}../../etc/passwd", f"{path}%2e%2e/etc/passwd", f"{path}..%2f..%2fetc%2fshadow", f"{path}ask/../../x",
		f"{path}%00", f"{path}files%00", f"{path}recording/x", f"{path}\\..\\..\\x", f"{path}\xff\xfe"):
		yield f"path {bad.replace(server.token, 'TOKEN')}", get(path=bad), refused | {0}
	yield "option with NUL", get(path=path + "ask?focus=a%00b"), {400}
	yield "option name with NUL", get(path=path + "ask?foc%00us=a"), {400}
	yield "unfinished escape", get(path=path + "ask?focus=%"), {200, 400, 422}
	yield "profile is a path", get(path=path + "ask?profile=/etc/passwd"), {400}
	yield "profile leads up", get(path=path + "recording?profile=../../../etc/passwd"), {400}
	yield "output to a file", get(path=path + "ask?output=/tmp/x"), {400}
	yield "program to run", get(path=path + "ask?exe=/bin/sh"), {400}
	for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "PATCH", "PROPFIND", "get", "X" * 3000):
		yield f"method {method[:10]}", get(method=method, headers=["Content-Length: 0"]), broken
	yield "preflight", get(method="OPTIONS", headers=["Origin: http://evil.example", "Access-Control-Request-Method: GET"]), {403, 405}
	yield "CONNECT", f"CONNECT evil.example:443 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode(), broken
	yield "absolute URL", get(path=f"http://evil.example{path}"), refused
	yield "WebSocket", get(headers=["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]), {400}
	yield "HTTP/2 upgrade", get(headers=["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAA"]), {400}
	yield "HTTP/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", broken
	yield "TLS", bytes.fromhex("16030100c8010000c40303") + b"\0" * 180, broken
	smuggled = f"GET {path}files HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
	yield "body", get(headers=["Content-Length: 5"], body=b"hello"), {400}
	yield "smuggling, length and chunks", get(headers=["Content-Length: 4", "Transfer-Encoding: chunked"], body=b"0\r\n\r\n" + smuggled), {
		0, 400}
	yield "smuggling, two lengths", get(headers=["Content-Length: 0", "Content-Length: 44"], body=smuggled), {0, 400}
	yield "smuggling, odd chunks", get(headers=["Transfer-Encoding: xchunked"], body=smuggled), {0, 400, 501}
	yield "smuggling, hidden header", get(headers=["Transfer-Encoding : chunked"], body=smuggled), {0, 400}
	yield "smuggling, negative length", get(headers=["Content-Length: -1"], body=smuggled), {0, 400}
	yield "smuggling, long length", get(headers=["Content-Length: 99999999999999999999999"]), {0, 400, 413}
	yield "folded header", get(headers=["X: a", " Host: evil.example"]), {200, 400}
	yield "header without name", get(headers=[": x"]), {0, 200, 400}
	yield "header with NUL", get(headers=["X: a\0b"]), {0, 200, 400}
	yield "CR alone", f"GET {path} HTTP/1.1\rHost: {host}\r\r".encode(), broken
	yield "no version", f"GET {path}\r\n\r\n".encode(), broken
	yield "HTTP/9.9", get(version="HTTP/9.9"), broken
	yield "HTTP/0.9", f"GET {path} HTTP/0.9\r\n\r\n".encode(), broken
	yield "garbage", os.urandom(4096), broken
	yield "empty lines", b"\r\n" * 100000, broken
	yield "long header", get(headers=["X: " + "x" * 1000000]), broken
	yield "many headers", get(headers=[f"X{i}: y" for i in range(20000)]), broken
	yield "long Host", get(host="a" * 100000), broken
	yield "long query", get(path=path + "ask?focus=" + "a" * 100000), broken


def check_probe(server, name, data, fine):
	status, back = server.raw(data)
	assert status in fine, (name, status, back[:300])
	assert back.count(b"HTTP/1.1 200") <= (1 if 200 in fine else 0), (name, back[:300])
	assert b"root:" not in back and b"Access-Control" not in back, (name, back[:300])


def test_hostile_requests_are_refused():
	with Server("calc.folded") as server:
		all_probes = list(probes(server))
		assert len(all_probes) >= 60, len(all_probes)
		for name, data, fine in all_probes:
			check_probe(server, name, data, fine)
			assert server.process.poll() is None, name
		assert server.get()[0] == 200


def resident_kb(pid):
	text = pathlib.Path(f"/proc/{pid}/status").read_text()
	return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1])


def test_a_url_of_100_megabytes():
	with Server("calc.folded") as server:
		server.get()
		before = resident_kb(server.process.pid)
		with server.connect() as client:
			client.sendall(f"GET {server.path}ask?focus=".encode())
			try:
				for _ in range(100):
					client.sendall(b"x" * (1 << 20))
			except OSError:
				pass # closed
		assert server.get()[0] == 200
		if not harness.SANITIZED:
			assert resident_kb(server.process.pid) < before + 20000


# ---- while a good client asks ----

def latencies(server, count):
	"""Seconds that a good client waits, sorted."""
	taken = []
	for _ in range(count):
		began = time.monotonic()
		assert server.get("ask?limit=5")[0] == 200
		taken.append(time.monotonic() - began)
	return sorted(taken)


def p99(taken):
	return taken[max(0, len(taken) * 99 // 100 - 1)]


class Attack:
	"""Slow and idle connections, and hostile requests over and over, in threads."""

	def __init__(self, server):
		self.server, self.sockets, self.ends = server, [], threading.Event()
		self.threads = [threading.Thread(target=run, daemon=True) for run in (self.drip, self.probe, self.read_slowly)]

	def open(self):
		client = self.server.connect(5)
		self.sockets.append(client)
		return client

	def drip(self):
		"""Hundreds of connections that send a byte now and then."""
		while not self.ends.is_set():
			if len(self.sockets) < 300:
				try:
					self.open().sendall(b"GET /")
				except OSError:
					pass
			for client in self.sockets[-50:]:
				try:
					client.send(b"x")
				except OSError:
					pass
			self.ends.wait(0.005)

	def probe(self):
		while not self.ends.is_set():
			for name, data, fine in probes(self.server):
				if self.ends.is_set():
					return
				try:
					with self.server.connect(5) as client:
						client.sendall(data)
				except OSError:
					pass

	def read_slowly(self):
		"""Asks for much and reads nothing."""
		while not self.ends.is_set():
			try:
				with self.server.connect(5) as client:
					client.sendall(f"GET {self.server.path}ask?format=svg HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
					self.ends.wait(0.2)
			except OSError:
				pass

	def __enter__(self):
		for thread in self.threads:
			thread.start()
		return self

	def __exit__(self, *_):
		self.ends.set()
		for thread in self.threads:
			thread.join(60)
		for client in self.sockets:
			client.close()


@harness.takes_long
def test_a_good_client_is_answered_meanwhile():
	with Server("calc.folded") as server:
		quiet = p99(latencies(server, 100))
		with Attack(server):
			time.sleep(1)
			busy = latencies(server, 200)
		# Two threads of the attack take the same CPUs; a server that waits for a slow client takes seconds.
		assert p99(busy) < max(0.2, 20 * quiet) * harness.PATIENCE, (quiet, p99(busy), busy[-1])
		print(f"# 99 in 100 take {1000 * quiet:.1f} ms, and {1000 * p99(busy):.1f} ms during the attack")
		after = p99(latencies(server, 50))
		assert after < max(0.2, 10 * quiet), (quiet, after)


@harness.takes_long
def test_slow_requests_end():
	with Server("calc.folded") as server:
		with server.connect(60) as client:
			client.sendall(b"GET /")
			began = time.monotonic()
			client.settimeout(0.5)
			while time.monotonic() - began < 60:
				try:
					client.send(b"x")
					if client.recv(100) == b"":
						break
				except socket.timeout:
					pass
				except OSError:
					break
			assert 5 < time.monotonic() - began < 55, "a connection that sends a byte now and then stays"


def children(pid):
	return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@harness.takes_long
def test_answers_end_with_their_client(folder):
	with Server(slow_profile(folder)) as server:
		server.ask(limit=1)
		slow = f"GET {server.path}ask?view=tree&invert&collapse=none HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
		pid = server.process.pid
		for _ in range(3):
			client = server.connect()
			client.sendall(slow)
			wait_until(lambda: children(pid), "no answer is computed")
			client.close()
			wait_until(lambda: not children(pid), "the answer is computed for nobody")
		# As many as may be computed, and more; others are answered in between.
		clients = [server.connect() for _ in range(10)]
		for client in clients:
			client.sendall(slow)
		wait_until(lambda: children(pid), "no answer is computed")
		assert len(children(pid)) <= 3
		assert server.get()[0] == 200 and server.get("files")[0] == 200
		for client in clients:
			client.close()
		wait_until(lambda: not children(pid), "the answer is computed for nobody")
		assert server.ask(limit=1)[0] == 200


# ---- the command ----

def test_each_server_has_a_token():
	with Server("calc.folded") as one, Server("calc.folded") as other:
		assert re.fullmatch(rf"http://127\.0\.0\.1:\d+/[0-9a-f]{{{TOKEN_SIZE}}}/", one.url), one.url
		assert one.token != other.token
		assert other.get(f"../{one.token}/")[0] == 404


def test_only_this_machine_is_served():
	with Server("calc.folded") as server:
		listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
			if line.split()[3] == "0A" and int(line.split()[1].partition(":")[2], 16) == server.port]
		assert listening == [f"0100007F:{server.port:04X}"], listening


def test_a_unix_socket(folder):
	path = folder / "s"
	with Server("calc.folded", "--socket", path) as server:
		assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
		with socket.socket(socket.AF_UNIX) as client:
			client.connect(str(path))
			client.sendall(f"GET {server.path}files HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
			back = b""
			while chunk := client.recv(65536):
				back += chunk
		assert b"200 OK" in back and b"calc.folded" in back, back
	assert not path.exists()


def test_the_tunnel_is_printed():
	process = subprocess.Popen([harness.SONDE, "serve", "calc.folded"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=IN,
		env={**os.environ, "SSH_CONNECTION": "10.0.0.1 5000 10.0.0.2 22", "USER": "me", "DISPLAY": ":77"})
	if not process.stdout.readline():
		raise_missing(process.communicate()[1].decode())
	process.terminate()
	assert b"ssh -N -L" in process.communicate(timeout=60)[1] and process.returncode == 0


def test_the_browser_is_given_no_token(folder):
	"""Everybody may read the arguments of a process."""
	(folder / "xdg-open").write_text(f"#!/bin/sh\necho \"$1\" > {folder}/given.new && mv {folder}/given.new {folder}/given\n")
	(folder / "xdg-open").chmod(0o755)
	variables = {k: v for k, v in os.environ.items() if k != "SSH_CONNECTION"}
	process = subprocess.Popen([harness.SONDE, "serve", "calc.folded"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=IN,
		env={**variables, "DISPLAY": ":77", "XDG_RUNTIME_DIR": str(folder), "PATH": f"{folder}:{os.environ['PATH']}"})
	url = process.stdout.readline().decode().strip()
	if not url:
		raise_missing(process.communicate()[1].decode())
	try:
		wait_until((folder / "given").exists, "no browser is opened")
		page = pathlib.Path((folder / "given").read_text().strip())
		assert url.split("/")[3] not in str(page) and url in page.read_text()
		assert stat.S_IMODE(page.stat().st_mode) == 0o600
	finally:
		process.terminate()
		process.communicate(timeout=60)
	assert not page.exists()


def test_usage(folder):
	taken = socket.socket()
	taken.bind(("127.0.0.1", 0))
	taken.listen()
	for args, status in ((["--mcp", "--port", "8000"], 2), (["--mcp", "--no-browser"], 2), (["--port", "0"], 2), (["--port", "70000"], 2),
		(["--port", "1", "--socket", "x"], 2), (["--socket", "x" * 200], 2), (["--port", taken.getsockname()[1]], 1),
		(["--socket", folder], 1)):
		result = harness.sonde("serve", IN / "calc.folded", *args)
		if "libmicrohttpd" in result.err:
			raise harness.Skip("this build has no libmicrohttpd")
		harness.check(result, status)


if __name__ == "__main__":
	harness.main()
