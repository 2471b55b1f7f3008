#!/bin/sh
# Fetches and builds what zones are compared with: IProf 0.2 as a game's sources carry it, spall.h
# and Tracy's client, each at one commit.  Nothing of them comes into this tree: they live in
# $SONDE_BENCH (default ~/.cache/sonde/bench), where sources that are there already are taken.
#
#	bench/peers.sh		prints the folder; what could not be had is said in peers.log there
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=${SONDE_BENCH:-${XDG_CACHE_HOME:-$HOME/.cache}/sonde/bench}
mkdir -p "$dir"
cd "$dir" || exit 1
log=$dir/peers.log
flags="-O2 -g -I$here"
tracy="-DTRACY_ENABLE -DTRACY_ONLY_LOCALHOST -DTRACY_NO_BROADCAST -DTRACY_NO_SAMPLING
	-DTRACY_NO_SYSTEM_TRACING -DTRACY_NO_CRASH_HANDLER -DTRACY_NO_CODE_TRANSFER -Isrc-tracy/public"

# NAME REPOSITORY COMMIT PATH STRIP: that path of the commit in ./src-NAME, without its first folders.
fetch() {
	[ -d "src-$1" ] && return 0
	rm -rf "git-$1" "src-$1.new" && mkdir "src-$1.new" && git init -q --bare "git-$1" || return 1
	git -C "git-$1" fetch -q --depth 1 "https://github.com/$2" "$3" &&
		git -C "git-$1" archive -o archive.tar FETCH_HEAD "$4" &&
		tar -xf "git-$1/archive.tar" --strip-components="$5" -C "src-$1.new" &&
		mv "src-$1.new" "src-$1" && rm -rf "git-$1"
}
# The zones here are made anew each time, Tracy itself once.
build_iprof() {
	fetch iprof AquariaOSE/Aquaria 98c51acf3e0e1f55dd95ee350e6b66f46b0e493a ExternalLibs/iprof 2 &&
		gcc $flags -w -fcommon -Isrc-iprof -c "$here/peer_iprof.c" -o peer_iprof.o
}
build_spall() {
	fetch spall colrdavidson/spall-web 9403174cbefb01f49370bc352d67adb0c4eea948 spall.h 0 &&
		gcc $flags -w -Isrc-spall -c "$here/peer_spall.c" -o peer_spall.o
}
build_tracy() {
	fetch tracy wolfpld/tracy aa53e377e723d52126531ff864b8610d716a0177 public 0 || return 1
	[ -f TracyClient.o ] ||
		g++ -std=c++17 $flags -w $tracy -c src-tracy/public/TracyClient.cpp -o TracyClient.o || return 1
	g++ -std=c++17 $flags -w $tracy -c "$here/peer_tracy.cpp" -o peer_tracy.o &&
		gcc $flags -w $tracy -c "$here/peer_tracy_c.c" -o peer_tracy_c.o
}
: >"$log"
for peer in iprof spall tracy; do
	"build_$peer" >>"$log" 2>&1 || { rm -f "peer_$peer.o"; echo "$peer cannot be had" >>"$log"; }
done
echo "$dir"
