# The front door. Meson does the work; these are the commands to remember.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60

.PHONY: all deps demo check check-long golden bench fuzz asan install clean
.NOTPARALLEL:

all: $(BUILD)/build.ninja ## build the program: build/sonde
	@ninja -C $(BUILD) --quiet

deps: ## install what building and testing need (Debian)
	@.ci/deps

demo: deps all ## record a recursive program and look at it
	@examples/demo $(BUILD)

# The suite on the build that is shipped, asserts on, and once more under ASan and UBSan. Clang's build
# of the program is only compiled. Warnings are errors in it, and in CI (.ci/run) in the first one too; not under
# sanitizers, whose checks make gcc see things.
check: deps all asan ## every test, twice
	@if command -v clang >/dev/null; then $(MAKE) --no-print-directory build-clang; fi
	@tests/run $(BUILD) build-asan:unit,golden,fuzz,e2e

# What fails by chance, many times as often: random profiles against the model, killed recorders, storms of zones;
# and recordings of a quarter and of four times the work, and beside processes that take the CPUs from them.
check-long: deps all asan ## what takes hours: more rounds of all, and recordings under load
	@tests/run --long $(BUILD) build-asan:unit,fuzz

golden: all ## rewrite the golden files with what is printed now, and the page of files
	@python3 tests/lint/files.py --update
	@SONDE=$(abspath $(BUILD))/sonde python3 tests/golden/golden.py --update
	@SONDE=$(abspath $(BUILD))/sonde python3 tests/golden/pages.py --update
	@git --no-pager diff --stat -- tests/golden docs

bench: deps all ## measure against the marks and the peers
	@bench/run

fuzz: all ## search for crashes, FUZZ_SECONDS for each harness; FUZZ=NAME for one
	@.ci/deps fuzz
	@test -f build-fuzz/build.ninja || CC=clang meson setup build-fuzz -Dlibfuzzer=true \
		-Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fno-sanitize-recover=all >/dev/null
	@ninja -C build-fuzz --quiet
	@tests/fuzz/search $(BUILD) build-fuzz $(FUZZ_SECONDS) $(FUZZ)

asan: build-asan/build.ninja ## build with ASan and UBSan: build-asan/sonde
	@ninja -C build-asan --quiet

.PHONY: build-clang
build-clang: build-clang/build.ninja
	@ninja -C build-clang --quiet sonde

install: all ## install below PREFIX (and DESTDIR)
	@meson configure $(BUILD) -Dprefix=$(PREFIX) && ninja -C $(BUILD) --quiet >/dev/null
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild --quiet

clean: ## remove all builds
	rm -rf build build-asan build-clang build-fuzz

$(BUILD)/build.ninja: SETUP = $(if $(CI),-Dwerror=true)
build-asan/build.ninja: SETUP = -Db_sanitize=address,undefined
build-clang/build.ninja: SETUP = -Dwerror=true
build-clang/build.ninja: export CC = clang
%/build.ninja:
	@command -v meson >/dev/null || { echo "meson is missing: run 'make deps'" >&2; exit 1; }
	@meson setup $(@D) $(SETUP) >/dev/null || { tail -3 $(@D)/meson-logs/meson-log.txt; exit 1; }
