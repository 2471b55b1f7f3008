"""`make dist`: the same bytes from two clones; a program with its page from the sources, where nothing can build one;
Debian's packages, unpacked and installed; and the program that is one file, on a machine that has nothing else."""

import functools
import hashlib
import json
import os
import pathlib
import shutil
import tarfile

import fleet
import harness
import recording
import shards
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


PACKAGES = ["libsonde-zones-dev", "libsonde-zones-gl-dev", "libsonde-zones-gl1", "libsonde-zones1", "sonde"]


def has_debhelper():
	return bool(shutil.which("dpkg-buildpackage") and shutil.which("dh"))


failed_releases = []


@functools.lru_cache
def releases():
	"""The folders of two releases of one commit, each made in a clone of its own, once for all cases."""
	missing = [tool for tool in PAGE_TOOLS if not shutil.which(tool)]
	if missing:
		raise Skip(f"there is no {missing[0]}")
	place = harness.BUILD_ROOT / "tests/release"
	assert not failed_releases, "no release was made for the first case that asked"
	failed_releases.append(place)
	shutil.rmtree(place, ignore_errors=True)
	for name in ("one", "another"):
		clone = place / name / "sonde"
		cloned = run("git", "clone", "-q", SOURCE_ROOT, clone)
		if cloned.status:
			failed_releases.clear()
			raise Skip(f"no clone can be made of this folder: {cloned.err.strip()}")
		check(run("make", "-C", clone, "dist", env=OWN_CACHE, timeout=1800))
	failed_releases.clear()
	return [place / name / "sonde/dist" for name in ("one", "another")]


def test_a_release_is_the_same_everywhere_and_builds(folder):
	made = [{path.name: path.read_bytes() for path in release.iterdir()} for release in releases()]
	assert made[0] == made[1], [{name: hashlib.sha256(data).hexdigest() for name, data in of.items()} for of in made]
	packages = sorted(name.partition("_")[0] for name in made[0] if name.endswith(".deb"))
	assert packages == (PACKAGES if has_debhelper() else []) and len(made[0]) == 4 + len(packages), sorted(made[0])

	tarball = next(name for name in made[0] if name.endswith(".tar.xz"))
	sums = dict(reversed(line.split()) for line in made[0]["SHA256SUMS"].decode().splitlines())
	assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in made[0].items() if name != "SHA256SUMS"}, sums
	bill = json.loads(made[0][tarball.replace(".tar.xz", ".spdx.json")])
	versions = {one["name"]: one["versionInfo"] for one in bill["packages"]}
	assert {"sonde", "sonde-source", "preact", "zlib", "pcre2", "wasi-libc", "libmicrohttpd", "libelf-dev"} <= set(versions) and "NOASSERTION" not in versions.values(), versions
	with tarfile.open(releases()[0] / tarball) as archive:
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


ZONES = r"""
#include <stdio.h>
#include <prof.h>
#include <prof_internal.h>
static void step(int n) { Prof_Begin(step) if (n) step(n - 1); Prof_End }
int main(void)
{
	for (int i = 0; i < 10; i++) { step(3); Prof_update(1); }
	return !Prof_report_write(stdout);
}
"""


def packages():
	if not has_debhelper():
		raise Skip("there is no debhelper")
	return {path.name.partition("_")[0]: path for path in releases()[0].glob("*.deb")}


def unpacked(folder, *names):
	"""A folder with what is in these packages, below usr/."""
	for name in names:
		check(run("dpkg-deb", "-x", packages()[name], folder))
	return folder / "usr"


def test_lintian_finds_nothing():
	if not shutil.which("lintian"):
		raise Skip("there is no lintian")
	found = run("lintian", "--allow-root", "--fail-on", "error,warning", *packages().values(), timeout=600)
	assert found.status == 0 and not found.out, found


def test_the_package_of_the_program_needs_no_other(folder):
	usr = unpacked(folder / "root", "sonde")
	fields = check(run("dpkg-deb", "-f", packages()["sonde"])).out
	assert "libsonde" not in fields.partition("Depends:")[2].partition("\n")[0], fields
	for name in ("man/man1/sonde.1.gz", "bash-completion/completions/sonde.bash", "zsh/vendor-completions/_sonde",
		"fish/vendor_completions.d/sonde.fish", "doc/sonde/copyright", "doc/sonde/changelog.gz"):
		assert (usr / "share" / name).is_file(), name
	sonde = usr / "bin/sonde"
	target = harness.compile_c(folder, recording.PROGRAMS / "shares.c", *recording.FLAGS, name="shares")
	check(run(sonde, "record", "--engine", "preload", "-o", folder / "x.prof", target, harness.work(400)))
	rows = {row["name"] for row in json.loads(check(run(sonde, "report", folder / "x.prof", "--view", "functions", "--format", "json")).out)["rows"]}
	assert {"shared", "via", "main"} <= rows, rows
	functions = harness.compile_c(folder, FUNCTIONS, "-O1", "-g", "-finstrument-functions", name="functions")
	done = check(run(sonde, "record", "--zones=functions", "-o", folder / "z.prof", functions))
	assert "2 functions of 1 program" in done.err, done.err
	assert 'id="module"' in check(run(sonde, "report", folder / "x.prof", "--format", "html")).out


def test_a_program_is_built_with_the_packages_of_zones(folder):
	if not shutil.which("pkg-config"):
		raise Skip("no pkg-config")
	usr = unpacked(folder / "root", "libsonde-zones1", "libsonde-zones-dev")
	places = next(usr.glob("lib/*/pkgconfig"))
	env = {"PKG_CONFIG_LIBDIR": str(places), "PKG_CONFIG_SYSROOT_DIR": str(folder / "root"), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1",
		"PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}
	flags = check(run("pkg-config", "--cflags", "--libs", "sonde-zones", env=env)).out.split()
	(folder / "program.c").write_text(ZONES)
	check(run("cc", "-DProf_ENABLED", folder / "program.c", *flags, "-o", folder / "program"))
	assert "libsonde-zones.so.1" in check(run("readelf", "-d", folder / "program")).out
	out = check(run(folder / "program", env={"LD_LIBRARY_PATH": str(places.parent)})).out
	assert "step" in out, out


IN_ROOT = """
mount --make-rprivate / && mount -t proc proc {root}/proc && mount --rbind /sys {root}/sys && mount --rbind /dev {root}/dev || exit 1
exec chroot {root} sh -ec '{commands}'
"""
# What apt and dpkg keep for themselves.
KEPT = ("/var/cache/", "/var/lib/apt/", "/var/lib/dpkg/", "/var/log/", "/etc/ld.so.cache", "/tmp/")


def test_apt_installs_and_purges(folder):
	"""On a Debian of the packages' release, with nothing in it, which takes root and Debian's archive."""
	debs = packages()
	recording.needs_root()
	if not shutil.which("debootstrap"):
		raise Skip("there is no debootstrap")
	release = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line).get("VERSION_CODENAME", "")
	root = folder / "root"
	made = run("debootstrap", "--variant=minbase", release, root, timeout=1200)
	if made.status:
		raise Skip(f"debootstrap made no root: {made.out.splitlines()[-1] if made.out else made.err}")
	for path in debs.values():
		shutil.copy(path, root / "tmp")
	target = harness.compile_c(folder, recording.PROGRAMS / "shares.c", *recording.FLAGS, name="shares")
	shutil.copy(target, root / "tmp/shares")
	shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")

	def inside(commands):
		return check(run("unshare", "-m", "sh", "-c", IN_ROOT.format(root=root, commands=commands), env={"DEBIAN_FRONTEND": "noninteractive", "XDG_CACHE_HOME": "/tmp/cache"}, timeout=600)).out

	def files():
		listed = inside("find / -xdev ! -path /proc ! -path /sys ! -path /dev").splitlines()
		return {path for path in listed if not path.startswith(KEPT)}
	inside("apt-get update -qq")
	before = files()
	inside("apt-get install -y --no-install-recommends /tmp/sonde_*.deb")
	assert "sonde record works here" in inside("sonde doctor")
	inside(f"cd /tmp && sonde record -o /tmp/x.prof ./shares {harness.work(400)}")
	assert "shared" in inside("sonde report /tmp/x.prof --view functions")
	inside("apt-get install -y --no-install-recommends /tmp/libsonde-zones*.deb")
	inside('apt-get purge -y "sonde" "libsonde-*" && apt-get autoremove --purge -y')
	assert files() == before, files() ^ before


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


def test_one_file_reaches_servers(folder):
	"""With its own HTTP, TLS and look-up of names; certificates are the machine's, or those that it is given."""
	program = one_file(folder)
	server = shards.server(is_tls=True)
	with server:
		store = ("--store", f"clickhouse://127.0.0.1:{server.tls_port}/sonde?secure=true")
		check(run(program, "fleet", "init", *store, "--ca", server.certificate))
		profile = fleet.Fleet(7).profiles[0]
		path = profile.write(folder / "x.folded")
		check(run(program, "push", *store, "--ca", server.certificate, *profile.options(), path))
		told = json.loads(check(run(program, "report", *store, "--ca", server.certificate, "--format", "json")).out)
		read = json.loads(check(run(program, "report", path, "--format", "json")).out)
		assert told["total"] == read["total"] > 0, (told["total"], read["total"])
		assert "ertificate" in check(run(program, "report", *store), 1).err
		named = check(run(program, "fleet", "status", "--store", f"clickhouse://localhost:{server.port}/sonde"))
		assert profile.service in named.out, named


if __name__ == "__main__":
	harness.main()
