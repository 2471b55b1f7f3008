"""The ClickHouse servers that the cases of a file share, and databases that each has to itself."""

import functools

import clickhouse
import harness
import npm

CHDB = "3.4.0"


def server(**more):
	"""A server of Debian's that is the caller's own: to kill it, or with options. Skip without the package."""
	try:
		return clickhouse.Server(**more)
	except clickhouse.Missing as missing:
		raise harness.Skip(str(missing)) from None


@functools.lru_cache
def shared(number=0):
	"""The first, second … server of Debian's for all cases of a file."""
	return server()


@functools.lru_cache
def current():
	"""A current ClickHouse for all cases of a file: npm's chdb."""
	return current_alone()


def current_alone():
	"""A current ClickHouse that is the caller's own."""
	if harness.SANITIZED:
		raise harness.Skip("the build without sanitizers tries it")
	try:
		return clickhouse.Current(npm.package("chdb", CHDB, timeout=600))
	except clickhouse.Missing as missing:
		raise harness.Skip(str(missing)) from None
