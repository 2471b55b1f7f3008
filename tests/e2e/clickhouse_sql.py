"""What the store is built on: ClickHouse 18.16 and a current one do alike with what is sent twice, cut or killed, and
with the SQL that both accept.

No sonde runs here: when one of these cases fails, the store cannot be right on that version.
"""

import gzip
import http.client
import struct
import urllib.parse

import clickhouse
import fault_proxy
import harness
import shards

ROWS = 1000
ROW_SIZE = 4 + 1 + 2
INSERT = "INSERT INTO t FORMAT RowBinary"
# A row as the store has it: arrays, and labels as two more.
PROFILES = """CREATE TABLE profiles (service String, metric String, time DateTime, profile_id UInt64, chunk UInt16,
	labels Nested(k String, v String), total Int64, stack Array(UInt64), value Array(Int64))
	ENGINE = ReplacingMergeTree PARTITION BY toYYYYMMDD(time) ORDER BY (service, metric, time, profile_id, chunk)
	SETTINGS index_granularity = 64"""
STACKS = """CREATE TABLE stacks (service String, stack_hash UInt64, last_seen DateTime, frames Array(UInt64))
	ENGINE = ReplacingMergeTree(last_seen) PARTITION BY toYYYYMM(last_seen) ORDER BY (service, frames)
	SETTINGS index_granularity = 1024"""
FRAMES = """CREATE TABLE frames (frame_id UInt64, function String) ENGINE = ReplacingMergeTree ORDER BY frame_id"""
T0 = 1700000000


def row(number):
	# Two empty lines: what a parser of text could take for the end of the data.
	return struct.pack("<I", number) + b"\x02\n\n"


def body():
	return b"".join(map(row, range(ROWS)))


def with_table(server):
	"""A database with a table t of its own."""
	database = clickhouse.fresh_database()
	server.sql(f"CREATE DATABASE {database}")
	server.sql("CREATE TABLE t (a UInt32, b String) ENGINE = ReplacingMergeTree ORDER BY a", database=database)
	return database


def post(port, database, data, headers=None):
	"""The status of an INSERT that is sent to that port; 0 if no answer comes."""
	client = http.client.HTTPConnection("127.0.0.1", port, timeout=60 * harness.PATIENCE)
	try:
		client.request("POST", "/?" + urllib.parse.urlencode({"query": INSERT, "database": database}), data, headers or {})
		response = client.getresponse()
		response.read()
		return response.status
	except (OSError, http.client.HTTPException):
		return 0
	finally:
		client.close()


def sent_twice(server):
	database = with_table(server)
	for packed in (False, True):
		server.bytes_of(INSERT, body(), database=database, packed=packed)
	assert server.count("t", database, final=True) == ROWS
	server.merged("t", database)
	assert server.count("t", database) == ROWS


def cut_within_a_row(server):
	database = with_table(server)
	for data in (body()[:-1], body()[:ROW_SIZE * 10 + 4]):
		assert post(server.port, database, data) == 500
		assert post(server.port, database, gzip.compress(data)) != 200
	assert server.count("t", database) == 0


def cut_gzip(server):
	"""Of a packed body nothing is kept unless it is whole: its end is marked, and that of plain rows is not."""
	database = with_table(server)
	packed, headers = gzip.compress(body()), {"Content-Encoding": "gzip"}
	for size in (len(packed) - 1, len(packed) - 8, len(packed) - 9, len(packed) // 2, 11):
		assert post(server.port, database, packed[:size], headers) == 500, size
	with fault_proxy.FaultProxy(server.port) as proxy:
		for size in (-1, -9, len(packed) // 2, 11, 0):
			proxy.fault(fault_proxy.cut_request(size))
			assert post(proxy.port, database, packed, headers) == 0
		assert server.count("t", database) == 0
		assert post(proxy.port, database, packed, headers) == 200
	assert server.count("t", database) == ROWS


def lost_answers(server):
	"""Whatever is lost, the same request sent again makes the rows exact."""
	database = with_table(server)
	packed, headers = gzip.compress(body()), {"Content-Encoding": "gzip"}
	with fault_proxy.FaultProxy(server.port) as proxy:
		for fault, expected in ((fault_proxy.refuse(), 0), (fault_proxy.drop_answer(), 0), (fault_proxy.cut_request(-9), 0),
			(fault_proxy.answer(500, "Code: 241", 241), 500), (fault_proxy.twice(), 200), (fault_proxy.delay(0.1), 200)):
			proxy.fault(fault)
			assert post(proxy.port, database, packed, headers) == expected
			assert post(proxy.port, database, packed, headers) == 200
			assert server.count("t", database, final=True) == ROWS
		assert len(proxy.requests) == 12


def killed(server):
	database = with_table(server)
	server.bytes_of(INSERT, body(), database=database, packed=True)
	server.kill()
	server.restart()
	assert server.count("t", database) == ROWS
	server.bytes_of(INSERT, body(), database=database, packed=True)
	assert server.count("t", database, final=True) == ROWS
	server.terminate()
	server.restart()
	assert server.count("t", database, final=True) == ROWS


def errors(server):
	database = with_table(server)
	for query, code in (("SELECT * FROM missing", 60), (f"SELECT * FROM missing_{database}.t", 81), ("SELECT 1 +", 62)):
		try:
			server.sql(query, database=database)
		except clickhouse.SqlError as error:
			assert error.code == code and error.status in (400, 404), (query, error)
		else:
			raise AssertionError(query)
	for user, password, is_good in (("guarded", "wrong", False), ("nobody", "", False), ("guarded", clickhouse.PASSWORD, True)):
		status = server.request("GET", "/?query=SELECT+1", headers={"X-ClickHouse-User": user, "X-ClickHouse-Key": password})[0]
		assert (status == 200) == is_good and status in (200, 401, 403), (user, status)


def binary(text):
	"""A String of RowBinary, of fewer than 128 bytes."""
	return bytes([len(text)]) + text


def array(layout, numbers):
	return bytes([len(numbers)]) + struct.pack(f"<{len(numbers)}{layout}", *numbers)


def profile_row(service, minute, identity, chunk, version, stacks):
	labels = bytes([1]) + binary(b"version"), bytes([1]) + binary(version)
	return (binary(service) + binary(b"cpu") + struct.pack("<IQH", T0 + 60 * minute, identity, chunk) + b"".join(labels) +
		struct.pack("<q", sum(stacks.values())) + array("Q", list(stacks)) + array("q", list(stacks.values())))


def queries(server):
	"""The queries of the store, on a few rows whose answers are plain."""
	database = clickhouse.fresh_database()
	server.sql(f"CREATE DATABASE {database}")
	for table in (PROFILES, STACKS, FRAMES):
		server.sql(table, database=database)
	server.sql("SYSTEM STOP MERGES")

	def ask(query):
		return server.rows(query, database=database, max_threads=1, max_block_size=256)

	profiles = [profile_row(b"api", 0, 1, 0, b"1", {2**64 - 1: 10, 22: 5}), profile_row(b"api", 0, 1, 1, b"1", {33: 1}),
		profile_row(b"api", 1, 2, 0, b"2", {2**64 - 1: 100}), profile_row(b"it's", 0, 3, 0, b"1", {22: 7})]
	for _ in range(2): # all of it is sent twice
		for one in profiles:
			server.bytes_of("INSERT INTO profiles FORMAT RowBinary", one, database=database, packed=True)
		stacks = b"".join(binary(service) + struct.pack("<QI", number, T0) + array("Q", frames) for service, number, frames in (
			(b"api", 2**64 - 1, [1, 2]), (b"api", 22, [1, 3]), (b"api", 33, [4]), (b"it's", 22, [4, 4])))
		server.bytes_of("INSERT INTO stacks FORMAT RowBinary", stacks, database=database, packed=True)
		frames = b"".join(struct.pack("<Q", number) + binary(name) for number, name in enumerate((b"main", b"f", b"g", b"'); DROP"), 1))
		server.bytes_of("INSERT INTO frames FORMAT RowBinary", frames, database=database, packed=True)
	where = f"service = 'api' AND metric = 'cpu' AND time >= toDateTime({T0}) AND time < toDateTime({T0 + 120})"
	summed = f"SELECT s AS stack_hash, sum(v) AS w FROM profiles FINAL ARRAY JOIN stack AS s, value AS v WHERE {where} GROUP BY s"
	assert sorted(ask(summed)) == [[str(2**64 - 1), "110"], ["22", "5"], ["33", "1"]]
	# Stacks come twice until their parts are merged. 18.16 joins each row of the left side, so weights stand there.
	assert server.count("stacks", database) == 8 and server.count("stacks", database, final=True) == 4
	found = sorted(ask(f"SELECT frames, w FROM ({summed}) AS a ANY INNER JOIN "
		"(SELECT stack_hash, frames FROM stacks WHERE service = 'api') AS st USING stack_hash"))
	assert found == [["[1,2]", "110"], ["[1,3]", "5"], ["[4]", "1"]], found
	assert ask(f"SELECT labels.v[indexOf(labels.k, 'version')] AS ver, sum(total) AS t FROM profiles FINAL WHERE {where} "
		"GROUP BY ver ORDER BY ver") == [["1", "16"], ["2", "100"]]
	assert ask(f"SELECT sum(total) FROM profiles FINAL WHERE {where} AND labels.v[indexOf(labels.k, 'version')] = '1'") == [["16"]]
	assert ask(f"SELECT sum(v) FROM profiles FINAL ARRAY JOIN stack AS s, value AS v WHERE {where} AND s IN (SELECT stack_hash "
		"FROM stacks ARRAY JOIN frames AS f WHERE service = 'api' AND f IN (SELECT frame_id FROM frames WHERE "
		"match(function, '^[fg]$')))") == [["115"]]
	# Stacks without a name as one. Where a condition by nested subqueries is itself a key of GROUP BY, 26.7 finds no column.
	kept = "SELECT stack_hash FROM stacks ARRAY JOIN frames AS f WHERE f IN (SELECT frame_id FROM frames WHERE function = 'f')"
	pairs = (f"SELECT if(s IN ({kept}), s, toUInt64(0)) AS hash, metric AS m, v AS part FROM profiles FINAL "
		f"ARRAY JOIN stack AS s, value AS v WHERE {where}")
	assert sorted(ask(f"SELECT hash, m, sum(part) AS w FROM ({pairs}) AS pairs GROUP BY hash, m")) == [
		["0", "cpu", "6"], [str(2**64 - 1), "cpu", "110"]]
	assert ask("SELECT function FROM frames FINAL WHERE frame_id IN (SELECT arrayJoin(frames) FROM stacks WHERE service = 'it\\'s')"
		) == [["\\'); DROP"]]
	assert ask("SELECT DISTINCT service FROM profiles ORDER BY service") == [["api"], ["it\\'s"]]
	assert ask(f"SELECT profile_id, sum(total) AS t FROM profiles FINAL WHERE {where} GROUP BY profile_id ORDER BY profile_id"
		) == [["1", "16"], ["2", "100"]]
	assert ask(f"SELECT toStartOfHour(time) AS hour, s AS stack_hash, sum(v) AS w, toUInt32(count()) AS n FROM profiles FINAL "
		f"ARRAY JOIN stack AS s, value AS v WHERE {where} GROUP BY hour, s ORDER BY w LIMIT 1")[0][1:] == ["33", "1", "1"]
	server.sql("SYSTEM START MERGES")
	server.sql("ALTER TABLE profiles DROP PARTITION 20231114", database=database)
	assert server.count("profiles", database) == 0


CASES = (sent_twice, cut_within_a_row, cut_gzip, lost_answers, killed, errors, queries)


def test_what_is_sent_twice_counts_once():
	sent_twice(shards.shared())


def test_nothing_of_a_body_cut_within_a_row_is_kept():
	cut_within_a_row(shards.shared())


def test_nothing_of_a_cut_packed_body_is_kept():
	cut_gzip(shards.shared())


def test_rows_are_exact_after_lost_answers():
	lost_answers(shards.shared())


def test_rows_are_exact_after_kill_9():
	killed(shards.shared())


def test_errors_have_a_code():
	errors(shards.shared())


def test_queries():
	queries(shards.shared())


def test_https():
	with shards.server(is_tls=True) as server:
		done = harness.run("curl", "-sS", "--cacert", server.certificate, f"{server.tls_url}/ping")
		assert done.out == "Ok.\n", done


@harness.takes_long
def test_a_current_version_does_the_same():
	server = shards.current()
	assert server.version() >= (26, 0)
	for case in CASES:
		case(server)


if __name__ == "__main__":
	harness.main()
