"""Help, version, and what is said about a wrong command line."""

import harness
from harness import check, sonde


def test_alone_it_lists_the_commands():
	out = check(sonde()).out
	assert "\n  help " in out and "sonde run" in out
	assert sonde("--help").out == out and sonde("help").out == out


harness.main()
