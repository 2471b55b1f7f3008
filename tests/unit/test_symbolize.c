/*
 * The symbolizer from outside: what it says of objects that are there, gone, changed, the kernel's,
 * the program's own; and what its cache keeps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "../unit.h"
#include "base/alloc.h"
#include "base/cache_directory.h"
#include "obj/kallsyms.h"
#include "obj/kernel_file.h"
#include "obj/objfile.h"
#include "obj/symtab.h"
#include "obj/table_memory.h"
#include "obj/vdso.h"
#include "symbolize/build_source.h"
#include "symbolize/symbolize.h"

#define C_SOURCES "$SRC/inlines.c $SRC/inlines_other.c"

/* One question and its answer. */
struct answer {
	struct arena *arena;
	struct symbol_place *places;
	struct symbolize_status status;
};

static struct answer ask(const struct symbolize_options *options, struct symbolize_object object,
	const uint64_t *addrs, size_t count)
{
	struct symbolizer *s = symbolizer_create(options);
	struct answer a = {.arena = arena_create()};

	a.places = ARENA_ARRAY(a.arena, struct symbol_place, count);
	symbolize_addresses(s, &object, addrs, count, a.arena, a.places, &a.status);
	symbolizer_destroy(s);
	return a;
}

static void check_function(const struct symbol_place *place, uint32_t i, const char *expected)
{
	assert_true(i < place->count);
	assert_true(str_equal(place->frames[i].function, str_from(expected)));
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

static uint64_t function_address(const char *path, const char *name)
{
	struct objfile *object;
	uint64_t addr = 0;

	assert_null(objfile_open(path, &object));
	struct symtab *table = symtab_create(object, NULL);
	for (size_t i = 0; i < symtab_count(table); i++) {
		struct symbol symbol = symtab_at(table, i);
		if (str_equal(symbol.name, str_from(name)) && !symbol.is_plt)
			addr = symbol.low;
	}
	symtab_destroy(table);
	objfile_close(object);
	assert_true(addr != 0);
	return addr;
}

/* Builds a program; skips the test if it cannot be. The path is the caller's. */
static char *build(const char *folder, const char *options)
{
	if (!scratch_run(folder, "cc -O2 %s -o program " C_SOURCES, options))
		skip();
	return xasprintf("%s/program", folder);
}

/* Runs commands in the folder; if they fail, path is freed and the test skipped. */
static void run_or_skip(const char *folder, char *path, const char *commands)
{
	if (scratch_run(folder, "%s", commands))
		return;
	free(path);
	skip();
}

static void names_lines_and_inlined_calls(void **state)
{
	char *path = build(*state, "-g");
	uint64_t work = function_address(path, "work");
	const struct symbolize_object object = {.path = str_from(path)};
	const struct symbolize_options all = {.cache_directory = ""};
	const struct symbolize_options outermost = {.cache_directory = "", .no_inline = true};
	uint64_t addrs[40];
	bool any_inline = false;

	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++)
		addrs[i] = work + i;
	struct answer a = ask(&all, object, addrs, ARRAY_SIZE(addrs));
	struct answer b = ask(&outermost, object, addrs, ARRAY_SIZE(addrs));
	assert_true(a.status.found_file && a.status.has_names && a.status.has_lines);
	assert_null(a.status.problem);
	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++) {
		check_function(&a.places[i], a.places[i].count - 1, "work");
		assert_int_equal(b.places[i].count, 1);
		check_function(&b.places[i], 0, "work");
		any_inline |= a.places[i].count > 1;
	}
	assert_true(any_inline);
	assert_true(str_ends_with(a.places[0].frames[0].file, STR("/tests/programs/inlines.c")));
	assert_true(a.places[0].frames[0].line > 0);
	arena_destroy(a.arena);
	arena_destroy(b.arena);
	free(path);
}

/* A file takes as much packed; what does not fit is left without even a stand-in. */
static void large_tables_are_left(void **state)
{
	char *path = build(*state, "-g -gz=none");
	char *packed = xasprintf("%s/packed", (char *)*state);
	const struct symbolize_object objects[] = {
		{.path = str_from(path)}, {.path = str_from(packed)}};
	struct objfile *file;

	run_or_skip(*state, path, "objcopy --compress-debug-sections=zlib program packed");
	assert_null(objfile_open(path, &file));
	uint64_t needed = table_memory(file), work = function_address(path, "work");

	objfile_close(file);
	assert_null(objfile_open(packed, &file));
	assert_int_equal(table_memory(file), needed);
	objfile_close(file);
	assert_true(needed > 1000);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		const struct symbolize_options fits = {.cache_directory = "", .memory_max = needed};
		const struct symbolize_options not = {
			.cache_directory = "", .memory_max = needed - 1};
		struct answer a = ask(&fits, objects[i], &work, 1);
		struct answer b = ask(&not, objects[i], &work, 1);

		assert_false(a.status.is_too_large);
		check_function(&a.places[0], a.places[0].count - 1, "work");
		assert_true(b.status.is_too_large && b.status.problem);
		assert_int_equal(b.places[0].count, 0);
		arena_destroy(a.arena);
		arena_destroy(b.arena);
	}
	free(packed);
	free(path);
}

/* The same function inlined by two files has one identity. */
static void a_header_has_one_path(void **state)
{
	if (!scratch_run(*state,
		    "mkdir -p a/b && cp $SRC/inlines* a && cp $SRC/inlines* a/b && cd a/b "
		    "&& cc -O2 -g -I.. -c ../inlines.c && cd .. && cc -O2 -g -c "
		    "$PWD/inlines_other.c && cc -o ../program b/inlines.o "
		    "inlines_other.o"))
		skip();
	char *path = xasprintf("%s/program", (char *)*state);
	const struct symbolize_object object = {.path = str_from(path)};
	const struct symbolize_options options = {.cache_directory = ""};
	uint64_t starts[2] = {function_address(path, "work"), function_address(path, "other_twin")};
	struct str seen = STR("");

	for (int i = 0; i < 2; i++) {
		for (uint64_t addr = starts[i] - 64; addr < starts[i] + 64; addr++) {
			struct answer a = ask(&options, object, &addr, 1);
			for (uint32_t k = 0; k < a.places[0].count; k++) {
				const struct symbol_frame *f = &a.places[0].frames[k];
				if (!str_equal(f->function, STR("step")))
					continue;
				if (seen.size == 0)
					seen = str_from(xstrndup(
						f->function_file.data, f->function_file.size));
				assert_true(str_equal(seen, f->function_file));
				assert_int_equal(f->function_line, 2);
			}
			arena_destroy(a.arena);
		}
	}
	assert_true(str_ends_with(seen, STR("/a/inlines.h")));
	free((char *)(uintptr_t)seen.data);
	free(path);
}

static void without_debug_information_there_are_names(void **state)
{
	char *path = build(*state, "-g0");
	uint64_t addr = function_address(path, "recurse") + 1;
	const struct symbolize_options options = {.cache_directory = ""};
	struct answer a =
		ask(&options, (struct symbolize_object){.path = str_from(path)}, &addr, 1);

	assert_true(a.status.has_names && !a.status.has_lines);
	check_function(&a.places[0], 0, "recurse");
	assert_int_equal(a.places[0].frames[0].line, 0);
	arena_destroy(a.arena);
	free(path);
}

static void functions_of_a_stripped_program_are_told_by_their_start(void **state)
{
	char *path = build(*state, "-g0");
	uint64_t start = function_address(path, "recurse");
	/* No section is that far out. */
	const uint64_t addrs[] = {start, start + 1, (uint64_t)1 << 40};
	const struct symbolize_options options = {.cache_directory = ""};

	run_or_skip(*state, path, "strip program");
	char *name = xasprintf("[program+0x%llx]", (unsigned long long)start);
	struct answer a =
		ask(&options, (struct symbolize_object){.path = str_from(path)}, addrs, 3);
	assert_true(a.status.found_file && !a.status.has_names && !a.status.has_lines);
	for (size_t i = 0; i < 2; i++) {
		check_function(&a.places[i], 0, name);
		assert_true(a.places[i].count == 1 && a.places[i].frames[0].is_nameless);
		assert_int_equal(a.places[i].frames[0].function_file.size, 0);
	}
	assert_int_equal(a.places[2].count, 0);
	arena_destroy(a.arena);
	free(name);
	free(path);
}

/*
 * Linkers leave the debug information of code that they dropped at address 0, where a library or a
 * position-independent program has its headers, in the segment of its code.
 */
static void dropped_code_names_nothing(void **state)
{
	static const char source[] =
		"cat >dropped.c <<'END'\n"
		"void dropped(void) { __asm__(\".fill 0x9000, 1, 0x90\"); }\n"
		"__attribute__((noinline)) void kept(int *n) { for (; *n; --*n) __asm__(\"\"); }\n"
		"int main(int argc, char **argv) { (void)argv; kept(&argc); return 0; }\n"
		"END\n";
	static const char *const linkers[] = {
		"-pie -fPIE -gdwarf-5 -Wl,-z,noseparate-code",
		"-shared -fPIC -gdwarf-4 -Wl,-z,noseparate-code -fvisibility=hidden -Wl,-u,main",
		"-pie -fPIE -gdwarf-4 -fuse-ld=gold",
	};
	const struct symbolize_options options = {.cache_directory = ""};
	size_t tried = 0;

	assert_true(scratch_run(*state, "%s", source));
	for (size_t i = 0; i < ARRAY_SIZE(linkers); i++) {
		if (!scratch_run(*state,
			    "cc -O1 -g -ffunction-sections -Wl,--gc-sections %s -o dropped "
			    "dropped.c -Wl,--undefined=kept",
			    linkers[i]))
			continue;
		char *path = xasprintf("%s/dropped", (char *)*state);
		uint64_t addr = function_address(path, "kept") + 1;
		struct answer a =
			ask(&options, (struct symbolize_object){.path = str_from(path)}, &addr, 1);
		check_function(&a.places[0], 0, "kept");
		assert_int_equal(a.places[0].frames[0].line, 2);
		arena_destroy(a.arena);
		free(path);
		tried++;
	}
	if (tried == 0)
		skip();
}

/* What follows a symbol's end is named by its own start, not by the symbol's. */
static void code_behind_a_symbol_has_its_own_start(void **state)
{
	static const char source[] =
		"cat >behind.s <<'END'\n"
		".globl main\nmain:\n call .Llocal\n xor %eax, %eax\n ret\n.size main, .-main\n"
		".p2align 4\n.Llocal:\n push %rbp\n pop %rbp\n ret\n"
		".section .note.GNU-stack\nEND\n";
	const struct symbolize_options options = {.cache_directory = ""};

	if (!scratch_run(*state, "%scc -o behind behind.s", source))
		skip();
	char *path = xasprintf("%s/behind", (char *)*state);
	uint64_t main_addr = function_address(path, "main");
	uint64_t local = (main_addr + 8 + 15) / 16 * 16;
	const uint64_t addrs[] = {main_addr + 1, local + 1};
	struct answer a =
		ask(&options, (struct symbolize_object){.path = str_from(path)}, addrs, 2);
	char *name = xasprintf("[behind+0x%llx]", (unsigned long long)local);

	check_function(&a.places[0], 0, "main");
	check_function(&a.places[1], 0, name);
	arena_destroy(a.arena);
	free(name);
	free(path);
}

/* The head of the PLT, which no symbol names; behind it names are what they were. */
static void the_plt_is_one_function(void **state)
{
	const struct symbolize_options options = {.cache_directory = ""};
	char *path = build(*state, "-g0 -Wl,-z,lazy");
	struct objfile *file;
	struct objfile_section plt;

	run_or_skip(*state, path, "strip program");
	assert_null(objfile_open(path, &file));
	assert_true(objfile_section(file, ".plt", &plt));
	const uint64_t addrs[] = {plt.obj_addr, plt.obj_addr + 8};
	struct answer a =
		ask(&options, (struct symbolize_object){.path = str_from(path)}, addrs, 2);
	check_function(&a.places[0], 0, "[program+plt]");
	check_function(&a.places[1], 0, "[program+plt]");
	arena_destroy(a.arena);
	objfile_close(file);
	free(path);
}

static void mini_debug_information_has_names(void **state)
{
	char *path = build(*state, "-g0");
	uint64_t addr = function_address(path, "recurse") + 1;
	const struct symbolize_options options = {.cache_directory = ""};

	run_or_skip(*state, path,
		"objcopy --only-keep-debug program mini && xz mini && strip program &&"
		"objcopy --add-section .gnu_debugdata=mini.xz program");
	struct answer a =
		ask(&options, (struct symbolize_object){.path = str_from(path)}, &addr, 1);
	check_function(&a.places[0], 0, "recurse");
	arena_destroy(a.arena);
	free(path);
}

TEST(a_missing_object_is_told)
{
	const struct symbolize_options options = {.cache_directory = ""};
	const uint64_t addrs[] = {0x1000, 0x2000};
	struct answer a = ask(
		&options, (struct symbolize_object){.path = STR("/nonexistent/program")}, addrs, 2);

	assert_false(a.status.found_file || a.status.has_names || a.status.has_lines);
	assert_non_null(strstr(a.status.problem, "/nonexistent/program"));
	assert_int_equal(a.places[0].count, 0);
	assert_int_equal(a.places[1].count, 0);
	arena_destroy(a.arena);
}

static void another_build_is_not_used(void **state)
{
	char *path = build(*state, "-g -Wl,--build-id=0x0123456789abcdef");
	uint64_t addr = function_address(path, "work");
	const struct symbolize_options options = {.cache_directory = ""};
	struct symbolize_object object = {
		.path = str_from(path), .build_id = STR("fedcba9876543210")};

	struct answer a = ask(&options, object, &addr, 1);
	assert_false(a.status.found_file);
	assert_non_null(strstr(a.status.problem, "another build"));
	assert_int_equal(a.places[0].count, 0);
	arena_destroy(a.arena);
	object.build_id = STR("0123456789abcdef");
	a = ask(&options, object, &addr, 1);
	check_function(&a.places[0], a.places[0].count - 1, "work");
	arena_destroy(a.arena);
	free(path);
}

TEST(what_is_no_object_is_told)
{
	const char *const paths[] = {"/", "/dev/null", "/etc/passwd", ""};
	const struct symbolize_options options = {.cache_directory = ""};
	uint64_t addr = 0x1000;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct answer a = ask(
			&options, (struct symbolize_object){.path = str_from(paths[i])}, &addr, 1);
		assert_false(a.status.found_file);
		assert_non_null(a.status.problem);
		arena_destroy(a.arena);
	}
}

/* As if the answer had been kept from an earlier run: the object itself is not needed. */
static void the_cache_answers_for_an_object_that_is_gone(void **state)
{
	char *path = build(*state, "-g -Wl,--build-id=0x0123456789abcdef");
	char *cache = xasprintf("%s/cache", (char *)*state);
	char *file = xasprintf("%s/0123456789abcdef.sym", cache);
	uint64_t addr = function_address(path, "work");
	const struct symbolize_options options = {.cache_directory = cache, .costly_ns = 1};
	struct symbolize_object object = {
		.path = str_from(path), .build_id = STR("0123456789abcdef")};

	assert_true(scratch_run(*state, "mkdir cache"));
	struct answer a = ask(&options, object, &addr, 1);
	arena_destroy(a.arena);
	assert_int_equal(access(file, R_OK), 0);
	assert_int_equal(unlink(path), 0);
	a = ask(&options, object, &addr, 1);
	assert_true(a.status.found_file && a.status.has_names && a.status.has_lines);
	check_function(&a.places[0], a.places[0].count - 1, "work");
	arena_destroy(a.arena);
	assert_int_equal(truncate(file, 100), 0);
	a = ask(&options, object, &addr, 1);
	assert_false(a.status.found_file);
	arena_destroy(a.arena);
	free(file);
	free(cache);
	free(path);
}

/* Two runs ask for different addresses; the third has the answers of both. */
static void the_cache_keeps_what_was_asked_before(void **state)
{
	enum { COUNT = 16 };
	char *path = build(*state, "-g -Wl,--build-id=0x0123456789abcdef");
	const struct symbolize_options options = {.cache_directory = *state, .costly_ns = 1};
	const struct symbolize_object object = {
		.path = str_from(path), .build_id = STR("0123456789abcdef")};
	uint64_t work = function_address(path, "work"), addrs[2 * COUNT];
	size_t known = 0;

	for (uint64_t run = 0; run < 2; run++) {
		for (size_t i = 0; i < COUNT; i++)
			addrs[i] = work + 2 * i + run;
		struct answer a = ask(&options, object, addrs, COUNT);
		arena_destroy(a.arena);
	}
	assert_int_equal(unlink(path), 0);
	for (size_t i = 0; i < 2 * COUNT; i++)
		addrs[i] = work + i;
	struct answer a = ask(&options, object, addrs, 2 * COUNT);
	assert_true(a.status.found_file);
	for (size_t i = 0; i < 2 * COUNT; i++)
		known += a.places[i].count != 0;
	assert_int_equal(known, 2 * COUNT);
	assert_null(a.status.problem);
	arena_destroy(a.arena);
	free(path);
}

/* What has no name is asked again: a debug file may have come. */
static void the_cache_keeps_no_starts(void **state)
{
	enum { COUNT = 16 };
	char *path = build(*state, "-g -Wl,--build-id=0x0123456789abcdef");
	const struct symbolize_options options = {
		.cache_directory = *state, .debug_directory = *state, .costly_ns = 1};
	const struct symbolize_object object = {
		.path = str_from(path), .build_id = STR("0123456789abcdef")};
	uint64_t work = function_address(path, "work");

	run_or_skip(*state, path, "objcopy --only-keep-debug program debug && strip program");
	uint64_t addrs[COUNT];
	for (size_t i = 0; i < COUNT; i++)
		addrs[i] = work + i;
	struct answer a = ask(&options, object, addrs, COUNT);
	assert_true(a.places[0].count == 1 && a.places[0].frames[0].is_nameless);
	arena_destroy(a.arena);
	assert_true(scratch_run(
		*state, "mkdir -p .build-id/01 && mv debug .build-id/01/23456789abcdef.debug"));
	a = ask(&options, object, addrs, COUNT);
	check_function(&a.places[0], a.places[0].count - 1, "work");
	assert_true(a.status.has_names && !a.places[0].frames[0].is_nameless);
	arena_destroy(a.arena);
	free(path);
}

/* Libraries define functions under names of their own, and programs call them by others. */
static void functions_have_the_names_that_programs_call(void **state)
{
	char *path = xasprintf("%s/program", (char *)*state);
	const struct symbolize_options options = {.cache_directory = ""};
	const struct symbolize_object object = {.path = str_from(path)};

	run_or_skip(*state, path,
		"echo 'int __lib_work(int x) { return x * 3; }"
		"extern __typeof(__lib_work) work __attribute__((alias(\"__lib_work\")));"
		"extern __typeof(__lib_work) __work __attribute__((alias(\"__lib_work\")));"
		"int __alone(int x) { return x + 1; }"
		"int main(void) { return work(1) + __alone(2); }' >alias.c && "
		"cc -O0 -g -o program alias.c");
	uint64_t addrs[] = {function_address(path, "work"), function_address(path, "__alone")};
	struct answer a = ask(&options, object, addrs, 2);

	assert_true(a.status.has_lines);
	check_function(&a.places[0], 0, "work");
	check_function(&a.places[1], 0, "__alone");
	assert_true(str_equal(a.places[0].frames[0].aliases, STR("__lib_work\0__work\0")) ||
		    str_equal(a.places[0].frames[0].aliases, STR("__work\0__lib_work\0")));
	assert_int_equal(a.places[1].frames[0].aliases.size, 0);
	arena_destroy(a.arena);
	free(path);
}

static void build_ids_are_no_paths(void **state)
{
	char *path = build(*state, "-g");
	char *cache = xasprintf("%s/cache", (char *)*state);
	const struct symbolize_options options = {.cache_directory = cache};
	uint64_t addr = function_address(path, "work");

	struct answer a = ask(&options,
		(struct symbolize_object){
			.path = str_from(path), .build_id = STR("../../../../etc/passwd")},
		&addr, 1);
	assert_false(a.status.found_file);
	assert_int_not_equal(access(cache, F_OK), 0);
	arena_destroy(a.arena);
	free(cache);
	free(path);
}

/*
 * The file in the further folder is of the object's build, or of another one, which gives nothing.
 */
static void a_further_folder_has_files_of_a_build(void **state)
{
	char *path = build(*state, "-g -Wl,--build-id=0x0123456789abcdef");
	char *folder = xasprintf("%s/further", (char *)*state);
	uint64_t addr = function_address(path, "work");
	struct build_source *source;

	run_or_skip(*state, path,
		"mkdir -p further/deep && mv program further/deep/moved && "
		"cp further/deep/moved program && strip program");
	assert_null(build_source_folder(folder, &source));
	const struct symbolize_options options = {.cache_directory = "", .source = source};
	const struct {
		struct str path, build_id;
		bool is_found, has_lines;
	} cases[] = {
		{str_from(path), STR("0123456789abcdef"), true, true},
		{STR("/nowhere/program"), STR("0123456789abcdef"), true, true},
		{STR("/nowhere/program"), STR("0123456789abcdee"), false, false},
		{str_from(path), STR("0123456789abcdee"), false, false},
		{STR("/nowhere/program"), STR(""), false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct answer a = ask(&options,
			(struct symbolize_object){
				.path = cases[i].path, .build_id = cases[i].build_id},
			&addr, 1);
		assert_int_equal(a.status.found_file, cases[i].is_found);
		assert_int_equal(a.status.has_lines, cases[i].has_lines);
		assert_int_equal(a.places[0].count != 0, cases[i].is_found);
		if (cases[i].is_found)
			check_function(&a.places[0], a.places[0].count - 1, "work");
		else
			assert_non_null(a.status.problem);
		arena_destroy(a.arena);
	}
	build_source_destroy(source);
	free(folder);
	free(path);
}

/* A module's sections are where the marks say, in any order. */
static void a_module_is_where_its_marks_say(void **state)
{
	const struct kernel_mark marks[] = {
		{STR(".text"), 0xffffffffc0500000}, {STR(".text.other"), 0xffffffffc0100000}};
	const uint64_t addrs[] = {0xffffffffc0100000, 0xffffffffc0500000, 0xffffffffc0900000};
	struct build_source *source;
	struct objfile *file;

	if (!scratch_run(*state,
		    "printf 'int send(int x) { return x; }\\n"
		    "__attribute__((section(\".text.other\"))) int other(int x) { return x + 1; "
		    "}\\n'"
		    " >code.c && cc -g -O1 -c code.c && ld -r --build-id -o code.ko code.o"))
		skip();
	char *path = xasprintf("%s/code.ko", (char *)*state);
	assert_null(objfile_open(path, &file));
	assert_null(build_source_folder(*state, &source));
	struct symbolize_options options = {.cache_directory = "", .source = source};
	struct symbolize_object object = {.path = STR("[code]"),
		.build_id = objfile_build_id(file),
		.kind = OBJECT_KERNEL,
		.marks = marks,
		.mark_count = ARRAY_SIZE(marks),
		.is_other_kernel = true};
	struct answer a = ask(&options, object, addrs, ARRAY_SIZE(addrs));

	check_function(&a.places[0], 0, "other");
	assert_int_equal(a.places[0].frames[0].line, 2);
	check_function(&a.places[1], 0, "send");
	assert_int_equal(a.places[1].frames[0].line, 1);
	assert_int_equal(a.places[2].count, 0);
	arena_destroy(a.arena);
	/* The running kernel's names are not its names. */
	object.mark_count = 0;
	a = ask(&options, object, addrs, ARRAY_SIZE(addrs));
	assert_int_equal(a.places[0].count, 0);
	assert_non_null(strstr(a.status.problem, "does not have the module's addresses"));
	arena_destroy(a.arena);
	build_source_destroy(source);
	objfile_close(file);
	free(path);
}

/* Build IDs become parts of paths and URLs, so nothing else is looked for. */
static void only_build_ids_are_looked_for(void **state)
{
	struct build_source *source;
	char *problem = NULL;
	static const char *const ids[] = {
		"", "ab", "abc", "../../etc/passwd", "abcdef/0", "ABCDEF01", "abcdef0"};

	assert_true(scratch_run(*state,
		"mkdir -p .build-id/ab .build-id/.. && touch .build-id/ab/cdef01.debug etc"));
	assert_null(build_source_folder(*state, &source));
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_null(build_source_find(source, str_from(ids[i]), BUILD_DEBUG, &problem));
	assert_null(problem);
	char *found = build_source_find(source, STR("abcdef01"), BUILD_DEBUG, &problem);
	assert_non_null(found);
	free(found);
	assert_null(build_source_find(source, STR("abcdef01"), BUILD_CODE, &problem));
	build_source_destroy(source);
}

TEST(the_vdso_is_our_own)
{
	const struct symbolize_options options = {.cache_directory = ""};
	struct objfile *object;
	struct str bytes;

	if (!vdso_bytes(&bytes))
		skip();
	assert_null(objfile_open_memory(bytes.data, bytes.size, "[vdso]", &object));
	struct symtab *table = symtab_create(object, NULL);
	assert_true(symtab_count(table) > 0);
	struct symbol first = symtab_at(table, 0);
	struct answer a =
		ask(&options, (struct symbolize_object){.path = STR("[vdso]")}, &first.low, 1);
	assert_true(str_equal(a.places[0].frames[0].function, first.name));
	arena_destroy(a.arena);
	symtab_destroy(table);
	objfile_close(object);
}

TEST(kernel_functions)
{
	const struct symbolize_options options = {.cache_directory = ""};
	const struct symbolize_object kernel = {.path = STR("[kernel]"), .kind = OBJECT_KERNEL};
	const uint64_t addrs[] = {0x1000, 0xffffffff81000000};
	struct answer a = ask(&options, kernel, addrs, 2);

	/* Either the kernel shows its addresses, or a sentence says that it does not. */
	assert_true(a.status.has_names != (a.status.problem != NULL));
	assert_int_equal(a.places[0].count, 0);
	arena_destroy(a.arena);
}

/* One function at 0x1000, of 16 bytes. */
static bool name_of_fib(const void *names, uint64_t va, struct str *name)
{
	*name = str_from(names);
	return va - 0x1000 < 16;
}

TEST(names_of_generated_code)
{
	const struct symbolize_options options = {.cache_directory = ""};
	struct symbolize_object object = {.path = STR("[anon]"),
		.kind = OBJECT_JIT,
		.pid = 7,
		.generated_name = name_of_fib,
		.names = "fib"};
	const uint64_t addrs[] = {0xfff, 0x1008, 0x1020};
	struct answer a = ask(&options, object, addrs, ARRAY_SIZE(addrs));

	assert_true(a.status.found_file && a.status.has_names);
	assert_null(a.status.problem);
	assert_int_equal(a.places[0].count, 0);
	check_function(&a.places[1], 0, "fib");
	assert_int_equal(a.places[2].count, 0);
	arena_destroy(a.arena);
	a = ask(&options, object, addrs, 1);
	assert_false(a.status.found_file);
	assert_non_null(strstr(a.status.problem, "process 7"));
	arena_destroy(a.arena);
	object.generated_name = NULL;
	a = ask(&options, object, addrs, ARRAY_SIZE(addrs));
	assert_false(a.status.found_file);
	assert_non_null(a.status.problem);
	arena_destroy(a.arena);
}

TEST(unknown_memory_is_unknown)
{
	const struct symbolize_options options = {.cache_directory = ""};
	uint64_t addr = 0x1000;
	struct answer a = ask(&options,
		(struct symbolize_object){.path = STR("[heap]"), .kind = OBJECT_UNKNOWN}, &addr, 1);

	assert_false(a.status.found_file);
	assert_non_null(a.status.problem);
	assert_int_equal(a.places[0].count, 0);
	arena_destroy(a.arena);
}

TEST(no_addresses_are_no_work)
{
	const struct symbolize_options options = {.cache_directory = ""};
	struct answer a = ask(&options, (struct symbolize_object){.path = STR("/bin/sh")}, NULL, 0);

	arena_destroy(a.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
		IN_FOLDER(names_lines_and_inlined_calls),
		IN_FOLDER(large_tables_are_left),
		IN_FOLDER(a_header_has_one_path),
		IN_FOLDER(without_debug_information_there_are_names),
		IN_FOLDER(functions_of_a_stripped_program_are_told_by_their_start),
		IN_FOLDER(dropped_code_names_nothing),
		IN_FOLDER(code_behind_a_symbol_has_its_own_start),
		IN_FOLDER(the_plt_is_one_function),
		IN_FOLDER(mini_debug_information_has_names),
		cmocka_unit_test(a_missing_object_is_told),
		IN_FOLDER(another_build_is_not_used),
		cmocka_unit_test(what_is_no_object_is_told),
		IN_FOLDER(the_cache_answers_for_an_object_that_is_gone),
		IN_FOLDER(the_cache_keeps_what_was_asked_before),
		IN_FOLDER(the_cache_keeps_no_starts),
		IN_FOLDER(functions_have_the_names_that_programs_call),
		IN_FOLDER(build_ids_are_no_paths),
		IN_FOLDER(a_further_folder_has_files_of_a_build),
		IN_FOLDER(a_module_is_where_its_marks_say),
		IN_FOLDER(only_build_ids_are_looked_for),
		cmocka_unit_test(the_vdso_is_our_own),
		cmocka_unit_test(kernel_functions),
		cmocka_unit_test(names_of_generated_code),
		cmocka_unit_test(unknown_memory_is_unknown),
		cmocka_unit_test(no_addresses_are_no_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
