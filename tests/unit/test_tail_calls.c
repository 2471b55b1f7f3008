/*
 * Missing callers: programs with every form of tail calls, and the jumps that each call of them
 * must have taken.
 */
#include <stdlib.h>
#include <string.h>

#include "../scratch.h"
#include "../unit.h"
#include "arch/arch.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "obj/debug_info.h"
#include "obj/debugfile.h"
#include "obj/objfile.h"
#include "obj/symtab.h"
#include "obj/tail_calls.h"

#define SOURCES " -O2 -D_GNU_SOURCE $SRC/tails.c $SRC/tails_other.c"

struct program {
	struct objfile *object;
	struct debug_info *info;
	struct symtab *symtab;
	struct arena *arena;
	char *path;
};

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

static void program_open(struct program *p, const char *folder, const char *command)
{
	if (!scratch_run(folder, "%s -o program", command))
		skip();
	p->arena = arena_create();
	p->path = xasprintf("%s/program", folder);
	assert_null(objfile_open(p->path, &p->object));
	struct debugfile_places places = {.object_path = str_from(p->path)};
	p->info = debug_info_open(p->object, NULL, &places, STR(""));
	assert_non_null(p->info);
	p->symtab = symtab_create(p->object, NULL);
}

static void program_close(struct program *p)
{
	symtab_destroy(p->symtab);
	debug_info_close(p->info);
	objfile_close(p->object);
	arena_destroy(p->arena);
	free(p->path);
}

static struct symbol function_named(const struct program *p, const char *name)
{
	struct symbol symbol;

	for (size_t i = 0; i < symtab_count(p->symtab); i++) {
		symbol = symtab_at(p->symtab, i);
		if (str_equal(symbol.name, str_from(name)) && !symbol.is_plt)
			return symbol;
	}
	fail_msg("no function %s", name);
	return symbol;
}

/* An address in the last direct call of a function, as frames have it. */
static uint64_t call_in(const struct program *p, const char *name)
{
	const struct arch *arch = arch_of_machine(objfile_machine(p->object));
	struct symbol f = function_named(p, name);
	uint64_t file_off, left, call = 0;

	assert_true(objfile_place(p->object, f.low, &file_off, &left));
	const uint8_t *bytes = objfile_bytes(p->object, file_off, f.high - f.low);
	assert_non_null(bytes);
	for (uint64_t at = 0; at < f.high - f.low;) {
		struct arch_instruction i =
			arch->decode(bytes + at, f.high - f.low - at, f.low + at);
		at += i.size;
		if (i.kind == INSTRUCTION_CALL && i.has_target)
			call = f.low + at - 1;
	}
	assert_true(call != 0);
	return call;
}

/* The functions of a chain, outermost first, each followed by a space. */
static struct str chain_text(struct program *p, const struct tail_chain *chain)
{
	struct strbuf text = {0};

	for (uint32_t i = 0; i < chain->count; i++) {
		struct debug_place place;
		debug_info_find(p->info, &chain->jumps[i], 1, &place);
		assert_true(place.count == 1);
		assert_true(place.frames[0].line > 0);
		strbuf_add(&text, place.frames[0].function);
		strbuf_add_char(&text, ' ');
	}
	struct str copy = arena_str(p->arena, strbuf_str(&text));
	strbuf_deinit(&text);
	return copy;
}

/* The callers between a function and inner(), and what they must be. */
struct expected {
	const char *caller, *chain;
};

static const struct expected all[] = {
	/* No caller is missing. */
	{"from_inner", ""},
	{"from_single", "single "},
	/* Through another file, which has another function of a known name. */
	{"from_second", "second other single "},
	/* Two ways, from the first function on; after one; and up to one. */
	{"from_fork_either", ""},
	{"from_before_fork", "before_fork "},
	{"from_join", "joined "},
	/* A jump by a pointer may lead to inner() as well. */
	{"from_anywhere", ""},
	{"from_astray", ""},
	{"from_outside", "outside "},
	/* However often these two called each other, one of them was the last. */
	{"from_ping", "ping "},
};

static void check_all(struct program *p)
{
	enum { COUNT = ARRAY_SIZE(all) };
	struct tail_pair pairs[COUNT];
	struct tail_chain chains[COUNT];
	bool is_same = true;

	for (size_t i = 0; i < COUNT; i++)
		pairs[i] = (struct tail_pair){
			call_in(p, all[i].caller), function_named(p, "inner").low + 4};
	tail_chains_find(p->object, p->info, p->symtab, pairs, COUNT, p->arena, chains);
	for (size_t i = 0; i < COUNT; i++) {
		struct str chain = chain_text(p, &chains[i]);
		if (str_equal(chain, str_from(all[i].chain)))
			continue;
		print_message("# %s: %.*s\n", all[i].caller, STR_ARG(chain));
		is_same = false;
	}
	assert_true(is_same);
}

static void build_and_check(void **state, const char *compiler)
{
	struct program p;
	char *command = xasprintf("%s%s", compiler, SOURCES);

	program_open(&p, *state, command);
	free(command);
	check_all(&p);
	program_close(&p);
}

static void dwarf_5(void **state)
{
	build_and_check(state, "gcc -gdwarf-5");
}

static void dwarf_4(void **state)
{
	build_and_check(state, "gcc -gdwarf-4");
}

static void fixed_addresses(void **state)
{
	build_and_check(state, "gcc -g -no-pie");
}

static void split(void **state)
{
	build_and_check(state, "gcc -gdwarf-5 -gsplit-dwarf");
}

static void clang_dwarf_5(void **state)
{
	build_and_check(state, "clang -gdwarf-5");
}

/* Nothing is restored without a list of the calls: strict DWARF 4 has none. */
static void unlisted(void **state)
{
	struct program p;
	struct tail_chain chain;

	program_open(&p, *state, "gcc -gdwarf-4 -gstrict-dwarf" SOURCES);
	struct tail_pair pair = {call_in(&p, "from_single"), function_named(&p, "inner").low};
	tail_chains_find(p.object, p.info, p.symtab, &pair, 1, p.arena, &chain);
	assert_int_equal(chain.count, 0);
	program_close(&p);
}

/* Pairs that no stack has: the same function, one that nothing leads to, no code. */
static void not_called(void **state)
{
	struct program p;

	program_open(&p, *state, "gcc -g" SOURCES);
	uint64_t call = call_in(&p, "from_single");
	struct tail_pair pairs[] = {{call, function_named(&p, "single").low},
		{call, function_named(&p, "left").low}, {call, function_named(&p, "main").low},
		{call, 0}, {0, call}, {UINT64_MAX, UINT64_MAX}, {call - 1, call}};
	struct tail_chain chains[ARRAY_SIZE(pairs)];
	tail_chains_find(p.object, p.info, p.symtab, pairs, ARRAY_SIZE(pairs), p.arena, chains);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		assert_int_equal(chains[i].count, 0);
	program_close(&p);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(dwarf_5), CASE(dwarf_4), CASE(fixed_addresses),
		CASE(split), CASE(clang_dwarf_5), CASE(unlisted), CASE(not_called)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
