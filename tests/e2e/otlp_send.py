"""Profiles that are sent by OTLP: what arrives, and when a request is made again."""

import gzip
import http.server
import json
import os
import ssl
import threading

import clickhouse
import harness
import intake_server

SENDER = os.environ.get("OTLP_SENDER", str(harness.BUILD_ROOT / "tests" / "otlp_sender"))
PATH = "/v1development/profiles"
FOLDED = b"main;work;inner 7\nmain;work 5\nmain;idle 1000000007\n"


class Collector:
	"""A server that answers with a list of (status, headers, body), one after the other, the last one for ever; a
	status of 0 closes the connection without an answer. What it got is in requests: (path, headers, body)."""

	def __init__(self, *answers):
		collector = self
		self.answers = list(answers)
		self.requests = []

		class Handler(http.server.BaseHTTPRequestHandler):
			protocol_version = "HTTP/1.1"

			def do_POST(self):
				body = self.rfile.read(int(self.headers["Content-Length"]))
				collector.requests.append((self.path, self.headers, body))
				status, headers, answer = collector.answers[0]
				if len(collector.answers) > 1:
					collector.answers.pop(0)
				if status == 0:
					self.close_connection = True
					return
				self.send_response(status)
				for name, value in headers.items():
					self.send_header(name, value)
				self.send_header("Content-Length", str(len(answer)))
				self.end_headers()
				self.wfile.write(answer)

			def log_message(self, *_):
				pass

		self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		# Clients that end early are part of it.
		self.server.handle_error = lambda *_: None
		self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
		threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.server.shutdown()
		self.server.server_close()


OK = (200, {"Content-Type": "application/x-protobuf"}, b"")
# google.rpc.Status {code: 3, message: "no\x1b[31m"}
BAD = (400, {"Content-Type": "application/x-protobuf"}, b"\x08\x03\x12\x07no\x1b[31m")


def send(url, file, *options):
	"""What came of it; `error` is empty if it was taken."""
	result = harness.run(SENDER, url, file, "wait-ms=1", *options)
	sent = json.loads(result.out)
	if sent["kind"] == "unsupported":
		raise harness.Skip(sent["error"])
	assert result.status == bool(sent["error"]), result
	return sent


def folded_file(folder):
	path = folder / "sent.folded"
	path.write_bytes(FOLDED)
	return path


def folded_of(file):
	out = harness.check(harness.sonde("convert", "--to", "folded", file, "-o", "-")).out
	return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in out.splitlines()}


def test_what_arrives_is_the_profile(folder):
	file = folded_file(folder)
	with Collector(OK) as collector:
		sent = send(collector.url, file, "service.name=shop", "token=secret")
		assert (sent["error"], sent["tries"], sent["rejected"], sent["message"]) == ("", 1, 0, ""), sent
		path, headers, body = collector.requests[0]
		assert path == PATH and len(collector.requests) == 1 and len(body) == sent["bytes"]
		assert headers["Content-Type"] == "application/x-protobuf" and headers["Content-Encoding"] == "gzip"
		assert headers["Authorization"] == "Bearer secret" and headers.get("Expect") is None
		(folder / "got.otlp").write_bytes(gzip.decompress(body))
		assert folded_of(folder / "got.otlp") == folded_of(file)
		assert b"shop" in gzip.decompress(body)
		for url in (collector.url + "/", collector.url + PATH, collector.url + PATH + "/"):
			send(url, file)
			assert collector.requests[-1][0] == PATH
		assert b"unknown_service" in gzip.decompress(collector.requests[-1][2])
		assert collector.requests[-1][1].get("Authorization") is None
		send(collector.url + "/otlp", file)
		assert collector.requests[-1][0] == "/otlp" + PATH


def test_busy_servers_are_tried_again(folder):
	file = folded_file(folder)
	for status in (429, 502, 503, 504, 0):
		with Collector((status, {}, b""), (status, {}, b""), OK) as collector:
			sent = send(collector.url, file)
			# A connection that ends early may be tried once more by libcurl itself.
			assert sent["error"] == "" and sent["tries"] in ((3,) if status else (2, 3)), (status, sent)
			assert len({body for _, _, body in collector.requests}) == 1 and len(collector.requests) == 3
	with Collector((503, {"Retry-After": "3600"}, b"full")) as collector:
		sent = send(collector.url, file, "give-up-ms=60000")
		assert (sent["kind"], sent["tries"]) == ("system", 1) and sent["error"].endswith("status 503: full"), sent
	with Collector((503, {"Retry-After": "1"}, b""), OK) as collector:
		assert send(collector.url, file)["tries"] == 2
	with Collector((503, {}, b"")) as collector:
		# Waits double, so even a second has room for few.
		sent = send(collector.url, file, "give-up-ms=1000")
		assert sent["kind"] == "system" and sent["tries"] == len(collector.requests) <= 12, sent
		assert f"given up after {sent['tries']} tr" in sent["error"], sent


def test_refusals_are_final(folder):
	file = folded_file(folder)
	for status in (301, 307, 400, 401, 403, 404, 405, 413, 415, 418, 500, 501, 505):
		with Collector((status, {"Location": "http://127.0.0.1:1/"}, b"why\nmore")) as collector:
			sent = send(collector.url, file)
			assert (sent["kind"], sent["tries"], len(collector.requests)) == ("input", 1, 1), (status, sent)
			assert sent["error"].endswith(f"status {status}: why"), sent
	with Collector(BAD) as collector:
		sent = send(collector.url, file)
		assert sent["error"].endswith("status 400: no\\x1b[31m"), sent
	with Collector((200, {}, b"<html>")) as collector:
		sent = send(collector.url, file)
		assert sent["kind"] == "input" and "not one of OTLP" in sent["error"] and sent["tries"] == 1, sent
	with Collector((200, {}, bytes(5 << 20))) as collector:
		sent = send(collector.url, file)
		assert sent["kind"] == "input" and sent["tries"] == 1, sent


def test_partial_success_is_reported(folder):
	file = folded_file(folder)
	answer = b"\x08\x03\x12\x07too\nbig"
	with Collector((200, {}, b"\x0a" + bytes([len(answer)]) + answer)) as collector:
		sent = send(collector.url, file)
		assert (sent["error"], sent["rejected"], sent["message"], sent["tries"]) == ("", 3, "too\\x0abig", 1), sent


def test_nobody_is_there(folder):
	file = folded_file(folder)
	sent = send("http://127.0.0.1:1", file, "give-up-ms=30")
	assert sent["kind"] == "system" and "127.0.0.1" in sent["error"], sent
	sent = send("ftp://127.0.0.1:1", file, "give-up-ms=5")
	assert sent["error"], sent


def test_an_untrusted_certificate_is_final(folder):
	clickhouse.self_signed(folder)
	context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
	context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
	with Collector(OK) as collector:
		collector.server.socket = context.wrap_socket(collector.server.socket, server_side=True)
		sent = send(collector.url.replace("http:", "https:"), folded_file(folder))
		assert sent["tries"] == 1 and "certificate" in sent["error"] and not collector.requests, sent


def test_a_password_is_not_repeated(folder):
	for url in ("http://me:secret@127.0.0.1:1", "me:secret@127.0.0.1:1/path", "https://secret@127.0.0.1?x"):
		sent = send(url, folded_file(folder))
		assert sent["kind"] == "usage" and "--credentials" in sent["error"] and "secret" not in sent["error"], sent


def test_a_token_that_travels_unencrypted_is_noted(folder):
	"""The collector stands for a proxy, so that the other machine needs no network."""
	file, token = folded_file(folder), folder / "token"
	token.write_text("me:0123456789abcdef")
	token.chmod(0o600)
	with Collector(OK) as collector:
		send(collector.url, file)
		proxied = {"http_proxy": collector.url, "no_proxy": "127.0.0.1"}

		def notes(url, *options):
			done = harness.check(harness.sonde("push", "--otlp", url, *options, file, file, env=proxied))
			return [line for line in done.err.splitlines() if "unencrypted" in line]

		assert notes("http://other.example:4318/x", "--credentials", token) == [
			"sonde: note: the token travels unencrypted to other.example:4318; use a URL that begins with https://"]
		assert collector.requests[-1][0] == "http://other.example:4318/x" + PATH
		assert collector.requests[-1][1]["Authorization"] == "Bearer me:0123456789abcdef"
		assert notes("http://other.example:4318") == []
		assert notes(collector.url, "--credentials", token) == []
		done = harness.sonde("report", "--store", "clickhouse://db.example", "--credentials", token, env=proxied)
		assert ("sonde: note: the password travels unencrypted to db.example:8123; add secure=true to the store's address"
			in done.err.splitlines()), done


def test_large_profiles_are_not_sent(folder):
	file = folded_file(folder)
	with Collector(OK) as collector:
		sent = send(collector.url, file, "body-max=100")
		assert sent["kind"] == "input" and sent["tries"] == 0 and collector.requests == [], sent


def test_to_sondes_own_intake(folder):
	"""Both ends are sonde's; random profiles arrive with each metric's sums."""
	file = folded_file(folder)
	with intake_server.Intake(folder) as intake:
		assert send(f"http://127.0.0.1:{intake.port}", file, "service.name=shop")["error"] == ""
		kept = intake.kept()
		assert kept["service"] == "shop" and folded_of(kept["file"]) == folded_of(file)
		# The host of the profile, and another one instead.
		source = harness.SOURCE_ROOT / "tests" / "golden" / "in" / "two-metrics.otlp.json"
		for options, host in (((), "box"), (("host.name=other", "k8s.pod.name=p-1"), "other")):
			assert send(f"http://127.0.0.1:{intake.port}", source, *options)["error"] == ""
			kept = intake.kept()
			assert kept["host"] == host and kept["service"] == "unknown_service", kept
			assert kept["labels"].get("k8s.pod.name") == ("p-1" if options else None), kept
		# Samples with threads, times and labels; several metrics.
		for name in ("recording.dump", "threads.dump", "waits.dump", "two-metrics.otlp.json"):
			source = harness.SOURCE_ROOT / "tests" / "golden" / "in" / name
			assert send(f"http://127.0.0.1:{intake.port}", source)["error"] == "", source
			kept = intake.kept()
			assert folded_of(kept["file"]) == folded_of(source), source
	token = folder / "token"
	token.write_text("0123456789abcdef")
	token.chmod(0o600)
	(folder / "b").mkdir()
	with intake_server.Intake(folder / "b", f"token={token}") as intake:
		assert "status 401: the token" in send(f"http://127.0.0.1:{intake.port}", file)["error"]
		assert send(f"http://127.0.0.1:{intake.port}", file, "token=0123456789abcdef")["error"] == ""
	(folder / "c").mkdir()
	with intake_server.Intake(folder / "c", "fail=system") as intake:
		sent = send(f"http://127.0.0.1:{intake.port}", file, "give-up-ms=100")
		assert "status 503: the spool is full" in sent["error"] and sent["kind"] == "system", sent


harness.main()
