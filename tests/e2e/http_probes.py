"""Both servers, and requests that have two meanings, or none: each gets one answer with one head, refusals end the
connection and nothing after them is read, and the server lives on."""

import re
import socket

import harness
from intake_server import Intake
from served import Server

HOST = b"Host: 127.0.0.1\r\n"
HEAD = re.compile(rb"HTTP/1\.[01] (\d{3}) [A-Z]")


def get(path, *lines, method=b"GET", version=b"HTTP/1.1", host=HOST):
	return b"%s %s %s\r\n%s%s\r\n" % (method, path, version, host, b"".join(line + b"\r\n" for line in lines))


def refused_heads(path):
	"""(name, status, bytes): what is refused by its head, by both servers alike."""
	smuggled = get(path)
	first = b"GET %s HTTP/1.1\r\n" % path
	for name, at in (("method", b"GE\0T %s HTTP/1.1\r\n" % path + HOST), ("target", b"GET %s\0x HTTP/1.1\r\n" % path + HOST),
		("query", b"GET %s?a=\0 HTTP/1.1\r\n" % path + HOST), ("version", b"GET %s HTTP/1.1\0\r\n" % path + HOST),
		("header's name", first + HOST + b"X\0Y: a\r\n"), ("header's value", first + HOST + b"X: a\0b\r\n"),
		("Host", first + b"Host: 127.0.0.1\0.evil\r\n")):
		yield f"NUL in the {name}", 400, at + b"\r\n"
	yield "only NULs", 400, b"\0" * 100 + b"\r\n\r\n"
	yield "only LF", 400, b"GET %s HTTP/1.1\nHost: 127.0.0.1\n\n" % path
	yield "LF after the first line", 400, b"GET %s HTTP/1.1\n" % path + HOST + b"\r\n"
	yield "LF after a header", 400, first + b"X: y\n" + HOST + b"\r\n"
	yield "LF at the end", 400, first + HOST + b"\n"
	yield "LF that hides a header", 400, first + HOST + b"X: y\nTransfer-Encoding: chunked\r\n\r\n"
	yield "CR alone", 400, first + HOST + b"X: a\rb\r\n\r\n"
	yield "two CR", 400, first + HOST + b"X: a\r\r\n\r\n"
	yield "CR before the name", 400, first + HOST + b"\rX: a\r\n\r\n"
	for byte in (b"\x01", b"\x08", b"\x0b", b"\x1b", b"\x7f"):
		yield f"control character {byte.hex()}", 400, get(path, b"X: a" + byte)
	yield "folded header", 400, get(path, b"X: a", b" b")
	yield "folded with a tab", 400, get(path, b"X: a", b"\tb")
	yield "folded Host", 400, first + b"Host:\r\n 127.0.0.1\r\n\r\n"
	yield "blank first", 400, first + b" X: y\r\n" + HOST + b"\r\n"
	yield "blank before the colon", 400, get(path, b"Transfer-Encoding : chunked")
	yield "blank in a name", 400, get(path, b"X Y: z")
	yield "no colon", 400, get(path, b"nothing")
	yield "no name", 400, get(path, b": x")
	yield "quotes in a name", 400, get(path, b'"X": y')
	yield "UTF-8 in a name", 400, get(path, "\u00dc: y".encode())
	yield "no Host", 400, get(path, host=b"")
	yield "no Host in 1.0", 400, get(path, host=b"", version=b"HTTP/1.0")
	yield "two Hosts", 400, get(path, b"Host: 127.0.0.1")
	yield "two Hosts, one of another site", 400, get(path, b"hOST: evil.example")
	yield "two blanks", 400, b"GET  %s HTTP/1.1\r\n" % path + HOST + b"\r\n"
	yield "blank in the target", 400, b"GET %s x HTTP/1.1\r\n" % path + HOST + b"\r\n"
	yield "tabs", 400, b"GET\t%s\tHTTP/1.1\r\n" % path + HOST + b"\r\n"
	yield "bytes in the target", 400, get(path + b"\xff\xfe")
	yield "UTF-8 in the target", 400, get(path + "\u00fc".encode())
	yield "no version", 400, b"GET %s\r\n\r\n" % path
	yield "no target", 400, b"GET HTTP/1.1\r\n" + HOST + b"\r\n"
	yield "not HTTP", 400, b"GET %s FTP/1.1\r\n" % path + HOST + b"\r\n"
	yield "lower case", 505, get(path, version=b"HTTP/1.1x")
	for version in (b"HTTP/0.9", b"HTTP/1.2", b"HTTP/2.0", b"HTTP/11", b"HTTP/-1.1"):
		yield f"version {version.decode()}", 505, get(path, version=version)
	yield "HTTP/2 preface", 505, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	yield "TLS", 400, bytes.fromhex("16030100c8010000c40303") + b"\0" * 180
	yield "empty lines", 400, b"\r\n" * 1000
	for length in (b"-1", b"+1", b"0x10", b"1, 1", b"1 1", b"1;2", b"", b"1.0", "\u0661".encode()):
		yield f"length '{length.decode()}'", 400, get(path, b"Content-Length: " + length) + smuggled
	yield "long length", 413, get(path, b"Content-Length: " + b"9" * 40) + smuggled
	yield "two lengths", 400, get(path, b"Content-Length: 0", b"Content-Length: 44") + smuggled
	yield "two equal lengths", 400, get(path, b"Content-Length: 0", b"Content-Length: 0") + smuggled
	yield "length and chunks", 400, get(path, b"Content-Length: 5", b"Transfer-Encoding: chunked") + b"0\r\n\r\n" + smuggled
	yield "chunks and length", 400, get(path, b"Transfer-Encoding: chunked", b"Content-Length: 5") + b"0\r\n\r\n" + smuggled
	for coding in (b"xchunked", b"identity", b"chunked, chunked", b"gzip, chunked", b"chunked;x=y", b'"chunked"', b"", b"\x0bchunked"):
		yield f"coding {coding!r}", 400, get(path, b"Transfer-Encoding: " + coding) + b"0\r\n\r\n" + smuggled
	yield "two codings", 400, get(path, b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity") + smuggled
	yield "chunks in 1.0", 400, get(path, b"Transfer-Encoding: chunked", version=b"HTTP/1.0") + b"0\r\n\r\n"
	yield "body of a GET", 400, get(path, b"Content-Length: 5") + b"hello" + smuggled
	yield "chunked body of a GET", 400, get(path, b"Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n" + smuggled
	yield "upgrade", 400, get(path, b"Upgrade: h2c", b"Connection: Upgrade")
	yield "upgrade to a WebSocket", 400, get(path, b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Version: 13")
	yield "long header", 431, get(path, b"X: " + b"a" * 100000)
	yield "long target", 431, get(path + b"?" + b"a" * 100000)
	yield "many headers", 431, get(path, *(b"X%d: y" % i for i in range(20000)))
	yield "HEAD", 405, get(path, method=b"HEAD")
	yield "TRACE", 405, get(path, method=b"TRACE")
	yield "DELETE", 405, get(path, method=b"DELETE")
	yield "lower case method", 405, get(path, method=b"get")
	yield "absolute URL", 404, get(b"http://127.0.0.1" + path)
	yield "leads up", 404, get(path + b"/../../etc/passwd")
	yield "escaped path", 404, get(b"/%2e%2e" + path)
	yield "escaped NUL", 404, get(path + b"%00")
	yield "escaped line end", 404, get(path + b"%0d%0aX:%20y")
	yield "another Host", 421, get(path, host=b"Host: evil.example\r\n")
	yield "an escaped Host", 421, get(path, host=b"Host: 127.0.0.1%00\r\n")
	yield "another Origin", 403, get(path, b"Origin: http://evil.example")


def good_heads(path):
	"""(name, bytes) that both servers answer, and go on."""
	yield "plain", get(path)
	yield "empty line first", b"\r\n" + get(path)
	yield "no blank after the colon", get(path, b"X:y")
	yield "blanks around a value", get(path, b"X: \t y \t ")
	yield "empty value", get(path, b"X:")
	yield "UTF-8 in a value", get(path, "X: \u00fc".encode())
	yield "tab in a value", get(path, b"X: a\tb")
	yield "names in any case", get(path, host=b"hOsT: 127.0.0.1\r\n")
	yield "range", get(path, b"Range: bytes=0-0,-1,5-")
	yield "odd range", get(path, b"Range: bytes=9999999999999999999999-")
	yield "length 0", get(path, b"X-Content-Length: 7")
	yield "expectation without a body", get(path, b"Expect: 100-continue")


CHUNKED = b"POST /v1development/profiles HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n" + HOST + b"\r\n"
BODIES = (
	("good", 200, b"2\r\n{}\r\n0\r\n\r\n"),
	("two chunks", 200, b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"),
	("zeros", 200, b"0000002\r\n{}\r\n000\r\n\r\n"),
	("extension", 200, b"2;a=b\r\n{}\r\n0;c\r\n\r\n"),
	("trailer", 200, b"2\r\n{}\r\n0\r\nX: y\r\n\r\n"),
	("only LF", 400, b"2\n{}\n0\n\n"),
	("LF after a size", 400, b"2\n{}\r\n0\r\n\r\n"),
	("LF after a chunk", 400, b"2\r\n{}\n0\r\n\r\n"),
	("LF in an extension", 400, b"2;a\nb\r\n{}\r\n0\r\n\r\n"),
	("LF in a trailer", 400, b"2\r\n{}\r\n0\r\nX: y\n\r\n"),
	("NUL in a size", 400, b"2\0\r\n{}\r\n0\r\n\r\n"),
	("NUL in an extension", 400, b"2;\0\r\n{}\r\n0\r\n\r\n"),
	("NUL in a trailer", 400, b"2\r\n{}\r\n0\r\nX: \0\r\n\r\n"),
	("no end after a chunk", 400, b"2\r\n{}0\r\n\r\n"),
	("longer than its size", 400, b"1\r\n{}\r\n0\r\n\r\n"),
	("no size", 400, b"\r\n{}\r\n0\r\n\r\n"),
	("negative", 400, b"-2\r\n{}\r\n0\r\n\r\n"),
	("sign", 400, b"+2\r\n{}\r\n0\r\n\r\n"),
	("0x", 400, b"0x2\r\n{}\r\n0\r\n\r\n"),
	("blank before", 400, b" 2\r\n{}\r\n0\r\n\r\n"),
	("blank after", 400, b"2 \r\n{}\r\n0\r\n\r\n"),
	("64 bits", 400, b"ffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
	("more than 64 bits", 400, b"10000000000000002\r\n{}\r\n0\r\n\r\n"),
	("long line", 400, b"2;" + b"a" * 100000 + b"\r\n{}\r\n0\r\n\r\n"),
	("long trailers", 400, b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 10000 + b"\r\n"),
	("not a size, second", 400, b"2\r\n{}\r\nzz\r\n"),
)


def everything(client):
	"""What comes until the server ends the connection."""
	back = b""
	try:
		while piece := client.recv(65536):
			back += piece
	except ConnectionError:
		pass
	return back


def statuses(server, data):
	"""Those of all heads that come back. The server ends the connection, since the client does not."""
	with server.connect() as client:
		try:
			client.sendall(data)
		except ConnectionError:
			pass
		back = everything(client)
		return [int(status) for status in HEAD.findall(back)], back


def probe(server, path):
	last, probes = get(path, b"Connection: close"), list(refused_heads(path))
	assert len(probes) >= 60
	for name, status, data in probes:
		# What follows a refusal is not read, however good it is.
		got, back = statuses(server, data + get(path))
		assert got == [status], (name, got, back[:600])
		assert server.process.poll() is None, name
	for name, data in good_heads(path):
		got, back = statuses(server, data + last)
		assert [status for status in got if status != 100] == [200, 200], (name, got, back[:600])
		# The answers before a refusal come first.
		got, back = statuses(server, data + data + get(path, host=b""))
		assert [status for status in got if status != 100] == [200, 200, 400], (name, got, back[:600])
	# In pieces.
	with server.connect() as client:
		client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
		for byte in last:
			client.sendall(bytes([byte]))
		assert everything(client).startswith(b"HTTP/1.1 200 ")
	# Clients that go away.
	for size in range(0, len(last), 7):
		with server.connect() as client:
			client.sendall(last[:size])
	assert statuses(server, last)[0] == [200]


def test_serve():
	with Server("calc.folded") as server:
		probe(server, (server.path + "files").encode())


def test_intake(folder):
	with Intake(folder) as intake:
		probe(intake, b"/metrics")
		last = get(b"/-/healthy", b"Connection: close")
		for name, status, data in BODIES:
			got, back = statuses(intake, CHUNKED + data + last)
			assert got == ([200, 200] if status == 200 else [status]), (name, got, back[:600])
		assert intake.kept_nothing()


if __name__ == "__main__":
	harness.main()
