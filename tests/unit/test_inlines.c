/*
 * Real programs, built in every way that debug information comes in, at every byte of their code:
 * ours against libdw where it can read the file, against the plain build's where it cannot.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../libdw_oracle.h"
#include "../scratch.h"
#include "../unit.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "obj/debug_info.h"
#include "obj/debugfile.h"
#include "obj/objfile.h"

#define C_SOURCES "$SRC/inlines.c $SRC/inlines_other.c"
#define GCC	  "gcc -O2 -freorder-blocks-and-partition"

/* What is known of every byte of a program's .text. */
struct reading {
	struct objfile *object, *debug;
	struct debug_info *info;
	char *path, *debug_directory, *problem;
	uint64_t *addrs;
	struct debug_place *places;
	size_t count;
};

static bool reading_open(struct reading *r, const char *folder, const char *name)
{
	struct objfile_section text;

	*r = (struct reading){.path = xasprintf("%s/%s", folder, name),
		.debug_directory = xasprintf("%s/debug", folder)};
	assert_null(objfile_open(r->path, &r->object));
	struct debugfile_places places = {
		.object_path = str_from(r->path), .debug_directory = r->debug_directory};
	r->debug = debugfile_open(r->object, &places, &r->problem);
	r->info = debug_info_open(
		r->object, r->debug, &places, str_from(r->debug ? objfile_name(r->debug) : ""));
	assert_true(objfile_section(r->object, ".text", &text));
	r->count = r->info ? text.size : 0;
	r->addrs = xcalloc(r->count, sizeof(*r->addrs));
	r->places = xcalloc(r->count, sizeof(*r->places));
	for (size_t i = 0; i < r->count; i++)
		r->addrs[i] = text.obj_addr + i;
	if (r->info)
		debug_info_find(r->info, r->addrs, r->count, r->places);
	return r->info != NULL;
}

static void reading_close(struct reading *r)
{
	debug_info_close(r->info);
	objfile_close(r->debug);
	objfile_close(r->object);
	free(r->addrs);
	free(r->places);
	free(r->path);
	free(r->debug_directory);
	free(r->problem);
}

static void print_place(const char *whose, const struct debug_place *place)
{
	for (uint32_t i = 0; i < place->count; i++) {
		const struct debug_frame *f = &place->frames[i];
		print_message("# %s: %.*s at %.*s:%u\n", whose, STR_ARG(f->function),
			STR_ARG(f->file), f->line);
	}
}

static bool places_equal(const struct debug_place *a, const struct debug_place *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct debug_frame *x = &a->frames[i], *y = &b->frames[i];
		if (!str_equal(x->function, y->function) || !str_equal(x->file, y->file) ||
			x->line != y->line || x->is_inline != y->is_inline)
			return false;
	}
	return true;
}

static void check_place(
	uint64_t addr, const struct debug_place *ours, const struct debug_place *expected)
{
	if (places_equal(ours, expected))
		return;
	print_message("# at 0x%llx\n", (unsigned long long)addr);
	print_place("ours", ours);
	print_place("expected", expected);
	fail();
}

/* The most functions at one address, as a sign that the test tests something. */
static uint32_t deepest(const struct reading *r)
{
	uint32_t most = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->places[i].count > most)
			most = r->places[i].count;
	return most;
}

static void check_against_libdw(const char *folder, const char *name)
{
	struct reading r;

	assert_true(reading_open(&r, folder, name));
	struct oracle *oracle = oracle_open(r.path);
	assert_non_null(oracle);
	for (size_t i = 0; i < r.count; i++) {
		struct arena *arena = arena_create();
		struct debug_place expected = oracle_find(oracle, r.addrs[i], arena);
		check_place(r.addrs[i], &r.places[i], &expected);
		arena_destroy(arena);
	}
	assert_true(deepest(&r) >= 3);
	oracle_close(oracle);
	reading_close(&r);
}

static void check_against_plain(const char *folder, const char *plain, const char *name)
{
	struct reading a, b;

	assert_true(reading_open(&a, folder, name));
	assert_true(reading_open(&b, folder, plain));
	assert_int_equal(a.count, b.count);
	assert_int_equal(a.addrs[0], b.addrs[0]);
	assert_true(deepest(&b) >= 3);
	for (size_t i = 0; i < a.count; i++)
		check_place(a.addrs[i], &a.places[i], &b.places[i]);
	reading_close(&a);
	reading_close(&b);
}

static int make_folder(void **state)
{
	*state = scratch_create();
	return 0;
}

static int remove_folder(void **state)
{
	scratch_destroy(*state);
	return 0;
}

/* Programs by the hash of the command that made them: many cases begin with the same one. */
static char *built;

static int make_built(void **state)
{
	(void)state;
	built = scratch_create();
	return 0;
}

static int remove_built(void **state)
{
	(void)state;
	scratch_destroy(built);
	return 0;
}

/* Makes a program by a command, once for all cases; skips where the compiler is missing. */
static void build(const char *folder, const char *command, const char *name)
{
	char *path = xasprintf("%s/%08x", built, crc32c(0, command, strlen(command)));

	if (access(path, F_OK) < 0 && !scratch_run(built, "%s -o '%s'", command, path)) {
		free(path);
		skip();
	}
	assert_true(scratch_run(folder, "cp '%s' %s", path, name));
	free(path);
}

/* One build, compared with libdw. */
static void build_and_check(void **state, const char *command)
{
	build(*state, command, "program");
	check_against_libdw(*state, "program");
}

static void dwarf_4(void **state)
{
	build_and_check(state, GCC " -gdwarf-4 " C_SOURCES);
}

static void dwarf_5(void **state)
{
	build_and_check(state, GCC " -gdwarf-5 " C_SOURCES);
}

static void dwarf_3_strict(void **state)
{
	build_and_check(state, GCC " -gdwarf-3 -gstrict-dwarf " C_SOURCES);
}

static void dwarf_5_of_64_bit(void **state)
{
	build_and_check(state, GCC " -gdwarf-5 -gdwarf64 " C_SOURCES);
}

static void type_units(void **state)
{
	build_and_check(state, GCC " -gdwarf-4 -fdebug-types-section " C_SOURCES);
}

static void link_time_optimisation(void **state)
{
	build_and_check(state, GCC " -g -flto " C_SOURCES);
}

static void sections_for_functions(void **state)
{
	build_and_check(state, GCC " -g -ffunction-sections -Wl,--gc-sections " C_SOURCES);
}

static void clang_dwarf_4(void **state)
{
	build_and_check(state, "clang -O2 -gdwarf-4 " C_SOURCES);
}

static void clang_dwarf_5(void **state)
{
	build_and_check(state, "clang -O2 -gdwarf-5 " C_SOURCES);
}

static void cpp(void **state)
{
	build_and_check(state, "g++ -O2 -g $SRC/inlines_cpp.cc");
}

static void clang_cpp(void **state)
{
	build_and_check(state, "clang++ -O2 -gdwarf-5 $SRC/inlines_cpp.cc");
}

/* A build and another form of it, which must read the same. */
static void transform_and_check(void **state, const char *command, const char *transform)
{
	build(*state, command, "plain");
	if (!scratch_run(*state, "%s", transform))
		skip();
	check_against_plain(*state, "plain", "program");
}

static void compressed_with_zlib(void **state)
{
	transform_and_check(state, GCC " -g " C_SOURCES,
		"objcopy --compress-debug-sections=zlib plain program");
}

static void compressed_with_zlib_the_old_way(void **state)
{
	transform_and_check(state, GCC " -g " C_SOURCES,
		"objcopy --compress-debug-sections=zlib-gnu plain program");
}

static void compressed_with_zstd(void **state)
{
	transform_and_check(state, GCC " -g " C_SOURCES,
		"objcopy --compress-debug-sections=zstd plain program");
}

static void debug_file_beside(void **state)
{
	transform_and_check(state, GCC " -g -Wl,--build-id=none " C_SOURCES,
		"objcopy --only-keep-debug plain program.debug && strip -o program plain &&"
		"objcopy --add-gnu-debuglink=program.debug program");
}

static void debug_file_in_folder(void **state)
{
	transform_and_check(state, GCC " -g " C_SOURCES,
		"mkdir .debug && objcopy --only-keep-debug plain .debug/program.debug &&"
		"strip -o program plain &&"
		"objcopy --add-gnu-debuglink=.debug/program.debug program");
}

static void debug_file_in_the_global_folder(void **state)
{
	transform_and_check(state, GCC " -g -Wl,--build-id=none " C_SOURCES,
		"mkdir -p debug$PWD && objcopy --only-keep-debug plain debug$PWD/program.debug &&"
		"strip -o program plain &&"
		"objcopy --add-gnu-debuglink=debug$PWD/program.debug program");
}

static void debug_file_by_build_id(void **state)
{
	transform_and_check(state, GCC " -g -Wl,--build-id=0xabcdef0123456789 " C_SOURCES,
		"mkdir -p debug/.build-id/ab && strip -o program plain &&"
		"objcopy --only-keep-debug plain debug/.build-id/ab/cdef0123456789.debug");
}

static void debug_file_of_another_build(void **state)
{
	struct reading r;

	build(*state, GCC " -g -Wl,--build-id=0xabcdef0123456789 " C_SOURCES, "plain");
	build(*state, GCC " -g -Wl,--build-id=0xabcdef9999999999 " C_SOURCES, "other");
	assert_true(scratch_run(*state, "mkdir -p debug/.build-id/ab && strip -o program plain &&"
					"mv other debug/.build-id/ab/cdef0123456789.debug"));
	assert_false(reading_open(&r, *state, "program"));
	assert_non_null(r.problem);
	assert_non_null(strstr(r.problem, "its build-id is another"));
	reading_close(&r);
}

static void debug_file_with_a_wrong_checksum(void **state)
{
	struct reading r;

	build(*state, GCC " -g -Wl,--build-id=none " C_SOURCES, "plain");
	assert_true(scratch_run(*state,
		"objcopy --only-keep-debug plain program.debug && strip -o program plain &&"
		"objcopy --add-gnu-debuglink=program.debug program && printf x >> program.debug"));
	assert_false(reading_open(&r, *state, "program"));
	assert_non_null(r.problem);
	assert_non_null(strstr(r.problem, "its checksum is not"));
	reading_close(&r);
}

static void split_files(void **state)
{
	transform_and_check(
		state, GCC " -g " C_SOURCES, GCC " -g -gsplit-dwarf " C_SOURCES " -o program");
}

static void split_files_of_dwarf_4(void **state)
{
	transform_and_check(state, GCC " -gdwarf-4 " C_SOURCES,
		GCC " -gdwarf-4 -gsplit-dwarf " C_SOURCES " -o program");
}

static void split_files_moved_with_the_program(void **state)
{
	transform_and_check(state, GCC " -g " C_SOURCES,
		"mkdir a && (cd a && " GCC " -g -gsplit-dwarf " C_SOURCES
		" -o program) && mv a/* .");
}

static void split_files_missing(void **state)
{
	struct reading r;

	if (!scratch_run(*state, GCC " -g -gsplit-dwarf " C_SOURCES " -o program && rm *.dwo"))
		skip();
	assert_true(reading_open(&r, *state, "program"));
	assert_non_null(debug_info_problem(r.info));
	assert_non_null(strstr(debug_info_problem(r.info), ".dwo"));
	reading_close(&r);
}

static void split_package(void **state)
{
	transform_and_check(state, "clang -O2 -gdwarf-5 " C_SOURCES,
		"clang -O2 -gdwarf-5 -gsplit-dwarf " C_SOURCES
		" -o program && llvm-dwp -e program -o program.dwp && rm -f *.dwo");
}

static void split_package_of_dwarf_4(void **state)
{
	transform_and_check(state, GCC " -gdwarf-4 " C_SOURCES,
		GCC " -gdwarf-4 -gsplit-dwarf " C_SOURCES
		    " -o program && dwp -e program -o program.dwp && rm -f *.dwo");
}

static void dwz_in_itself(void **state)
{
	transform_and_check(state, "g++ -O2 -g $SRC/inlines_cpp.cc", "dwz -o program plain");
}

static void dwz_with_a_common_file(void **state)
{
	transform_and_check(state, "g++ -O2 -g $SRC/inlines_cpp.cc",
		"cp plain program && cp plain twin && dwz -m common -M \"$PWD/common\" program "
		"twin");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
		IN_FOLDER(dwarf_4),
		IN_FOLDER(dwarf_5),
		IN_FOLDER(dwarf_3_strict),
		IN_FOLDER(dwarf_5_of_64_bit),
		IN_FOLDER(type_units),
		IN_FOLDER(link_time_optimisation),
		IN_FOLDER(sections_for_functions),
		IN_FOLDER(clang_dwarf_4),
		IN_FOLDER(clang_dwarf_5),
		IN_FOLDER(cpp),
		IN_FOLDER(clang_cpp),
		IN_FOLDER(compressed_with_zlib),
		IN_FOLDER(compressed_with_zlib_the_old_way),
		IN_FOLDER(compressed_with_zstd),
		IN_FOLDER(debug_file_beside),
		IN_FOLDER(debug_file_in_folder),
		IN_FOLDER(debug_file_in_the_global_folder),
		IN_FOLDER(debug_file_by_build_id),
		IN_FOLDER(debug_file_of_another_build),
		IN_FOLDER(debug_file_with_a_wrong_checksum),
		IN_FOLDER(split_files),
		IN_FOLDER(split_files_of_dwarf_4),
		IN_FOLDER(split_files_moved_with_the_program),
		IN_FOLDER(split_files_missing),
		IN_FOLDER(split_package),
		IN_FOLDER(split_package_of_dwarf_4),
		IN_FOLDER(dwz_in_itself),
		IN_FOLDER(dwz_with_a_common_file),
	};

	return cmocka_run_group_tests(tests, make_built, remove_built);
}
