"""A current ClickHouse as an HTTP server: libchdb, the engine as a library, behind the part of ClickHouse's HTTP
interface that sonde uses. Debian has only 18.16, and npm's chdb brings the engine of this year.

	chdb_server.py LIBRARY FOLDER PORT [USER:PASSWORD] [--config-file=FILE]

It listens on a port of 127.0.0.1, a free one for 0, prints it, and serves until it is killed. As ClickHouse does, it joins the
`query` parameter and the body into one query, or takes the body as the data of an INSERT; other parameters are settings.
A statement has a connection to itself, which costs 0.2 ms: settings and the database end with it.

The library knows one user, and does not ask for a password. It checks what its users' file grants that user, but not who
reads the database system.

The library's own parser would end data that is part of a query at the first empty line, as clickhouse-client does, so
data goes through a file. Answers are sent when they are complete, so there is never half an answer before an error.
"""

import base64
import ctypes
import gzip
import http.server
import re
import sys
import tempfile
import urllib.parse
import zlib

# What current versions answer to these codes: a syntax error, a missing table or database, a wrong password.
STATUS = {62: 400, 60: 404, 81: 404, 516: 403}
# Parameters of the interface, not of the query.
NOT_SETTINGS = {"query", "database", "default_format", "user", "password", "enable_http_compression", "wait_end_of_query",
	"buffer_size", "query_id", "session_id", "session_timeout", "quota_key", "compress", "decompress"}
DATA_FOLLOWS = re.compile(rb"\s*INSERT\s.*\sFORMAT\s+\w+\s*\Z", re.I | re.S)
FORMAT_AT_END = re.compile(rb"FORMAT\s+\w+\s*\Z", re.I)


class QueryError(Exception):
	"""What the engine says of a query: code, and text as ClickHouse writes it."""

	def __init__(self, text):
		super().__init__(text)
		found = re.match(r"Code: (\d+)", text)
		self.code = int(found[1]) if found else 0


class Library:
	"""libchdb with its data in a folder."""

	def __init__(self, path, folder, options):
		pointer, size, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
		self.lib = ctypes.CDLL(path)
		for name, result, *arguments in (
			("connect", ctypes.POINTER(pointer), ctypes.c_int, ctypes.POINTER(text)),
			("close_conn", None, ctypes.POINTER(pointer)),
			("query_n", pointer, pointer, text, size, text, size),
			("result_buffer", pointer, pointer), ("result_length", size, pointer), ("result_error", text, pointer),
			("destroy_query_result", None, pointer)):
			function = getattr(self.lib, f"chdb_{name}")
			function.restype, function.argtypes = result, arguments
		words = ["clickhouse", f"--path={folder}", *options]
		self.arguments = (text * len(words))(*(word.encode() for word in words))
		# Keeps the data open: the first connection takes half a second.
		self.kept = self.connect()

	def connect(self):
		connection = self.lib.chdb_connect(len(self.arguments), self.arguments)
		if not connection:
			raise QueryError("Code: 1000. the data cannot be opened")
		return connection

	def run(self, connection, query):
		result = self.lib.chdb_query_n(connection[0], query, len(query), b"TabSeparated", len(b"TabSeparated"))
		try:
			error = self.lib.chdb_result_error(result)
			if error:
				raise QueryError(error.decode("utf-8", "replace"))
			length = self.lib.chdb_result_length(result)
			return ctypes.string_at(self.lib.chdb_result_buffer(result), length) if length else b""
		finally:
			self.lib.chdb_destroy_query_result(result)

	def answer(self, query, body, database, settings):
		"""The result of a query with these settings; body continues the query, or is its data."""
		connection = self.connect()
		try:
			if database:
				self.run(connection, b"USE " + quoted(database, "`"))
			for name, value in settings.items():
				self.run(connection, b"SET " + quoted(name, "`") + b" = " + quoted(value, "'"))
			if not DATA_FOLLOWS.match(query):
				return self.run(connection, query + b"\n" + body if query else body)
			with tempfile.NamedTemporaryFile(prefix="sonde-chdb-") as data:
				data.write(body)
				data.flush()
				from_file = b"FROM INFILE " + quoted(data.name, "'") + b" COMPRESSION 'none' "
				return self.run(connection, FORMAT_AT_END.sub(lambda m: from_file + m[0], query))
		finally:
			self.lib.chdb_close_conn(connection)


def quoted(name, mark):
	return (mark + name.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark).encode("utf-8", "surrogateescape")


class Handler(http.server.BaseHTTPRequestHandler):
	protocol_version = "HTTP/1.1"
	engine, users = None, {}

	def log_message(self, *_):
		pass

	def body(self):
		"""The request's body; None if the connection ended within it."""
		if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
			data = b""
			while True:
				size = int(self.rfile.readline().split(b";")[0] or b"x", 16)
				chunk = self.rfile.read(size + 2)
				if len(chunk) < size + 2:
					return None
				if size == 0:
					return data
				data += chunk[:-2]
		length = int(self.headers.get("Content-Length", 0))
		data = self.rfile.read(length)
		return data if len(data) == length else None

	def credentials(self, options):
		scheme, _, word = self.headers.get("Authorization", "").partition(" ")
		if scheme.lower() == "basic":
			user, _, password = base64.b64decode(word).decode("utf-8", "replace").partition(":")
			return user, password
		return (self.headers.get("X-ClickHouse-User", options.get("user", "default")),
			self.headers.get("X-ClickHouse-Key", options.get("password", "")))

	def respond(self, status, body, code=0):
		self.send_response(status)
		if code:
			self.send_header("X-ClickHouse-Exception-Code", str(code))
		self.send_header("Content-Length", str(len(body)))
		for name, value in self.more_headers:
			self.send_header(name, value)
		self.end_headers()
		if self.command != "HEAD":
			self.wfile.write(body)

	def result(self, body, is_get):
		parts = urllib.parse.urlsplit(self.path)
		options = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True, errors="surrogateescape"))
		user, password = self.credentials(options)
		if self.users.get(user) != password:
			raise QueryError(f"Code: 516. DB::Exception: {user}: Authentication failed: password is incorrect, or there is no user "
				"with such name. (AUTHENTICATION_FAILED)")
		if self.headers.get("Content-Encoding") == "gzip":
			inflate = zlib.decompressobj(31)
			try:
				body = inflate.decompress(body)
			except zlib.error as error:
				raise QueryError(f"Code: 354. DB::Exception: inflate failed: {error}. (ZLIB_INFLATE_FAILED)") from None
			if not inflate.eof:
				raise QueryError("Code: 354. DB::Exception: inflate failed: unexpected end of data. (ZLIB_INFLATE_FAILED)")
		settings = {name: value for name, value in options.items() if name not in NOT_SETTINGS}
		if is_get:
			settings["readonly"] = "2"
		query = options.get("query", "").encode("utf-8", "surrogateescape")
		found = self.engine.answer(query, body, options.get("database"), settings)
		if options.get("enable_http_compression") == "1" and "gzip" in self.headers.get("Accept-Encoding", ""):
			self.more_headers.append(("Content-Encoding", "gzip"))
			found = gzip.compress(found, 1)
		return found

	def do_POST(self):
		self.more_headers = []
		body = self.body()
		if body is None:
			self.close_connection = True
			return
		if urllib.parse.urlsplit(self.path).path == "/ping":
			self.respond(200, b"Ok.\n")
			return
		try:
			self.respond(200, self.result(body, self.command == "GET"))
		except QueryError as error:
			self.respond(STATUS.get(error.code, 500), f"{error}\n".encode(), error.code)

	do_GET = do_POST


class Server(http.server.ThreadingHTTPServer):
	daemon_threads = True
	request_queue_size = 128

	def handle_error(self, request, client_address):
		"""A client that goes away is no news."""


def main():
	options = [argument for argument in sys.argv[4:] if argument.startswith("--")]
	Handler.engine = Library(sys.argv[1], sys.argv[2], options)
	Handler.users = {"default": "", **dict(argument.split(":", 1) for argument in sys.argv[4:] if argument not in options)}
	server = Server(("127.0.0.1", int(sys.argv[3])), Handler)
	print(server.server_address[1], flush=True)
	server.serve_forever()


main()
