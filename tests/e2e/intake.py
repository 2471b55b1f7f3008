"""Profiles that arrive over HTTP: OTLP and Pyroscope's, as their clients send them, and requests that are refused."""

import base64
import gzip
import http.client
import json
import os
import pathlib
import select
import signal
import socket
import threading
import time

import harness
import otlp_shapes
import pyroscope
from intake_server import SERVER, Intake
from proto_wire import fields

OTLP = "/v1development/profiles"
PUSH = "/push.v1.PusherService/Push"
FOLDED = b"main;work;inner 7\nmain;work 5\nmain;idle 1000000007\n"
TOTAL = 7 + 5 + 1000000007


def convert(source, target, *options):
	harness.check(harness.sonde("convert", *options, source, "-o", target))
	return pathlib.Path(target).read_bytes()


def folded_of(file, *options):
	"""{stack: weight} of a profile."""
	out = harness.check(harness.sonde("convert", "--to", "folded", *options, file, "-o", "-")).out
	return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in out.splitlines()}


def same(kept, source, *options):
	a, b = folded_of(kept["file"], *options), folded_of(source, *options)
	assert a == b and a, (a, b)


def folded_file(folder):
	path = folder / "sent.folded"
	path.write_bytes(FOLDED)
	return path


def varint(number):
	out = b""
	while number >= 128:
		out += bytes([number & 127 | 128])
		number >>= 7
	return out + bytes([number])


def field(number, value):
	"""A field of a protocol buffers message: bytes, or a number."""
	if isinstance(value, bytes):
		return varint(number << 3 | 2) + varint(len(value)) + value
	return varint(number << 3) + varint(value)


def attribute(key, value):
	return field(1, field(1, key.encode()) + field(2, field(1, value.encode())))


def otlp_request(*services, padding=b"", more={}):
	"""A request as a collector joins it: for each (service, host, weight), a resource with one profile; all
	with the stack main;work. padding: a further string of the dictionary; more: attributes of each resource."""
	table = [field(5, text) for text in (b"", b"samples", b"count", b"main", b"work")]
	dictionary = (field(1, b"") + field(2, b"") + field(2, field(3, field(1, 1))) + field(2, field(3, field(1, 2))) +
		field(3, b"") + field(3, field(1, 3)) + field(3, field(1, 4)) + field(4, b"") + b"".join(table) + field(5, padding) + field(6, b"") +
		field(7, b"") + field(7, field(1, varint(2) + varint(1))))
	out = b""
	for service, host, weight in services:
		profile = (field(1, field(1, 1) + field(2, 2)) + field(2, field(1, 1) + field(4, varint(weight))) +
			varint(3 << 3 | 1) + (1764000000 * 10**9).to_bytes(8, "little") + field(4, 60 * 10**9))
		resource = attribute("service.name", service) + attribute("host.name", host) + attribute("zone", f"z-{service}") + \
			b"".join(attribute(key, value) for key, value in more.items())
		out += field(1, field(1, resource) + field(2, field(2, profile)))
	return out + field(2, dictionary)


# ---- OTLP

def test_otlp_is_kept_to_the_integer(folder):
	source = folded_file(folder)
	body = convert(source, folder / "x.otlp")
	with Intake(folder) as intake:
		for data, headers in ((body, {}), (gzip.compress(body), {"Content_Encoding": "gzip"})):
			status, headers, answer = intake.post(OTLP, data, "application/x-protobuf", **headers)
			assert (status, answer) == (200, b"") and headers["Content-Type"] == "application/x-protobuf"
			kept = intake.kept()
			same(kept, source)
			assert sum(folded_of(kept["file"]).values()) == TOTAL
			assert kept["protocol"] == "otlp" and kept["service"] == "unknown_service", kept


def test_otlp_of_many_services_is_taken_apart(folder):
	body = otlp_request(("api", "h1", 3), ("db", "h1", 5), ("api", "h2", 7), ("api", "h1", 11))
	with Intake(folder) as intake:
		status, _, answer = intake.post(OTLP, body, "application/x-protobuf")
		assert (status, answer) == (200, b"")
		found = {}
		for _ in range(3):
			kept = intake.kept()
			found[kept["service"], kept["host"]] = folded_of(kept["file"])
			assert kept["labels"] == {"zone": f"z-{kept['service']}"}, kept
			assert (kept["start"], kept["end"]) == (1764000000 * 10**9, 1764000060 * 10**9), kept
		assert found == {("api", "h1"): {"main;work": 14}, ("db", "h1"): {"main;work": 5},
			("api", "h2"): {"main;work": 7}}, found
		assert intake.metrics()['sonde_intake_profiles_total{path="otlp"}'] == 3


def test_programs_are_services_of_their_own(folder):
	"""As OpenTelemetry's profiler with eBPF sends them: two processes of a program without a service, and one with."""
	with Intake(folder) as intake:
		for pid, service in (("11", ""), ("12", ""), ("13", "shop")):
			program = {"process.pid": pid, "process.executable.name": "nginx", "process.executable.path": "/usr/sbin/nginx"}
			assert intake.post(OTLP, otlp_request((service, "h1", 3), more=program), "application/x-protobuf")[0] == 200
			kept = intake.kept()
			assert kept["service"] == (service or "nginx") and kept["host"] == "h1", kept
			assert kept["labels"] == {"zone": f"z-{service}", "process.executable.path": "/usr/sbin/nginx"}, kept
			assert folded_of(kept["file"]) == {"main;work": 3}


def test_long_attributes_are_left_out(folder):
	with Intake(folder) as intake:
		for size, expected in ((4094, "z-" + "s" * 4094), (4097, None)):
			assert intake.post(OTLP, otlp_request(("s" * size, "h", 3)), "application/x-protobuf")[0] == 200
			kept = intake.kept()
			assert kept["labels"].get("zone") == expected, kept["labels"]
			assert kept["service"] == ("s" * size if expected else "unknown_service")


def test_otlp_in_json(folder):
	body = {"resourceProfiles": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "js"}}]},
		"scopeProfiles": [{"profiles": [{"sampleType": {"typeStrindex": 1, "unitStrindex": 2},
			"timeUnixNano": "1764000000000000000", "durationNano": "1000000000",
			"samples": [{"stackIndex": 1, "values": ["9007199254740993"]}]}]}]}],
		"dictionary": {"mappingTable": [{}], "locationTable": [{}, {"lines": [{"functionIndex": 1}]}],
			"functionTable": [{}, {"nameStrindex": 3}], "linkTable": [{}], "attributeTable": [{}],
			"stringTable": ["", "samples", "count", "main"], "stackTable": [{}, {"locationIndices": [1]}]},
		"unknownMember": [1, {"a": 2}]}
	with Intake(folder) as intake:
		status, headers, answer = intake.post(OTLP, json.dumps(body), "application/json; charset=utf-8")
		assert (status, answer) == (200, b"{}") and headers["Content-Type"] == "application/json"
		kept = intake.kept()
		assert kept["service"] == "js"
		assert folded_of(kept["file"]) == {"main": 9007199254740993}
		# Nothing to keep is a success.
		for text in ("{}", '{"resourceProfiles":[]}'):
			assert intake.post(OTLP, text, "application/json")[0] == 200
		assert intake.post(OTLP, b"", "application/x-protobuf")[0] == 200
		assert intake.kept_nothing()


def test_otlp_refusals_are_statuses(folder):
	good = otlp_request(("api", "h1", 3))
	with Intake(folder) as intake:
		for body, kind in ((good[:-3], "application/x-protobuf"), (b"\xff" * 40, "application/x-protobuf"),
				(b"{", "application/json"), (b"[]", "application/json"), (b"{} {}", "application/json")):
			status, headers, answer = intake.post(OTLP, body, kind)
			assert status == 400 and headers["Content-Type"] == kind, (status, body)
			if kind == "application/json":
				assert json.loads(answer)["code"] == 3 and json.loads(answer)["message"]
			else:
				# google.rpc.Status: code 3, a message.
				assert answer[:2] == b"\x08\x03" and answer[2] == 0x12, answer
		# Of the other layouts the message names the version.
		old = field(1, field(2, field(2, field(3, b"x"))))
		status, _, answer = intake.post(OTLP, old, "application/x-protobuf")
		assert status == 400 and b"1.5" in answer, answer
		assert intake.kept_nothing()


def test_otlp_partial_success(folder):
	# Each resource needs the whole dictionary, and this one is most of the request.
	body = otlp_request(*[(f"s{i}", "h", i + 1) for i in range(40)], padding=bytes(1 << 20))
	with Intake(folder) as intake:
		status, _, answer = intake.post(OTLP, body, "application/x-protobuf")
		assert status == 200
		metrics = intake.metrics()
		rejected = metrics['sonde_intake_profiles_rejected_total{path="otlp"}']
		assert metrics['sonde_intake_profiles_total{path="otlp"}'] + rejected == 40 and rejected == 24, metrics
		# OTLP's ExportProfilesPartialSuccess: rejected_profiles, error_message.
		assert {intake.kept()["service"] for _ in range(16)} == {f"s{i}" for i in range(16)}
		assert answer[0] == 0x0a and answer.find(field(1, rejected)) == 2 and b"too many resources" in answer, answer


def test_what_is_not_kept_is_said(folder):
	body = otlp_request(("api", "h1", 3))
	for reason, expected in (("system", 503), ("input", 400)):
		(folder / reason).mkdir()
		with Intake(folder / reason, f"fail={reason}") as intake:
			status, headers, answer = intake.post(OTLP, body, "application/x-protobuf")
			assert status == expected, (status, answer)
			assert (headers["Retry-After"] == "5") == (expected == 503)
			assert (b"spool is full" in answer) == (expected == 503), answer
			status, headers, answer = intake.post("/ingest?name=a&format=folded", FOLDED)
			assert status == expected, (status, answer)


def test_a_request_has_limits(folder):
	"""A profile that takes too much time or memory, or ends the process that reads it, is refused, and the server goes on."""
	body = otlp_request(("api", "h1", 3))
	refusals = [("crash", 500, b"an error in sonde", "failed"), ("time", 413, b"more than 1 s of CPU time", "limit")]
	# Memory has no limit with AddressSanitizer, which maps terabytes.
	for how, expected, words, reason in refusals + ([] if harness.SANITIZED else [("memory", 413, b"256 MiB of memory", "limit")]):
		(folder / how).mkdir()
		with Intake(folder / how, f"fail={how}", "seconds=1") as intake:
			for _ in range(2 if how == "crash" else 1):
				status, headers, answer = intake.post(OTLP, body, "application/x-protobuf")
				assert status == expected and words in answer, (how, status, answer)
				assert headers["Retry-After"] is None, headers
			assert intake.request("GET", "/-/healthy")[0] == 200
			assert intake.metrics()[f'sonde_intake_refused_total{{reason="{reason}"}}'] >= 1


def test_many_resources_share_a_large_dictionary(folder):
	"""Reading it for each of them would cost their product: some are kept, and the answer counts the others."""
	body = otlp_shapes.request(1024, strings=otlp_shapes.names(20000), functions=20001)
	with Intake(folder) as intake:
		status, _, answer = intake.post(OTLP, body, "application/x-protobuf")
		partial = fields(fields(answer)[1][0])
		kept = intake.metrics()['sonde_intake_profiles_total{path="otlp"}']
		assert status == 200 and 0 < kept < 100 and partial[1] == [1024 - kept], (status, kept, partial)
		assert b"too many resources in one request" in partial[2][0], partial
		assert intake.metrics()['sonde_intake_profiles_rejected_total{path="otlp"}'] == 1024 - kept
		assert intake.request("GET", "/-/healthy")[0] == 200


def test_ends_while_a_profile_is_read(folder):
	"""Within a second, though reading would take longer; the client is to send it again."""
	with Intake(folder, "fail=time") as intake:
		outcomes = []
		client = threading.Thread(target=lambda: outcomes.append(intake.post("/ingest?name=a&format=folded", FOLDED)[:2]))
		client.start()
		wait_for(lambda: intake.metrics()["sonde_intake_body_bytes"])
		start = time.monotonic()
		intake.process.send_signal(signal.SIGTERM)
		intake.process.wait(timeout=60 * harness.PATIENCE)
		taken = time.monotonic() - start
		client.join()
	assert taken < 1 * harness.PATIENCE, taken
	assert outcomes[0][0] == 503 and outcomes[0][1]["Retry-After"] == "5", outcomes


def test_retries_have_the_same_digest(folder):
	body = otlp_request(("api", "h1", 3))
	with Intake(folder) as intake:
		digests = []
		for data in (body, body, otlp_request(("api", "h1", 4)), otlp_request(("api", "h2", 3))):
			assert intake.post(OTLP, data, "application/x-protobuf")[0] == 200
			digests.append(intake.kept()["digest"])
		assert digests[0] == digests[1] and len(set(digests)) == 3, digests


# ---- Pyroscope

def form(**parts):
	lines = []
	for name, data in parts.items():
		lines += [b"--XyZ", b'Content-Disposition: form-data; name="%s"; filename="%s"' % (name.encode(), name.encode()),
			b"Content-Type: application/octet-stream", b"", data]
	return b"\r\n".join([*lines, b"--XyZ--", b""]), "multipart/form-data; boundary=XyZ"


def test_ingest_of_pprof(folder):
	source = folded_file(folder)
	body = convert(source, folder / "x.pb.gz")
	assert body[:2] == b"\x1f\x8b"
	query = "/ingest?name=my-app%7Benv%3Dprod%2Chostname%3Dnode7%2C%20region%20%3D%20eu%7D&from=1764000000&until=1764000010"
	multipart, kind = form(sample_type_config=b'{"cpu":{"units":"samples"}}', profile=body)
	with Intake(folder) as intake:
		for path, data, content in ((query + "&format=pprof", body, "application/octet-stream"),
				(query + "&format=pprof", gzip.decompress(body), None), (query, multipart, kind),
				(query + "&format=pprof&spyName=gospy&sampleRate=100", multipart, kind)):
			status, _, answer = intake.post(path, data, content)
			assert (status, answer) == (200, b""), answer
			kept = intake.kept()
			same(kept, source)
			assert (kept["protocol"], kept["service"], kept["host"]) == ("ingest", "my-app", "node7"), kept
			assert kept["labels"] == {"env": "prod", "region": "eu"}, kept
			assert (kept["start"], kept["end"]) == (1764000000 * 10**9, 1764000010 * 10**9), kept
		# Node's client sends an empty profile at times.
		status, _, answer = intake.post(query, *form(profile=b""))
		assert status == 200 and intake.kept_nothing(), answer


def test_ingest_of_text(folder):
	with Intake(folder) as intake:
		for path in ("/ingest?name=app.cpu&sampleRate=250", "/ingest?name=app.cpu&sampleRate=250&format=groups",
				"/ingest?name=app&sampleRate=250&format=folded"):
			assert intake.post(path, FOLDED)[0] == 200
			kept = intake.kept()
			assert sum(folded_of(kept["file"]).values()) == TOTAL
			assert kept["service"] == "app" and kept["interval"] == 4000000, kept
			assert 'metric "samples" "count"' in pathlib.Path(kept["file"]).read_text()
		assert intake.post("/ingest?name=a.alloc_space&units=bytes", b"main;f 4096\nmain;g 2 3\n")[0] == 200
		kept = intake.kept()
		# A blank in a name is no second weight.
		assert folded_of(kept["file"]) == {"main;f": 4096, "main;g 2": 3}
		assert 'metric "alloc_space" "bytes"' in pathlib.Path(kept["file"]).read_text()
		assert intake.post("/ingest?name=app&format=lines", b"a;b\na;b\na\n")[0] == 200
		assert folded_of(intake.kept()["file"]) == {"a;b": 2, "a": 1}


def push_message(*series):
	return b"".join(field(1, b"".join(field(1, field(1, key) + field(2, value)) for key, value in labels.items()) +
		b"".join(field(2, field(1, profile) + field(2, b"some-uuid")) for profile in profiles)) for labels, profiles in series)


def test_push(folder):
	source = folded_file(folder)
	body = convert(source, folder / "x.pb.gz")
	labels = {b"__name__": b"process_cpu", b"service_name": b"shop", b"host": b"n1", b"pod": b"p-0"}
	message = push_message((labels, [body, gzip.decompress(body)]), ({b"service_name": b"other"}, [body]))
	as_json = {"series": [{"labels": [{"name": k.decode(), "value": v.decode()} for k, v in labels.items()],
		"samples": [{"rawProfile": base64.b64encode(body).decode(), "ID": "u"}]}]}
	with Intake(folder) as intake:
		status, headers, answer = intake.post(PUSH, message, "application/proto", Connect_Protocol_Version="1")
		assert (status, answer) == (200, b"") and headers["Content-Type"] == "application/proto", answer
		found = [intake.kept() for _ in range(3)]
		assert [k["service"] for k in found] == ["shop", "shop", "other"], found
		assert found[0]["host"] == "n1" and found[0]["labels"] == {"pod": "p-0"} and found[2]["labels"] == {}, found
		for kept in found:
			same(kept, source)
		status, headers, answer = intake.post(PUSH, gzip.compress(json.dumps(as_json).encode()), "application/json",
			Content_Encoding="gzip")
		assert (status, answer) == (200, b"{}") and headers["Content-Type"] == "application/json", answer
		kept = intake.kept()
		same(kept, source)
		assert kept["labels"] == {"pod": "p-0"}
		# Connect's errors are JSON, whatever the request was.
		for data, kind in ((message[:-1], "application/proto"), (b'{"series":[{"samples":[{"rawProfile":"%%"}]}]}',
				"application/json"), (push_message(({b"a b": b"c"}, [body])), "application/proto")):
			status, headers, answer = intake.post(PUSH, data, kind)
			assert status == 400 and headers["Content-Type"] == "application/json", answer
			assert json.loads(answer)["code"] == "invalid_argument", answer


# ---- refusals

def head(method="POST", path=OTLP, host="127.0.0.1", kind="application/x-protobuf", more="", length="0"):
	return (f"{method} {path} HTTP/1.1\r\n" + (f"Host: {host}\r\n" if host is not None else "") +
		(f"Content-Type: {kind}\r\n" if kind else "") + (f"Content-Length: {length}\r\n" if length is not None else "") +
		more + "\r\n").encode()


def test_refused_requests(folder):
	good = otlp_request(("api", "h1", 3))
	probes = [
		# methods and paths
		(405, head("GET")), (405, head("PUT")), (405, head("DELETE")), (405, head("OPTIONS")), (405, head("HEAD")),
		(405, head("POST", "/metrics")), (405, head("POST", "/-/healthy")), (405, head("PATCH", "/ingest?name=a")),
		(404, head(path="/")), (404, head(path="/v1/traces")), (404, head(path=OTLP + "/")), (404, head(path="/%69ngest")),
		(404, head(path="/v1development/profiles%00")), (404, head(path="/../ingest")), (404, head("GET", "/debug/pprof/")),
		(404, head("CONNECT", "/x")),
		# hosts and pages of other sites
		(421, head(host="evil.example")), (421, head(host="127.0.0.1.evil.example")), (421, head(host="localhost:")),
		(421, head(host="0.0.0.0")), (400, head(host=None)), (400, head(more="Host: localhost\r\n")), (421, head(host="")),
		(403, head(more="Origin: http://evil.example\r\n")), (403, head(more="Origin: http://127.0.0.1\r\n")),
		(403, head(more="Origin: null\r\n")), (403, head(more="Sec-Fetch-Site: cross-site\r\n")),
		(403, head("GET", "/metrics", kind=None, length=None, more="Sec-Fetch-Site: same-site\r\n")),
		# where a body ends
		(400, head(more="Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n"), (400, head(more="Content-Length: 5\r\n")),
		(400, head(length=None, more="Transfer-Encoding: gzip\r\n")), (400, head(more="Upgrade: h2c\r\nConnection: Upgrade\r\n")),
		(400, head(length=None, more="Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") + b"0\r\n\r\n"),
		(400, head(length="-1")), (400, head(length="1x")), (413, head(length=str(129 << 20))),
		(413, head(length="9999999999999999999")), (400, head("GET", "/metrics", length="3") + b"abc"),
		# types
		(415, head(kind=None)), (415, head(kind="text/plain")), (415, head(kind="application/grpc")),
		(415, head(kind="application/grpc+proto")), (415, head(path=PUSH, kind="application/grpc-web")),
		(415, head(path=PUSH)), (415, head(more="Content-Encoding: br\r\n")), (415, head(more="Content-Encoding: gzip, gzip\r\n")),
		# what Pyroscope's clients may send and sonde does not read
		(415, head(path="/ingest?name=a&format=jfr", length="4") + b"FLR\0"), (415, head(path="/ingest?name=a&format=trie")),
		(415, head(path="/ingest?name=a&format=tree", length="1") + b"x"), (415, head(path="/ingest?name=a&format=x", length="1") + b"x"),
		(400, head(path="/ingest", length="1") + b"x"), (400, head(path="/ingest?name=%7Ba%3Db%7D", length="1") + b"x"),
		(400, head(path="/ingest?name=a%20b", length="1") + b"x"), (400, head(path="/ingest?name=a%7Bx-y%3D1%7D", length="1") + b"x"),
		(400, head(path="/ingest?name=a", kind="multipart/form-data", length="1") + b"x"),
		(400, head(path="/ingest?name=a", kind="multipart/form-data; boundary=b", length="1") + b"x"),
		(400, head(path="/ingest?name=a", kind=None, length="9") + b"not a line"[:9]),
		(400, head(path="/ingest?name=a&format=pprof", length="4") + b"\x1f\x8b\x08\0"),
		(400, head(more="Content-Encoding: gzip\r\n", length="4") + b"abcd"),
		# a prev_profile is of a client that sends running totals
		(400, (lambda body, kind: head(path="/ingest?name=a", kind=kind, length=str(len(body))) + body)(
			*form(profile=b"x", prev_profile=b"y"))),
		# heads
		(400, b"GET\r\n\r\n"), (0, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), (0, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
	]
	assert len(probes) >= 40
	with Intake(folder) as intake:
		for expected, data in probes:
			status, back = intake.raw(data)
			# What is no request at all may also be answered with a refusal of the library.
			assert status == expected or (expected in (0, 400) and status in (0, 400, 404, 405, 505)), (expected, status, data[:200], back[:300])
			assert status != 200
		assert intake.kept_nothing()
		status, headers, _ = intake.request("PUT", OTLP)
		assert status == 405 and headers["Allow"] == "POST"
		# Good ones still work, chunked as well.
		assert intake.raw(head(length=None, more="Transfer-Encoding: chunked\r\n") + b"%x\r\n%s\r\n0\r\n\r\n" % (len(good), good))[0] == 200
		assert intake.kept()["service"] == "api"
		assert intake.request("GET", "/-/healthy")[2] == b"ok\n"
		metrics = intake.metrics()
		for reason in ("head", "type", "size", "malformed"):
			assert metrics[f'sonde_intake_refused_total{{reason="{reason}"}}'] > 0, metrics
		assert metrics["server_up"] == 1


def basic(text):
	return "Basic " + base64.b64encode(text.encode()).decode()


def test_tokens(folder):
	token = folder / "token"
	token.write_text("0123456789abcdef-secret\n")
	token.chmod(0o600)
	good = otlp_request(("api", "h1", 3))
	with Intake(folder, f"token={token}") as intake:
		for header in (None, "Bearer", "Bearer x", "Bearer 0123456789abcdef-secreT", "Bearer 0123456789abcdef-secret1",
				"Basic 0123456789abcdef-secret", "0123456789abcdef-secret", "Basic ", basic("me:0123456789abcdef-secreT"),
				basic("0123456789abcdef-secret"), basic("0123456789abcdef-secret:"), basic("me:"), "Basic me:0123456789abcdef-secret"):
			status, headers, _ = intake.post(OTLP, good, "application/x-protobuf", **({"Authorization": header} if header else {}))
			assert status == 401 and headers["WWW-Authenticate"] == "Bearer", header
		assert intake.request("GET", "/metrics")[0] == 401
		assert intake.request("GET", "/-/healthy")[0] == 200
		assert intake.kept_nothing()
		# With a token, the name by which clients know the server does not matter.
		headers = {"Authorization": "Bearer 0123456789abcdef-secret", "Content-Type": "application/x-protobuf", "Host": "collector.example"}
		assert intake.request("POST", OTLP, good, headers)[0] == 200
		assert intake.kept()["service"] == "api"
		# Pyroscope's clients know users and passwords.
		for user in ("", "me", "a b"):
			assert intake.request("POST", OTLP, good, {**headers, "Authorization": basic(f"{user}:0123456789abcdef-secret")})[0] == 200
			assert intake.kept()["service"] == "api"
	public = folder / "public"
	public.write_text("0123456789abcdef-secret\n")
	public.chmod(0o644)
	for address, options, message in (("0.0.0.0:0", [], "a file with a token"), (":0", [], "a file with a token"),
			("[::]:0", [], "a file with a token"), ("localhost:1", [], "is not an address"), ("127.0.0.1:65536", [], "is not an address"),
			("127.0.0.1:0", [f"token={folder / 'none'}"], "No such file"), ("127.0.0.1:0", ["token=/dev/null"], "/dev/null"),
			("127.0.0.1:0", [f"token={public}"], "chmod 600")):
		result = harness.run(SERVER, address, folder, *options)
		assert result.status == 1 and message in result.err, (address, result.err)


def test_sizes(folder):
	bomb = gzip.compress(bytes(4 << 20))
	with Intake(folder, "body-max=1000000") as intake:
		assert intake.post(OTLP, bytes(1000001), "application/x-protobuf")[0] == 413
		assert intake.post(OTLP, bomb, "application/x-protobuf", Content_Encoding="gzip")[0] == 413
		assert intake.post("/ingest?name=a&format=pprof", bomb)[0] == 413
		assert intake.post(PUSH, push_message(({}, [bomb])), "application/proto")[0] == 413
		# Without a stated size: the refusal comes at the end.
		chunk = b"%x\r\n%s\r\n" % (100000, bytes(100000))
		status, _ = intake.raw(head(length=None, more="Transfer-Encoding: chunked\r\n") + chunk * 11 + b"0\r\n\r\n")
		assert status == 413
		# Bodies that are being sent count, until their senders give up.
		slow = [intake.connect() for _ in range(2)]
		for client in slow:
			client.sendall(head(length="900000") + bytes(899999))
		wait_for(lambda: intake.metrics()["sonde_intake_body_bytes"] == 2 * 899999)
		status, headers, _ = intake.post(OTLP, bytes(300000), "application/x-protobuf")
		assert status == 503 and headers["Retry-After"] == "5"
		for client in slow:
			client.close()
		wait_for(lambda: intake.metrics()["sonde_intake_body_bytes"] == 0)
		assert intake.post(OTLP, otlp_request(("api", "h1", 3)), "application/x-protobuf")[0] == 200


def wait_for(condition):
	end = time.monotonic() + 60 * harness.PATIENCE
	while not condition():
		assert time.monotonic() < end
		time.sleep(0.02)


def test_many_connections(folder):
	with Intake(folder) as intake:
		idle = [intake.connect() for _ in range(300)]
		assert intake.post(OTLP, otlp_request(("api", "h1", 3)), "application/x-protobuf")[0] == 200
		for client in idle:
			client.close()


def test_ends_while_clients_send(folder):
	"""Each request is answered, or its connection ends; the server's exit status is that of a good end."""
	body = otlp_request(("api", "h1", 3))
	for round in range(10):
		(folder / str(round)).mkdir()
		outcomes = []
		with Intake(folder / str(round)) as intake:
			def client(port=intake.port):
				try:
					while True:
						connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60 * harness.PATIENCE)
						connection.request("POST", OTLP, body, {"Content-Type": "application/x-protobuf"})
						outcomes.append(connection.getresponse().status)
						connection.close()
				except (OSError, http.client.HTTPException):
					outcomes.append(0)
			clients = [threading.Thread(target=client) for _ in range(8)]
			for thread in clients:
				thread.start()
			wait_for(lambda: outcomes)
		for thread in clients:
			thread.join()
		assert set(outcomes) <= {0, 200, 503} and outcomes.count(0) == 8, outcomes


def test_unix_sockets(folder):
	path = folder / "s"
	for _ in range(2):
		with Intake(folder, address=str(path)) as intake:
			assert path.stat().st_mode & 0o777 == 0o700
			client = http.client.HTTPConnection("agent")
			client.sock = socket.socket(socket.AF_UNIX)
			client.sock.connect(str(path))
			client.request("POST", "/ingest?name=a", FOLDED)
			assert client.getresponse().status == 200
			assert intake.kept()["service"] == "a"
			# The next one takes over the socket that a killed one leaves.
			os.kill(intake.process.pid, signal.SIGKILL)
			intake.process.wait()
			intake.process.returncode = 0
		for file in (folder / "kept").iterdir():
			file.unlink()
		(folder / "kept").rmdir()
	with Intake(folder, address=str(path)):
		assert harness.run(SERVER, path, folder).status == 1
	assert not path.exists()


def test_sent_paths_open_no_file(folder):
	"""A profile that names a program of this machine gets no names from it."""
	fifo = folder / "fifo"
	os.mkfifo(fifo)
	# pprof: an address in a mapping of a file, without functions.
	for program in (harness.SONDE, str(fifo)):
		strings = [b"", b"samples", b"count", program.encode()]
		profile = (field(1, field(1, 1) + field(2, 2)) + field(2, field(1, varint(1)) + field(2, varint(5))) +
			field(3, field(1, 1) + field(2, 0) + field(3, 1 << 40) + field(5, 3)) + field(4, field(1, 1) + field(2, 1) + field(3, 0x1234)) +
			b"".join(field(6, text) for text in strings))
		place = folder / ("a" if program == harness.SONDE else "b")
		place.mkdir()
		with Intake(place) as intake:
			status, _, answer = intake.post("/ingest?name=a&format=pprof", profile)
			assert status == 200, answer
			kept = intake.kept()
			assert list(folded_of(kept["file"]).values()) == [5]
			assert "the profile was sent without it" in pathlib.Path(kept["file"]).read_text()


# ---- a real client

CLIENT_OPTIONS = "flushIntervalMs: 500, wall: {collectCpuTime: true, samplingDurationMs: 500}"
CLIENT_WORK = """
function busyInner(until) { let x = 0; while (Date.now() < until) x += Math.sqrt(x + 1); return x; }
function busyOuter(ms) { return busyInner(Date.now() + ms); }
const begun = Date.now();
function step() {
	busyOuter(50);
	if (Date.now() - begun < 2500) setImmediate(step);
	else end('');
}
step();
"""


@harness.takes_long
def test_pyroscopes_node_client(folder):
	with Intake(folder) as intake:
		pyroscope.run_node(folder, CLIENT_OPTIONS, CLIENT_WORK, f"http://127.0.0.1:{intake.port}")
		metrics = intake.metrics()
		kept = metrics['sonde_intake_profiles_total{path="ingest"}'] + metrics['sonde_intake_profiles_total{path="push"}']
		assert kept > 0, metrics
		names = set()
		for _ in range(kept):
			origin = intake.kept()
			assert origin["service"] == "node-shop" and origin["host"] == "n3", origin
			assert origin["labels"]["env"] == "test" and origin["end"] >= origin["start"] > 0, origin
			names |= {frame for stack in folded_of(origin["file"]) for frame in stack.split(";")}
		assert any("busyInner" in name for name in names) and any("busyOuter" in name for name in names), names


harness.main()
