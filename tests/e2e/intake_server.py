"""A running intake (tests/intake_server.c), for tests that send it profiles."""

import http.client
import json
import os
import select
import socket
import subprocess

import harness
from served import Running

SERVER = os.environ.get("INTAKE_SERVER", str(harness.BUILD_ROOT / "tests" / "intake_server"))


class Intake(Running):
	"""A running intake; what it kept is in origins, as it printed them."""

	def __init__(self, folder, *options, address="127.0.0.1:0"):
		self.folder = folder / "kept"
		self.folder.mkdir()
		self.process = subprocess.Popen([SERVER, address, self.folder, *options], stdout=subprocess.PIPE,
			stderr=subprocess.PIPE)
		self.address = self.line()
		if not self.address:
			message = self.process.communicate()[1].decode()
			if "libmicrohttpd" in message:
				raise harness.Skip("this build has no libmicrohttpd")
			raise AssertionError(message)
		self.port = 0 if address.startswith("/") else int(self.address.rpartition(":")[2])

	def line(self):
		ready = select.select([self.process.stdout], [], [], 60 * harness.PATIENCE)[0]
		assert ready, "the server prints nothing"
		# One byte at a time, so that select sees the next line.
		line = b""
		while not line.endswith(b"\n"):
			byte = os.read(self.process.stdout.fileno(), 1)
			if not byte:
				break
			line += byte
		return line.decode().strip()

	def kept(self):
		"""The origin of the next profile that was kept; `file` is a path."""
		return json.loads(self.line())

	def kept_nothing(self):
		return not select.select([self.process.stdout], [], [], 0)[0]

	def connect(self):
		return socket.create_connection(("127.0.0.1", self.port), timeout=60 * harness.PATIENCE)

	def request(self, method, path, body=None, headers=None):
		"""(status, headers, body) of a request as a good client makes it."""
		client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60 * harness.PATIENCE)
		client.request(method, path, body, headers or {})
		response = client.getresponse()
		answer = response.read()
		client.close()
		return response.status, response.headers, answer

	def post(self, path, body, kind=None, **headers):
		named = {name.replace("_", "-"): value for name, value in headers.items()}
		return self.request("POST", path, body, {**({"Content-Type": kind} if kind else {}), **named})

	def raw(self, data):
		"""The status of what comes back for these bytes, 0 if there is no response; and all of it."""
		with self.connect() as client:
			try:
				client.sendall(data)
				# The server answers what is whole at once; it need not notice that no more comes.
				select.select([client], [], [], 0.5)
				client.shutdown(socket.SHUT_WR)
			except OSError:
				pass
			back = b""
			try:
				while chunk := client.recv(65536):
					back += chunk
			except OSError:
				pass
		return (int(back.split()[1]) if back.startswith(b"HTTP/1.") else 0), back

	def metrics(self):
		status, headers, text = self.request("GET", "/metrics")
		assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), headers
		return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in text.decode().splitlines()
			if not line.startswith("#")}
