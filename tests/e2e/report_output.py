"""Where sonde report writes: files, pipes that end early, full disks, terminals and pagers."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

import harness
from harness import SONDE, check, sonde

FOLDED = "".join(f"main;f{i};{'x' * 200} {i + 1}\n" for i in range(3000))


def on_terminal(args, env=None, columns=80, keys=b"", rows=0):
	"""What sonde writes to a terminal of that size; rows 0: it doesn't tell."""
	leader, follower = pty.openpty()
	fcntl.ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns if rows else 0, 0, 0))
	os.set_blocking(leader, False)
	variables = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "PAGER": "cat"}
	for name, value in (env or {}).items():
		variables.pop(name, None)
		if value is not None:
			variables[name] = value
	child = subprocess.Popen([SONDE, *map(str, args)], stdin=follower, stdout=follower,
		stderr=follower, env=variables, start_new_session=True)
	os.close(follower)
	os.write(leader, keys)
	out, end = b"", time.monotonic() + 20
	while time.monotonic() < end:
		ready, _, _ = select.select([leader], [], [], 0.1)
		try:
			data = os.read(leader, 65536) if ready else None
		except OSError:
			break
		if data == b"" or (data is None and child.poll() is not None):
			break
		out += data or b""
	child.wait(timeout=10)
	os.close(leader)
	return out.decode().replace("\r\n", "\n")


def folded(folder):
	path = folder / "a.folded"
	path.write_text(FOLDED)
	return path


def test_output_file(folder):
	path, out = folded(folder), folder / "out.json"
	assert check(sonde("report", path, "--format", "json", "-o", out)).out == ""
	assert out.read_text() == check(sonde("report", path, "--format", "json")).out
	assert sorted(os.listdir(folder)) == ["a.folded", "out.json"]


def test_output_is_packed_as_its_name_says(folder):
	path = folded(folder)
	plain = check(sonde("convert", path, "-o", "-", "--to", "folded")).out
	for end, magic in (("gz", b"\x1f\x8b"), ("zst", b"\x28\xb5\x2f\xfd")):
		packed, report = folder / f"out.folded.{end}", folder / f"out.json.{end}"
		check(sonde("convert", path, "-o", packed))
		check(sonde("report", path, "--format", "json", "-o", report))
		assert packed.read_bytes().startswith(magic)
		assert report.read_bytes().startswith(magic)
		assert len(packed.read_bytes()) < len(plain) / 4
		assert check(sonde("convert", packed, "-o", "-", "--to", "folded")).out == plain


def test_output_file_has_the_usual_permissions(folder):
	out = folder / "out.txt"
	mask = os.umask(0o022)
	try:
		check(sonde("report", folded(folder), "-o", out))
	finally:
		os.umask(mask)
	assert out.stat().st_mode & 0o777 == 0o644


def test_output_through_a_link_replaces_the_file_not_the_link(folder):
	(folder / "real.txt").write_text("old")
	(folder / "link.txt").symlink_to("real.txt")
	check(sonde("report", folded(folder), "-o", folder / "link.txt"))
	assert (folder / "link.txt").is_symlink()
	assert "Functions" in (folder / "real.txt").read_text()


def test_output_that_cannot_be_made(folder):
	result = check(sonde("report", folded(folder), "-o", folder / "no" / "such"), 1)
	assert result.err.count("\n") == 1 and "such" in result.err
	result = check(sonde("report", folded(folder), "-o", folder), 1)
	assert result.err.count("\n") == 1 and "directory" in result.err


def test_failed_read_leaves_the_output_file_as_it_was(folder):
	out = folder / "out.txt"
	out.write_text("old")
	check(sonde("report", folder / "missing", "-o", out), 1)
	assert out.read_text() == "old"


def test_full_disk_is_an_error(folder):
	path = folded(folder)
	for format in ("text", "json", "csv", "folded"):
		with open("/dev/full", "wb") as full:
			result = check(sonde("report", path, "--format", format, stdout=full), 1)
		assert result.err.count("\n") == 1 and "No space" in result.err, result
		result = check(sonde("report", path, "--format", format, "-o", "/dev/full"), 1)
		assert "No space" in result.err, result


def test_closed_standard_output_is_an_error(folder):
	result = harness.run("sh", "-c", '"$0" report "$1" >&-', SONDE, folded(folder))
	assert result.status == 1 and result.err.count("\n") == 1, result


def test_a_reader_that_stops_early_is_no_error(folder):
	result = harness.run("bash", "-c",
		'"$0" report "$1" --format json | head -c 100 >/dev/null; echo "${PIPESTATUS[0]}"',
		SONDE, folded(folder))
	assert result.out == "0\n" and result.err == "", result


def test_no_colour_and_no_cut_in_a_file(folder):
	out = check(sonde("report", folded(folder), env={"NO_COLOR": None, "TERM": "xterm"})).out
	assert "\033" not in out and "x" * 200 in out


def test_colour_when_asked(folder):
	path = folded(folder)
	assert "\033[" in check(sonde("report", path, "--color", "always")).out
	assert "\033" not in on_terminal(["report", path, "--color", "never"], {"NO_COLOR": None})
	assert "\033[" in on_terminal(["report", "--text", path], {"NO_COLOR": None})
	assert "\033" not in on_terminal(["report", "--text", path], {"NO_COLOR": "1"})
	assert "\033" not in on_terminal(["report", path], {"NO_COLOR": None, "TERM": "dumb"})


def test_lines_fit_the_terminal(folder):
	path = folded(folder)
	for columns in (60, 80, 200):
		for view in ("functions", "tree"):
			text = on_terminal(["report", path, "--view", view], columns=columns)
			assert "…" in text and max(map(len, text.splitlines())) <= columns, text


def test_width_option(folder):
	lines = check(sonde("report", folded(folder), "--view", "tree", "--width", "70")).out.splitlines()
	assert max(map(len, lines)) <= 70


def test_pager_gets_the_text_of_a_terminal(folder):
	path = folded(folder)
	pager = {"PAGER": "sed 's/^/PAGED /'"}
	assert "PAGED" in on_terminal(["report", "--text", path], pager)
	assert "PAGED" not in on_terminal(["report", "--no-pager", path], pager)
	assert "PAGED" not in check(sonde("report", path, env=pager)).out


def test_a_pager_that_quits_early_is_no_error(folder):
	text = on_terminal(["report", "-n", "0", folded(folder)], {"PAGER": "head -n 3"})
	assert "sonde:" not in text and text.count("\n") == 3, text


def test_control_characters_never_reach_a_terminal():
	hostile = b"main;\x1b]0;t\x07;\xe2\x80\xaeevil;\x9b31m;\xff\xfe 5\n"
	for format in ("text", "json", "csv", "folded"):
		for view in ([], ["--view", "tree"]):
			if view == [] and format == "folded":
				continue
			out = check(sonde("report", "--format", format, *view, "-", input=hostile)).out_bytes
			text = out.decode("utf-8")
			assert not any(c < " " and c not in "\n\r" or "\x7f" <= c < "\xa0" for c in text), out
			assert "\u202e" not in text


if __name__ == "__main__":
	harness.main()
