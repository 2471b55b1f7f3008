# The front door. Meson does the work; these are the commands to remember.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
DISTRIBUTIONS ?= build/distributions
# CPU seconds on the reference machine of tests/cost.py.
CHECK_BUDGET ?= 480
LONG_BUDGET ?= 1250
comma := ,

.PHONY: all deps demo demo-fleet check check-long check-hours check-variants golden bench fuzz asan install dist check-distributions clean
.NOTPARALLEL:

all: page $(BUILD)/build.ninja ## build the program: build/sonde
	@ninja -C $(BUILD) --quiet program

deps: ## install what building needs (Debian)
	@.ci/deps

# Once for all builds; says what it lacks, and then there are no pages.
.PHONY: page
page: ## build the page of `sonde report --format html`, if clang, node and npm are there
	@src/page/build page-build

.PHONY: test-deps tests asan-tests everything
test-deps:
	@.ci/deps test

# What `make check` runs: the program and half of the test programs, and the other half with sanitizers.
tests: page $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet program check-programs

everything: page $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet all

asan-tests: build-asan/build.ninja
	@ninja -C build-asan --quiet check-programs

demo: deps all ## record a recursive program and look at it
	@examples/demo $(BUILD)

demo-fleet: test-deps all ## a server, two agents, and questions to both
	@examples/demo-fleet $(BUILD)

# The suite: whole programs as they are shipped, asserts on, and fuzz and the readers' units under ASan and UBSan.
# Warnings are errors in CI (.ci/run); not under sanitizers, whose checks make gcc see things. The other halves are in
# check-long and check-hours. A budget is in CPU seconds, compiling included (tests/cost.py).
check: test-deps ## every test that is quick: some minutes
	@tests/run --make "tests asan-tests" --budget $(CHECK_BUDGET) $(BUILD):check build-asan:check

check-long: test-deps ## what takes longer, and recording under sanitizers: a quarter of an hour. CI runs both
	@tests/run --make "everything asan" --budget $(LONG_BUDGET) $(BUILD):long build-asan:long

# What takes longest or shows again at a higher level what others show, and recordings beside processes that take the
# CPUs from them. MORE=1: everything else as well, with many more rounds, and a quarter and four times the work.
check-hours: test-deps ## the rest, before an issue is closed: an hour; MORE=1 for many more rounds: hours
	@tests/run --make "everything asan" $(if $(MORE),--long $(BUILD) build-asan:unit$(comma)fuzz$(comma)hours,--beside $(BUILD):hours build-asan:hours)

# Hardened, by clang, with link-time optimization, and without each optional library.
check-variants: test-deps all ## other ways to build it, each built and tried: ten minutes
	@tests/run $(BUILD):variants

golden: tests ## rewrite the golden files with what is printed now, and the page of files
	@python3 tests/lint/files.py --update
	@SONDE=$(abspath $(BUILD))/sonde python3 tests/golden/golden.py --update
	@SONDE=$(abspath $(BUILD))/sonde python3 tests/golden/pages.py --update
	@git --no-pager diff --stat -- tests/golden docs

bench: test-deps all ## measure against the marks and the peers
	@bench/run

fuzz: everything ## search for crashes, FUZZ_SECONDS for each harness; FUZZ=NAME for one
	@.ci/deps fuzz
	@test -f build-fuzz/build.ninja || CC=clang meson setup build-fuzz -Dlibfuzzer=true \
		-Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fno-sanitize-recover=all >/dev/null
	@ninja -C build-fuzz --quiet
	@tests/fuzz/search $(BUILD) build-fuzz $(FUZZ_SECONDS) $(FUZZ)

asan: build-asan/build.ninja ## build with ASan and UBSan, tests too: build-asan/sonde
	@ninja -C build-asan --quiet all

install: all ## install below PREFIX (and DESTDIR)
	@meson configure $(BUILD) -Dprefix=$(PREFIX) && ninja -C $(BUILD) --quiet program >/dev/null
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild --quiet

dist: ## make a release of what is committed: dist/
	@release/dist

check-distributions: ## try dist/ in roots and on kernels of Debian, as root: docs/distributions.md
	@tests/distributions --cache $(DISTRIBUTIONS) --update

clean: ## remove all builds
	rm -rf build build-asan build-fuzz page-build dist

$(BUILD)/build.ninja: SETUP = $(if $(CI),-Dwerror=true)
# Light optimization and little debug information: a third of the time to compile, and traces still have their lines. What
# gcc believes to see with -Og is left to the other builds.
build-asan/build.ninja: SETUP = -Db_sanitize=address,undefined -Doptimization=g -Ddebug=false '-Dc_args=-g1 -Wno-maybe-uninitialized -Wno-format-truncation'
%/build.ninja:
	@command -v meson >/dev/null || { echo "meson is missing: run 'make deps'" >&2; exit 1; }
	@meson setup $(@D) $(SETUP) >/dev/null || { tail -3 $(@D)/meson-logs/meson-log.txt; exit 1; }
