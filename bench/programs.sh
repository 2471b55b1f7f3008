#!/bin/sh
# Builds the real programs that are measured: Lua, SQLite, tcc, QuickJS and Stockfish from Debian's
# source packages, all with -O2 -g and without frame pointers.  Nothing of them comes into this tree:
# they live in $SONDE_BENCH (default ~/.cache/sonde/bench), the package lists for sources too, so
# that the machine's own apt configuration stays as it is.
#
#	bench/programs.sh           builds what is not there yet, prints the folder
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${SONDE_BENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/sonde/bench}
flags="-O2 -g -fomit-frame-pointer"
mkdir -p "$dir"
cd "$dir"
log=$dir/programs.log
fail() { echo "bench/programs.sh: $1; see $log" >&2; exit 1; }

# PACKAGE [RELEASE]: its sources as their author released them, in ./src-PACKAGE
fetch() {
	"$here/../.ci/debian-source" "$dir" "$@" 2>>"$log" || fail "cannot fetch the sources of $1"
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
build_quickjs() {
	fetch quickjs trixie
	gcc $flags -w -D_GNU_SOURCE -DCONFIG_VERSION='"0"' -Isrc-quickjs -o quickjs "$here/quickjs_driver.c" \
		$(for f in quickjs dtoa libregexp libunicode cutils; do echo "src-quickjs/$f.c"; done) -lm -lpthread
}
# Its network's weights are read from the folder that it is started from, or the executable's.
build_stockfish() {
	fetch stockfish trixie
	cp src-stockfish/src/nn-*.nnue .
	g++ $flags -std=c++17 -w -DNDEBUG -DIS_64BIT -DUSE_PTHREADS -DUSE_SSE2 -DNNUE_EMBEDDING_OFF -msse2 \
		-o stockfish $(find src-stockfish/src -name '*.cpp') -lpthread
}
for program in lua sqlite tcc quickjs stockfish; do
	[ -x "$program" ] || "build_$program" >>"$log" 2>&1 || fail "cannot build $program"
done
[ -f sqlite3.i ] || gcc -E -P -I. sqlite3.c -o sqlite3.i
echo "$dir"
