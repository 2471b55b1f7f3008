"""A proxy between an HTTP client and a server that does to chosen requests what networks and crashes do.

	with FaultProxy(server.port) as proxy:
		proxy.fault(drop_answer(), when=lambda request: b"INSERT" in request.query)
		... a client of proxy.url ...

A request is read whole before it is passed on, unless a fault says otherwise; each has a connection to the server to
itself. requests lists what came, in order, and which fault it met.
"""

import contextlib
import socket
import struct
import threading
import urllib.parse

SECONDS = 300


class Ended(Exception):
	"""The other side went away in the middle of a message."""


class Stream:
	"""Buffered reads from a socket."""

	def __init__(self, peer):
		self.peer, self.kept = peer, b""

	def more(self):
		data = self.peer.recv(1 << 16)
		if not data:
			raise Ended
		self.kept += data

	def exactly(self, size):
		while len(self.kept) < size:
			self.more()
		data, self.kept = self.kept[:size], self.kept[size:]
		return data

	def through(self, mark):
		while mark not in self.kept:
			self.more()
		return self.exactly(self.kept.index(mark) + len(mark))

	def rest(self):
		with contextlib.suppress(Ended):
			while True:
				self.more()
		return self.exactly(len(self.kept))


class Message:
	"""A request or a response: its head and body as they were sent, chunks and all."""

	def __init__(self, stream, is_answer=False, go_on=None):
		self.head = stream.through(b"\r\n\r\n")
		lines = self.head.decode("latin-1").split("\r\n")
		self.first = lines[0].split(" ", 2)
		self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
		if go_on and self.headers.get("expect", "").lower() == "100-continue":
			go_on(b"HTTP/1.1 100 Continue\r\n\r\n")
		self.body = b""
		if self.headers.get("transfer-encoding", "").lower() == "chunked":
			size = 1
			while size:
				line = stream.through(b"\r\n")
				size = int(line.split(b";")[0], 16)
				self.body += line + stream.exactly(size + 2)
		elif "content-length" in self.headers:
			self.body = stream.exactly(int(self.headers["content-length"]))
		elif is_answer:
			self.body = stream.rest()

	@property
	def query(self):
		"""The query of a request, in its URL and its body."""
		options = urllib.parse.parse_qs(urllib.parse.urlsplit(self.first[1]).query, errors="surrogateescape")
		return options.get("query", [""])[0].encode("utf-8", "surrogateescape") + self.body[:10000]

	@property
	def bytes(self):
		return self.head + self.body


# ---- faults: each is given the client's socket, the request and the proxy ----


def refuse():
	"""Closes the connection as if nobody had read the request."""
	def fault(client, _request, _proxy):
		reset(client)
	return fault


def cut_request(size):
	"""Passes on so many bytes of the body, and closes both connections. Negative: counts from its end."""
	def fault(client, request, proxy):
		kept = request.body[:size] if size >= 0 else request.body[:max(0, len(request.body) + size)]
		with proxy.connect() as server:
			server.sendall(request.head + kept)
			# So that the server has read it all, and waits for more.
			server.shutdown(socket.SHUT_WR)
			with contextlib.suppress(OSError):
				Stream(server).rest()
		reset(client)
	return fault


def cut_answer(size):
	"""The server takes the request; so many bytes of its answer's body arrive, and then the connection is closed."""
	def fault(client, request, proxy):
		answer = proxy.ask(request)
		client.sendall(answer.head + answer.body[:size])
		client.shutdown(socket.SHUT_WR)
	return fault


def drop_answer():
	"""The server takes the request, and its answer is lost."""
	def fault(client, request, proxy):
		proxy.ask(request)
		reset(client)
	return fault


def twice():
	"""The server gets the request two times, as from a client that lost the first answer."""
	def fault(client, request, proxy):
		proxy.ask(request)
		client.sendall(proxy.ask(request).bytes)
	return fault


def answer(status, text="", code=0):
	"""An answer that is not the server's, which gets nothing."""
	def fault(client, _request, _proxy):
		body = text.encode()
		more = f"X-ClickHouse-Exception-Code: {code}\r\n" if code else ""
		client.sendall(f"HTTP/1.1 {status} Fault\r\n{more}Content-Length: {len(body)}\r\n\r\n".encode() + body)
	return fault


def hold():
	"""The server takes the request, and no answer comes until the proxy ends."""
	def fault(_client, request, proxy):
		proxy.ask(request)
		proxy.ended.wait(SECONDS)
	return fault


def delay(seconds):
	"""The answer comes later."""
	def fault(client, request, proxy):
		proxy.ended.wait(seconds)
		client.sendall(proxy.ask(request).bytes)
	return fault


def then(action):
	"""Calls action() once the server has taken the request, and loses the answer: to kill the server or the client."""
	def fault(client, request, proxy):
		proxy.ask(request)
		action()
		reset(client)
	return fault


def before(action):
	"""Calls action() when the request has arrived, and passes nothing on."""
	def fault(client, _request, _proxy):
		action()
		reset(client)
	return fault


def reset(client):
	"""Ends a connection by RST, not by an orderly end."""
	with contextlib.suppress(OSError):
		client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
	client.close()


class FaultProxy:
	def __init__(self, port):
		self.server_port = port
		self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
		self.port = self.listener.getsockname()[1]
		self.ended, self.lock = threading.Event(), threading.Lock()
		self.requests, self.planned = [], []
		threading.Thread(target=self.accept, daemon=True).start()

	@property
	def url(self):
		return f"http://127.0.0.1:{self.port}"

	def fault(self, fault, when=lambda request: True, skip=0, times=1):
		"""Does this to the requests that match, after so many others that do, so many times."""
		with self.lock:
			self.planned.append([fault, when, skip, times])

	def clear(self):
		"""Forgets faults that have not come about, and requests that came."""
		with self.lock:
			self.planned.clear()
			self.requests.clear()

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.ended.set()
		# A listener that is only closed still waits in accept().
		with contextlib.suppress(OSError):
			self.listener.shutdown(socket.SHUT_RDWR)
		self.listener.close()

	def connect(self):
		return socket.create_connection(("127.0.0.1", self.server_port), timeout=SECONDS)

	def ask(self, request):
		"""The server's answer."""
		with self.connect() as server:
			server.sendall(request.bytes)
			return Message(Stream(server), is_answer=True)

	def choose(self, request):
		with self.lock:
			chosen = None
			for plan in self.planned:
				if plan[3] and plan[1](request):
					if plan[2]:
						plan[2] -= 1
						continue
					plan[3] -= 1
					chosen = plan[0]
					break
			self.requests.append((request.first[0], request.query, len(request.body), chosen))
			return chosen

	def accept(self):
		while True:
			try:
				client, _ = self.listener.accept()
			except OSError:
				return
			threading.Thread(target=self.serve, args=(client,), daemon=True).start()

	def serve(self, client):
		with client, contextlib.suppress(OSError, Ended):
			client.settimeout(SECONDS)
			stream = Stream(client)
			while True:
				request = Message(stream, go_on=client.sendall)
				request.head = request.head.replace(b"Expect: 100-continue\r\n", b"")
				fault = self.choose(request)
				if fault:
					fault(client, request, self)
					return
				client.sendall(self.ask(request).bytes)
