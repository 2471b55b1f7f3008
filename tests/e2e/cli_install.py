"""make install: what it puts where."""

import os
import shutil

import harness
from harness import BUILD_ROOT, SOURCE_ROOT, check, run


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
	manuals = {f"share/man/man{p.suffix[1:]}/{p.name}" for p in (SOURCE_ROOT / "man").glob("*.[15]")}
	completions = {"share/bash-completion/completions/sonde.bash", "share/zsh/site-functions/_sonde",
		"share/fish/vendor_completions.d/sonde.fish"}
	libraries = {f for f in found if f.endswith("/sonde/libsonde-agent.so")}
	assert len(libraries) == 1, found
	wanted = {prefix + f for f in {"bin/sonde"} | manuals | completions} | libraries
	assert found == wanted, f"missing {wanted - found}, too many {found - wanted}"
	assert os.access(folder / prefix / "bin/sonde", os.X_OK)
	check(run(folder / prefix / "bin/sonde", "--version"))
	doctor = check(run(folder / prefix / "bin/sonde", "doctor"))
	assert "commands can be sampled by a library" in doctor.out, doctor


harness.main()
