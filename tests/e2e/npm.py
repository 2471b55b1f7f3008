"""Packages of npm that tests use as judges of what sonde writes."""

import fcntl
import pathlib
import shutil
import subprocess
import tempfile

import harness


def package(name, version, timeout=100):
	"""The folder of a package at that version, installed once in a build tree; Skip where it cannot be had."""
	place = harness.BUILD_ROOT / "tests" / "npm" / f"{name.replace('/', '+')}-{version}"
	folder = place / "node_modules" / name
	if (folder / "package.json").exists():
		return folder
	for program in ("node", "npm"):
		if shutil.which(program) is None:
			raise harness.Skip(f"there is no {program}")
	place.parent.mkdir(parents=True, exist_ok=True)
	# Tests that run at the same time want the same package, and a library that is half there ends who opens it.
	with open(f"{place}.lock", "w") as lock:
		fcntl.flock(lock, fcntl.LOCK_EX)
		if not (folder / "package.json").exists():
			install(place, name, version, timeout)
	return folder


def install(place, name, version, timeout):
	"""Elsewhere, and then moves it to its place."""
	with tempfile.TemporaryDirectory(dir=place.parent) as folder:
		made = pathlib.Path(folder) / "made"
		made.mkdir()
		try:
			done = harness.run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", made,
				f"{name}@{version}", cwd=made, timeout=timeout)
		except subprocess.TimeoutExpired:
			raise harness.Skip("npm takes too long: is there a network?") from None
		if done.status != 0 or not (made / "node_modules" / name / "package.json").exists():
			raise harness.Skip(f"npm cannot install {name}: is there a network?")
		shutil.rmtree(place, ignore_errors=True)
		made.rename(place)
