"""`make dist`: the same bytes from two clones; a program with its page from the sources, where nothing can build one;
and the program that is one file, on a machine that has nothing else."""

import hashlib
import json
import os
import pathlib
import shutil
import tarfile

import harness
import recording
from harness import SOURCE_ROOT, Skip, check, run

FUNCTIONS = """
__attribute__((noinline)) int leaf(int x) { return x * 3 + 1; }
int main(void) { int x = 1; for (int i = 0; i < 100; i++) x = leaf(x); return x == 0; }
"""
# What is built for a release is kept where `make` keeps it.
OWN_CACHE = {"XDG_CACHE_HOME": None}
PAGE_TOOLS = ("clang", "wasm-ld", "meson", "ninja", "node", "npm")


def path_without(folder, *names):
	"""A folder with all programs of PATH but these."""
	folder.mkdir()
	for place in os.environ["PATH"].split(":"):
		for program in pathlib.Path(place).glob("*"):
			link = folder / program.name
			if program.name not in names and not link.is_symlink() and os.access(program, os.X_OK):
				link.symlink_to(program)
	return str(folder)


@harness.takes_long
def test_a_release_is_the_same_everywhere_and_builds(folder):
	missing = [tool for tool in PAGE_TOOLS if not shutil.which(tool)]
	if missing:
		raise Skip(f"there is no {missing[0]}")
	made = []
	for name in ("one", "another"):
		clone = folder / name / "sonde"
		cloned = run("git", "clone", "-q", SOURCE_ROOT, clone)
		if cloned.status:
			raise Skip(f"no clone can be made of this folder: {cloned.err.strip()}")
		check(run("make", "-C", clone, "dist", env=OWN_CACHE, timeout=900))
		made.append({path.name: path.read_bytes() for path in (clone / "dist").iterdir()})
	assert made[0] == made[1] and len(made[0]) == 4, [{name: hashlib.sha256(data).hexdigest() for name, data in of.items()} for of in made]

	tarball = next(name for name in made[0] if name.endswith(".tar.xz"))
	sums = dict(reversed(line.split()) for line in made[0]["SHA256SUMS"].decode().splitlines())
	assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in made[0].items() if name != "SHA256SUMS"}, sums
	bill = json.loads(made[0][tarball.replace(".tar.xz", ".spdx.json")])
	versions = {one["name"]: one["versionInfo"] for one in bill["packages"]}
	assert {"sonde", "sonde-source", "preact", "zlib", "pcre2", "wasi-libc", "libmicrohttpd", "libelf-dev"} <= set(versions) and "NOASSERTION" not in versions.values(), versions
	with tarfile.open(folder / "one/sonde/dist" / tarball) as archive:
		members = archive.getmembers()
		assert {(m.uid, m.gid, m.mtime) for m in members} == {(0, 0, members[0].mtime)}, "owners and times"
		archive.extractall(folder)

	source = folder / tarball.removesuffix(".tar.xz")
	done = check(run("make", "-C", source, "all", env={**OWN_CACHE, "PATH": path_without(folder / "bin", "node", "npm")}, timeout=600))
	assert "the one of the release" in done.err, done.err
	stacks, page = folder / "x.folded", folder / "x.html"
	stacks.write_text("main;f 3\nmain;g 1\n")
	check(run(source / "build/sonde", "report", stacks, "--format", "html", "-o", page))
	assert 'id="module"' in page.read_text()


def one_file(folder):
	"""The program, built once for both cases."""
	missing = [tool for tool in ("clang", "meson", "ninja", "strip", "readelf", "unshare") if not shutil.which(tool)]
	if missing:
		raise Skip(f"there is no {missing[0]}")
	check(run(SOURCE_ROOT / "release/static", harness.BUILD_ROOT / "tests/static", folder / "sonde", env=OWN_CACHE, timeout=900))
	return folder / "sonde"


SHELL = """
mkdir -p {root}/proc {root}/tmp && mount --rbind /proc {root}/proc && mount --rbind /sys {root}/sys 2>/dev/null
exec chroot {root} {command}
"""


def on_an_empty_machine(root, command):
	"""In a root folder of its own, as a user of a namespace: nothing of this machine is there but its kernel."""
	return run("unshare", "-rm", "sh", "-c", SHELL.format(root=root, command=command), env={"HOME": "/none", "XDG_CACHE_HOME": None})


@harness.takes_long
def test_one_file_needs_nothing_of_the_machine(folder):
	if run("unshare", "-rm", "true").status:
		raise Skip("no namespace can be made here")
	program = one_file(folder)
	headers = check(run("readelf", "-lW", program)).out
	assert "INTERP" not in headers and "DYNAMIC" not in headers, headers
	assert os.fsencode(SOURCE_ROOT) not in program.read_bytes(), "it says where it was built"

	root = folder / "root"
	root.mkdir()
	shutil.copy(program, root / "sonde")
	target = harness.compile_c(folder, recording.PROGRAMS / "shares.c", *recording.FLAGS, "-static", name="shares")
	shutil.copy(target, root / "shares")
	milliseconds = harness.work(500)
	check(on_an_empty_machine(root, f"/sonde record -o /x.prof /shares {milliseconds}"))
	rows = {row["name"]: row for row in json.loads(check(on_an_empty_machine(root, "/sonde report /x.prof --view functions --format json")).out)["rows"]}
	total = sum(row["exclusive"] for row in rows.values())
	assert abs(rows["shared"]["inclusive"] / total - 0.5) < 0.15 and "via" in rows and "main" in rows, rows
	assert "via" in check(on_an_empty_machine(root, "/sonde report /x.prof --view tree --limit 0")).out
	assert "xor" in check(on_an_empty_machine(root, "/sonde annotate /x.prof shared")).out
	page = check(on_an_empty_machine(root, "/sonde report /x.prof --format html")).out
	assert 'id="module"' in page, page[:300]
	doctor = check(on_an_empty_machine(root, "/sonde doctor")).out
	assert "sonde record works here" in doctor and "not installed" not in doctor, doctor


@harness.takes_long
def test_one_file_carries_what_it_preloads(folder):
	program = one_file(folder)
	caches = {"XDG_CACHE_HOME": str(folder / "cache")}
	target = harness.compile_c(folder, recording.PROGRAMS / "shares.c", *recording.FLAGS, name="shares")
	check(run(program, "record", "--engine", "preload", "-o", folder / "x.prof", target, harness.work(400), env=caches))
	rows = {row["name"] for row in json.loads(check(run(program, "report", folder / "x.prof", "--view", "functions", "--format", "json")).out)["rows"]}
	assert {"shared", "via", "main"} <= rows, rows
	carried = sorted(path.name for path in (folder / "cache/sonde/lib").rglob("*.so*"))
	assert carried == ["libsonde-preload.so", "libsonde-zones-functions.so", "libsonde-zones.so.1"], carried
	# One that was changed is not used.
	spoilt = next((folder / "cache/sonde/lib").rglob("libsonde-preload.so"))
	spoilt.write_bytes(b"spoilt")
	check(run(program, "record", "--engine", "preload", "-o", folder / "y.prof", target, harness.work(300), env=caches))
	assert spoilt.stat().st_size > 10_000

	functions = harness.compile_c(folder, FUNCTIONS, "-O1", "-g", "-finstrument-functions", name="functions")
	done = check(run(program, "record", "--zones=functions", "-o", folder / "z.prof", functions, env=caches))
	assert "2 functions of 1 program" in done.err, done.err


if __name__ == "__main__":
	harness.main()
