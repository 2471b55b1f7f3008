#!/bin/sh
# Builds the real programs that are measured: Lua, SQLite and tcc from Debian's source packages, all
# with -O2 -g and without frame pointers.  Nothing of them comes into this tree: they live in
# $SONDE_BENCH (default ~/.cache/sonde/bench), the package lists for sources too, so that the
# machine's own apt configuration stays as it is.
#
#	bench/programs.sh           builds what is not there yet, prints the folder
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${SONDE_BENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/sonde/bench}
flags="-O2 -g -fomit-frame-pointer"
mkdir -p "$dir/apt/lists/partial" "$dir/apt/parts"
cd "$dir"
log=$dir/programs.log
fail() { echo "bench/programs.sh: $1; see $log" >&2; exit 1; }

# Debian's own archive, as this machine reaches it, asked for sources instead of binaries.
apt_sources() {
	for f in /etc/apt/sources.list.d/debian.sources; do
		[ -f "$f" ] && sed 's/^Types:.*/Types: deb-src/' "$f" >apt/parts/source.sources
	done
	[ -f /etc/apt/sources.list ] &&
		grep -E '^deb .*debian' /etc/apt/sources.list | sed 's/^deb /deb-src /' >apt/parts/source.list
	:
}
apt_source() {
	apt-get -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$dir/apt/parts" \
		-o Dir::State::lists="$dir/apt/lists" -o APT::Sandbox::User=root "$@"
}
fetch() { # package: its unpatched sources in ./src-PACKAGE
	[ -d "src-$1" ] && return 0
	[ -f apt/parts/source.list ] || [ -f apt/parts/source.sources ] || apt_sources
	[ -n "$(ls apt/lists/*Sources* 2>/dev/null)" ] || apt_source update -qq >>"$log" 2>&1 ||
		fail "no source package lists"
	command -v dpkg-source >/dev/null || fail "dpkg-source is missing (apt-get install dpkg-dev)"
	apt_source source -qq --download-only "$1" >>"$log" 2>&1 || fail "cannot fetch the sources of $1"
	dpkg-source --skip-patches -x "$1"_*.dsc "src-$1" >>"$log" 2>&1 || fail "cannot unpack $1"
}

build_lua() {
	fetch lua5.4
	(cd src-lua5.4/src && gcc $flags -std=gnu99 -DLUA_USE_LINUX -o "$dir/lua" \
		$(ls ./*.c | grep -v luac.c) -lm -ldl -Wl,-E)
}
build_sqlite() {
	fetch sqlite3
	mkdir -p src-sqlite3/amalgamation
	(cd src-sqlite3/amalgamation && ../configure --disable-tcl && make sqlite3.c)
	cp src-sqlite3/amalgamation/sqlite3.c src-sqlite3/amalgamation/sqlite3.h .
	gcc $flags -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -I. -o sqlite \
		"$here/sqlite_driver.c" sqlite3.c -lm
}
build_tcc() {
	fetch tcc
	(cd src-tcc && ./configure && make libtcc1.a)
	gcc $flags -w -DONE_SOURCE=1 -Isrc-tcc -o tcc "$here/tcc_driver.c" src-tcc/libtcc.c -lm -ldl -lpthread
}
for program in lua sqlite tcc; do
	[ -x "$program" ] || "build_$program" >>"$log" 2>&1 || fail "cannot build $program"
done
[ -f sqlite3.i ] || gcc -E -P -I. sqlite3.c -o sqlite3.i
echo "$dir"
