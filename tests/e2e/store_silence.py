"""A server that computes for long is waited for; one that is gone is noticed. The limit of silence, a minute for users, is
shortened here."""

import os
import resource
import signal
import time

import fault_proxy
import harness
import shards
from harness import check
from served import Server
from store import Store

ASKER = os.environ.get("STORE_ASKER", str(harness.BUILD_ROOT / "tests" / "store_asker"))
SILENCE_S = 1.5
# libcurl's own limit is of the speed of the last five seconds or so, and then SILENCE_S.
LONG_S = 7
# Far more than the limit, and far less than a minute.
NOTICED_S = 30


def ask(port, statement):
	return harness.run(ASKER, f"clickhouse://127.0.0.1:{port}", int(SILENCE_S * 1000), statement)


def sleeping(columns):
	"""A statement that takes LONG_S; a block may sleep for three seconds."""
	return f"SELECT sleepEachRow(1), {columns} FROM numbers({LONG_S}) SETTINGS max_block_size=1 FORMAT TabSeparated"


def test_a_long_statement_is_waited_for():
	began = time.monotonic()
	done = harness.check(ask(shards.shared(0).port, sleeping("number")))
	assert done.out == "".join(f"0\t{number}\n" for number in range(LONG_S)), done
	assert time.monotonic() - began > LONG_S - 1, "the statement was not long enough"


@harness.takes_long
def test_a_long_statement_that_fails_says_so():
	"""Its status is that of a failure, although the server was busy for longer than the limit."""
	done = harness.check(ask(shards.shared(0).port, sleeping(f"throwIf(number = {LONG_S - 1})")), 1)
	assert "HTTP status 500" in done.err, done


def test_a_late_answer_is_taken():
	with fault_proxy.FaultProxy(shards.shared(0).port) as proxy:
		proxy.fault(fault_proxy.delay(LONG_S), when=lambda request: request.first[0] == "POST")
		assert harness.check(ask(proxy.port, "SELECT 7")).out == "7\n"
		assert any(method == "GET" for method, *_ in proxy.requests), "nobody asked whether it is there"


def test_a_stopped_server_is_noticed():
	"""Its machine still takes connections, but nothing answers."""
	with shards.server() as server:
		os.kill(server.pid, signal.SIGSTOP)
		try:
			began = time.monotonic()
			done = harness.check(ask(server.port, "SELECT 1"), 1)
			assert "no answer for" in done.err and "/ping" in done.err, done
			assert time.monotonic() - began < NOTICED_S
		finally:
			os.kill(server.pid, signal.SIGCONT)


def test_a_server_that_stops_during_a_statement_is_noticed():
	with fault_proxy.FaultProxy(shards.shared(0).port) as proxy:
		proxy.fault(fault_proxy.hold(), times=1 << 30)
		began = time.monotonic()
		done = harness.check(ask(proxy.port, "SELECT 1"), 1)
		assert "no answer for" in done.err, done
		assert time.monotonic() - began < NOTICED_S


@harness.takes_long
def test_a_server_of_pages_waits_without_work(folder):
	"""What answers a request is a child process, which cannot use its parent's connections: with them, it asked a closed one for
	news as fast as it could."""
	store = Store(shards.shared(0))
	(folder / "x.folded").write_text("main;f 7\n")
	for service in ("a", "b"):
		check(store.push(folder / "x.folded", "--service", service, "--host", "h"))
	with fault_proxy.FaultProxy(shards.shared(0).port) as proxy:
		before = resource.getrusage(resource.RUSAGE_CHILDREN)
		with Server("--store", store.url_of(f"127.0.0.1:{proxy.port}"), "service=a", "service=b") as server:
			server.good("files")
			proxy.fault(fault_proxy.delay(LONG_S), when=lambda request: request.first[0] == "POST")
			assert b'"total": 0' in server.good("diff", old="service=a", new="service=b")
	after = resource.getrusage(resource.RUSAGE_CHILDREN)
	took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
	assert took < LONG_S / 3, took


if __name__ == "__main__":
	harness.main()
