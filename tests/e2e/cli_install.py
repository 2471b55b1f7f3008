"""make install: what it puts where."""

import os
import shutil

import harness
from harness import BUILD_ROOT, SOURCE_ROOT, check, run


def libraries(has_gl):
	"""What is in the folder of libraries."""
	found = {"sonde/libsonde-preload.so", "sonde/libsonde-zones-functions.so",
		"libsonde-zones-functions.a", "cmake/SondeZones/SondeZonesConfig.cmake",
		"cmake/SondeZones/SondeZonesConfigVersion.cmake", "pkgconfig/sonde-zones-functions.pc"}
	for name in ["sonde-zones"] + ["sonde-zones-gl"] * has_gl:
		found |= {f"lib{name}.a", f"lib{name}.so", f"lib{name}.so.1", f"lib{name}.so.1.0.0",
			f"pkgconfig/{name}.pc"}
	return found


def test_install_into_destdir(folder):
	if harness.SANITIZED:
		raise harness.Skip("the other build installs the same")
	if not shutil.which("meson"):
		raise harness.Skip("no meson")
	check(run("meson", "install", "-C", BUILD_ROOT, "--no-rebuild", "--quiet",
		env={"DESTDIR": str(folder)}))
	found = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
	prefixes = {f.partition("/bin/sonde")[0] for f in found if f.endswith("/bin/sonde")}
	assert len(prefixes) == 1, found
	prefix = prefixes.pop() + "/"
	manuals = {f"share/man/man{p.suffix[1:]}/{p.name}" for p in (SOURCE_ROOT / "man").glob("*.[157]")}
	completions = {"share/bash-completion/completions/sonde.bash", "share/zsh/site-functions/_sonde",
		"share/fish/vendor_completions.d/sonde.fish"}
	libdir = {f.partition("/sonde/libsonde-preload.so")[0] for f in found if f.endswith("/sonde/libsonde-preload.so")}
	assert len(libdir) == 1, found
	headers = {"include/" + p.name for p in (SOURCE_ROOT / "include").glob("*.h")}
	headers.add("include/sonde_zones.h")
	has_gl = any(f.endswith("-gl.pc") for f in found)
	if not has_gl:
		headers.discard("include/prof_gl.h")
	wanted = {prefix + f for f in {"bin/sonde"} | manuals | completions | headers}
	wanted |= {f"{libdir.copy().pop()}/{f}" for f in libraries(has_gl)}
	assert found == wanted, f"missing {wanted - found}, too many {found - wanted}"
	assert os.access(folder / prefix / "bin/sonde", os.X_OK)
	check(run(folder / prefix / "bin/sonde", "--version"))
	doctor = check(run(folder / prefix / "bin/sonde", "doctor"))
	assert "commands can be sampled by a library" in doctor.out, doctor


harness.main()
