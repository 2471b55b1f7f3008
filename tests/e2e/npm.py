"""Packages of npm that tests use as judges of what sonde writes."""

import shutil
import subprocess

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
	place.mkdir(parents=True, exist_ok=True)
	try:
		done = harness.run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", place,
			f"{name}@{version}", cwd=place, timeout=timeout)
	except subprocess.TimeoutExpired:
		raise harness.Skip("npm takes too long: is there a network?") from None
	if done.status != 0 or not (folder / "package.json").exists():
		raise harness.Skip(f"npm cannot install {name}: is there a network?")
	return folder
