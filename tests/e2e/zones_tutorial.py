"""The commands of the tutorial of zones (docs/zones.md), all of them in its order.

They need a game that is not here. tests/programs/zones/tutorial.c stands in for it, with the same zones;
SONDE_DOOM=build/src/chocolate-doom takes the game itself, built as the page says.
"""

import csv
import io
import os
import pathlib
import re
import subprocess
import time

import harness
from harness import BUILD_ROOT, SOURCE_ROOT, check, run
from recording import needs_sampling

PAGE = SOURCE_ROOT / "docs/zones.md"
BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What an output must have again: its title, and what its filters are.
TITLE = re.compile(r"^(?:(?:Zones|Functions) by .*?(?=;|$)|Call tree.*|(?:tick-over|zone) \S+ keeps|sonde: [\d,]+ (?=samples))",
	re.MULTILINE)


def scripts():
	"""The page's scripts by their names."""
	for kind, text in BLOCK.findall(PAGE.read_text()):
		name = re.match(r"#!/bin/sh\n# (\w+):", text)
		if kind == "sh" and name:
			yield name[1], text


def commands():
	"""Each command, and what the page shows of its output."""
	for kind, text in BLOCK.findall(PAGE.read_text()):
		if kind == "console":
			for case in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
				command, _, output = case.partition("\n")
				yield command, output


def prepare(folder):
	place = folder / "build/src"
	place.mkdir(parents=True)
	if os.environ.get("SONDE_DOOM"):
		(place / "chocolate-doom").symlink_to(pathlib.Path(os.environ["SONDE_DOOM"]).resolve())
	else:
		harness.compile_c(place, SOURCE_ROOT / "tests/programs/zones/tutorial.c", "-std=gnu11", "-O1", "-g",
			"-DProf_ENABLED", "-I", SOURCE_ROOT / "include", "-Wl,--whole-archive", BUILD_ROOT / "libsonde-zones.a",
			"-Wl,--no-whole-archive", "-pthread", "-lm", name="chocolate-doom")
	for name, text in scripts():
		(folder / name).write_text(text)
		(folder / name).chmod(0o755)


def shell(folder, command):
	done = run("sh", "-c", 'sonde() { "$SONDE" "$@"; }\n' + command, cwd=folder,
		env={"SONDE": harness.SONDE, "HOME": str(folder)})
	# The game ends a timed demo as an error, and its status is the recording's.
	return check(done, 255 if os.environ.get("SONDE_DOOM") and " record " in command else 0)


def wait_for_frames(pid):
	end = time.monotonic() + 60
	while harness.sonde("live", pid, "--once", "--zone", "bsp_node").status != 0:
		assert time.monotonic() < end, "the game draws nothing"
		time.sleep(0.1)


def titles(text):
	return [re.sub(r"[\d,]+ $", "", title) for title in TITLE.findall(text)]


@harness.takes_long
def test_each_command_works(folder):
	needs_sampling()
	prepare(folder)
	found = list(commands())
	assert len(found) > 15, found
	game = None
	try:
		for command, output in found:
			if command == "./play &":
				game = subprocess.Popen(["./play"], cwd=folder, stdout=subprocess.DEVNULL,
					stderr=subprocess.DEVNULL, env={**os.environ, "HOME": str(folder)})
				wait_for_frames(game.pid)
				continue
			# Others of the name may run; and there is no terminal here.
			command = command.replace("live chocolate-doom", f"live {game.pid}")
			if command == f"sonde live {game.pid}":
				command += " --once"
			done = shell(folder, command)
			assert done.out or done.err or " > " in command or "--save" in command, command
			assert "no rows" not in done.out, (command, done)
			missing = [t for t in titles(output) if t not in done.out + done.err]
			assert not missing, (command, missing, done)
	finally:
		if game:
			game.kill()
			game.wait()


def test_both_clocks_explain_the_wipe(folder):
	needs_sampling()
	prepare(folder)
	shell(folder, "sonde record -o doom.prof ./demo")
	done = shell(folder, "sonde report doom.prof --level zone --tick-over 10ms --zone '^wipe$' "
		"--metric zone-time,blocked-time --columns name,exclusive --format csv")
	rows = {row["name"]: row for row in csv.DictReader(io.StringIO(done.out))}
	measured, blocked = int(rows["wipe"]["exclusive"]), int(rows["wipe"]["blocked-time.exclusive"])
	# Five sleeps of 28 ms; what they took longer, the clocks agree on.
	assert blocked >= 0.98 * 5 * 28e6, done
	assert blocked <= 1.02 * measured, done


harness.main()
