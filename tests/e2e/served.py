"""A running `sonde serve`, and what its tests have in common."""

import http.client
import os
import select
import signal
import socket
import subprocess
import time
import urllib.parse

import harness

IN = harness.SOURCE_ROOT / "tests" / "golden" / "in"


class Running:
	"""A server in a process that ends with its context: without an error, unless the case has failed."""

	def __enter__(self):
		return self

	def __exit__(self, kind, *_):
		self.process.send_signal(signal.SIGTERM)
		try:
			err = self.process.communicate(timeout=60 * harness.PATIENCE)[1]
			# With sanitizers, leaks are failures as well.
			assert kind or self.process.returncode == 0, err
		finally:
			self.process.kill()


class Server(Running):
	"""A running server; url as it printed it."""

	def __init__(self, *args, cwd=IN, env=None):
		variables = {k: v for k, v in os.environ.items() if k not in ("SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY")}
		self.process = subprocess.Popen([harness.SONDE, "serve", "--no-browser", *map(str, args)], stdout=subprocess.PIPE,
			stderr=subprocess.PIPE, cwd=cwd, env={**variables, **(env or {})})
		ready = select.select([self.process.stdout], [], [], 60 * harness.PATIENCE)[0]
		assert ready, "no URL"
		self.url = self.process.stdout.readline().decode().strip()
		if not self.url:
			raise_missing(self.process.communicate()[1].decode())
		parts = urllib.parse.urlsplit(self.url)
		self.port, self.path = parts.port, parts.path
		self.token = self.path.strip("/")

	def connect(self, timeout=60):
		return socket.create_connection(("127.0.0.1", self.port), timeout=timeout * harness.PATIENCE)

	def get(self, what="", connection=None, headers=None):
		"""(status, headers, body) of a good client's request."""
		client = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60 * harness.PATIENCE)
		client.request("GET", self.path + what, headers=headers or {})
		response = client.getresponse()
		body = response.read()
		if connection is None:
			client.close()
		return response.status, response.headers, body

	def ask(self, what="ask", **options):
		query = urllib.parse.urlencode([(k.replace("_", "-"), v) for k, vs in options.items()
			for v in (vs if isinstance(vs, list) else [vs])])
		return self.get(f"{what}?{query}")

	def good(self, what="ask", **options):
		status, _, body = self.ask(what, **options)
		assert status == 200, (status, body[:500])
		return body

	def raw(self, data, timeout=30):
		"""All that comes back for these bytes; the status, or 0 if there is no response."""
		with self.connect(timeout) as client:
			try:
				client.sendall(data)
			except OSError:
				pass
			back = b""
			# No more comes, so that the server need not wait for that.
			select.select([client], [], [], 0.5)
			try:
				client.shutdown(socket.SHUT_WR)
				while chunk := client.recv(65536):
					back += chunk
					if len(back) > 10 << 20:
						break
			except OSError:
				pass
		return (int(back.split()[1]) if back.startswith(b"HTTP/1.") else 0), back


def raise_missing(message):
	if "libmicrohttpd" in message:
		raise harness.Skip("this build has no libmicrohttpd")
	raise AssertionError(message)


def wait_until(condition, what):
	for _ in range(600):
		if condition():
			return
		time.sleep(0.05)
	raise AssertionError(what)


def slow_profile(folder):
	"""A profile whose inverted tree takes seconds."""
	path = folder / "slow.folded"
	with open(path, "w") as file:
		for i in range(60000):
			file.write(";".join(f"f{(i * 7919 + d * 104729) % 5000}" for d in range(30)) + f" {i % 5 + 1}\n")
	return path
