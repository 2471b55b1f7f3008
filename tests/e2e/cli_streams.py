"""Standard streams that are full, closed, or not what they should be."""

import os

import harness
from harness import check, sonde


def test_full_disk_is_a_failure():
	for args in [("help",), ("--version",), ("help", "report"), ("report", "--help"),
			("completion", "bash")]:
		with open("/dev/full", "wb") as full:
			result = sonde(*args, stdout=full)
		check(result, 1)
		assert result.err == "sonde: standard output: No space left on device\n", result


def test_closed_output_is_a_failure():
	result = sonde("help", stdout=None, preexec_fn=lambda: os.close(1))
	check(result, 1)
	assert result.err.startswith("sonde: standard output: "), result


def test_closed_error_output_harms_nothing():
	check(sonde("help", stderr=None, preexec_fn=lambda: os.close(2)))
	check(sonde("zzzzzz", stderr=None, preexec_fn=lambda: os.close(2)), 2)


def test_reader_that_leaves():
	read_end, write_end = os.pipe()
	os.close(read_end)
	result = sonde("help", "report", stdout=write_end, preexec_fn=lambda: None)
	os.close(write_end)
	# A broken pipe is the signal's business, or an error; never a success, never a crash.
	assert result.status in (1, -13), result


harness.main()
