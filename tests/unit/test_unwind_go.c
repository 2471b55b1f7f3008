/*
 * Walks over the stacks of a Go program made by hand: the runtime's functions that change stacks,
 * reduced to the instructions that do so, a goroutine's stack, and a thread's own.  There are no
 * rules, as in a stripped program: names come from the runtime's table.
 */
#include <elf.h>
#include <string.h>

#include "../elf_image.h"
#include "../unit.h"
#include "base/compiler.h"
#include "obj/cfi.h"
#include "obj/objfile.h"
#include "unwind/crossings.h"
#include "unwind/walk.h"

enum {
	TEXT_ADDR = 0x401000,
	FUNCTION_BYTES = 0x40,
	NAMES_ADDR = 0x500000,
	RELOCATIONS_ADDR = 0x510000,
	INFO_ADDR = 0x520000
};

enum {
	SYSTEMSTACK,
	MCALL,
	MORESTACK,
	ASMCGOCALL,
	CGOCALLBACK,
	MSTART0,
	MSTART1,
	SCHEDULE,
	MSTART,
	WORKER,
	OTHER,
	LEAF,
	CROSSCALL2,
	NANOTIME1,
	GOEXIT,
	FUNCTION_COUNT
};

/* mov %rbp, 0x10(%rsp); lea 0x10(%rsp), %rbp; and back. */
#define ENTER	0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10
#define LEAVE	0x48, 0x8b, 0x6c, 0x24, 0x10, 0x48, 0x83, 0xc4, 0x18, 0xc3
#define CALL(i) 0xe8, (i), 0xff, 0xff, 0xff /* the number of a function, patched */

/* The places that frames return to are after the calls. */
enum { AFTER_ENTER = 14, CALL_BYTES = 5 };

static const struct {
	const char *name;
	uint8_t bytes[FUNCTION_BYTES];
} functions[FUNCTION_COUNT] = {
	[SYSTEMSTACK] = {"runtime.systemstack",
		{0x48, 0x3b, 0x83, 0xc0, 0, 0, 0, 0x48, 0x8b, 0x5a, 0x38, 0x48, 0x89, 0xdc, 0xff,
			0xd7, 0x48, 0x8b, 0x60, 0x38, 0xc3}},
	[MCALL] = {"runtime.mcall", {0x49, 0x8b, 0x66, 0x38, 0x50, 0x41, 0xff, 0xd4, 0x58, 0xcc}},
	[MORESTACK] = {"runtime.morestack", {0x48, 0x8b, 0x63, 0x38, CALL(LEAF), 0xcc}},
	[ASMCGOCALL] = {"runtime.asmcgocall",
		{0x48, 0x8b, 0x66, 0x38, 0x48, 0x83, 0xec, 0x40, 0x48, 0x83, 0xe4, 0xf0, 0xff, 0xd0,
			0x48, 0x89, 0xf4, 0xc3, 0x48, 0x83, 0xec, 0x40, 0x48, 0x83, 0xe4, 0xf0,
			0xff, 0xd0, 0x48, 0x89, 0xf4, 0xc3}},
	[CGOCALLBACK] = {"runtime.cgocallback",
		{ENTER, 0x48, 0x89, 0xfc, 0xff, 0xd0, 0x48, 0x8b, 0x66, 0x38, LEAVE}},
	[MSTART0] = {"runtime.mstart0", {ENTER, CALL(MSTART1), LEAVE}},
	[MSTART1] = {"runtime.mstart1", {ENTER, CALL(SCHEDULE), LEAVE}},
	[SCHEDULE] = {"runtime.schedule", {ENTER, CALL(LEAF), LEAVE}},
	[MSTART] = {"runtime.mstart", {CALL(MSTART0), 0xc3}},
	[WORKER] = {"main.worker", {ENTER, CALL(SYSTEMSTACK), CALL(MCALL), CALL(ASMCGOCALL),
					   CALL(OTHER), CALL(NANOTIME1), LEAVE}},
	[OTHER] = {"main.other", {0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x2c, 0x24, 0x48, 0x8d, 0x2c,
					 0x24, 0x90, 0x90, CALL(SYSTEMSTACK), CALL(MORESTACK), 0x48,
					 0x8b, 0x2c, 0x24, 0x48, 0x83, 0xc4, 0x08, 0xc3}},
	[LEAF] = {"main.leaf", {ENTER, 0x90, 0x90, LEAVE}},
	[CROSSCALL2] = {"crosscall2", {ENTER, CALL(CGOCALLBACK), LEAVE}},
	[NANOTIME1] = {"runtime.nanotime1",
		{ENTER, 0x49, 0x89, 0xe4, 0x48, 0x8b, 0x62, 0x38, 0x48, 0x83, 0xe4, 0xf0, 0xff,
			0xd0, 0x4c, 0x89, 0xe4, LEAVE}},
	[GOEXIT] = {"runtime.goexit", {0x90, CALL(LEAF), 0x90, 0xcc}},
};

/* Where calls return, as offsets in the functions above. */
enum {
	IN_SYSTEMSTACK = 16,
	IN_MCALL = 8,
	IN_MORESTACK = 9,
	IN_ASMCGOCALL = 14,
	IN_ASMCGOCALL_STAYING = 28,
	IN_CGOCALLBACK = 19,
	IN_NANOTIME1 = 27,
	FIRST_CALL = AFTER_ENTER + CALL_BYTES,
	SECOND_CALL = FIRST_CALL + CALL_BYTES,
	THIRD_CALL = SECOND_CALL + CALL_BYTES,
	FOURTH_CALL = THIRD_CALL + CALL_BYTES,
	FIFTH_CALL = FOURTH_CALL + CALL_BYTES,
};

/* ---- the program ---- */

static void put(struct strbuf *b, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		strbuf_add_char(b, (char)(number >> (8 * i)));
}

static uint64_t function_addr(size_t i)
{
	return TEXT_ADDR + i * FUNCTION_BYTES;
}

/* How systemstack loads its g; at the end, as the other offsets are given. */
enum { LOAD_G_AT = 0x20, LOAD_G_BYTES = 16 };
static uint8_t load_g[LOAD_G_BYTES];

/* Direct calls of the text hold the number of the called function. */
static void put_text(struct strbuf *b)
{
	for (size_t i = 0; i < FUNCTION_COUNT; i++) {
		uint8_t bytes[FUNCTION_BYTES];
		memset(bytes, 0xcc, sizeof(bytes));
		size_t size = sizeof(bytes);
		while (size && functions[i].bytes[size - 1] == 0)
			size--;
		memcpy(bytes, functions[i].bytes, size);
		if (i == SYSTEMSTACK)
			memcpy(bytes + LOAD_G_AT, load_g, sizeof(load_g));
		for (size_t at = 0; at + CALL_BYTES <= size; at++) {
			if (bytes[at] != 0xe8 || bytes[at + 4] != 0xff || bytes[at + 2] != 0xff)
				continue;
			int32_t distance = (int32_t)(function_addr(bytes[at + 1]) -
						     (function_addr(i) + at + CALL_BYTES));
			memcpy(bytes + at + 1, &distance, sizeof(distance));
			at += CALL_BYTES - 1;
		}
		strbuf_add(b, (struct str){(const char *)bytes, sizeof(bytes)});
	}
}

/* The table of Go 1.18's layout. */
static void put_names(struct strbuf *b, uint64_t text_addr)
{
	enum { HEADER = 72, WIDTH = 4, ENTRY = 8 };
	uint64_t table = (2 * FUNCTION_COUNT + 1) * WIDTH + WIDTH;
	uint64_t names = table + FUNCTION_COUNT * ENTRY, name = 0;

	put(b, 0xfffffff0, 4);
	put(b, 0, 2);
	put(b, 1, 1);
	put(b, 8, 1);
	put(b, FUNCTION_COUNT, 8);
	put(b, 0, 8);
	put(b, text_addr, 8);
	put(b, HEADER + names, 8);
	for (int i = 0; i < 3; i++)
		put(b, 0, 8);
	put(b, HEADER, 8);
	for (size_t i = 0; i < FUNCTION_COUNT; i++) {
		put(b, i * FUNCTION_BYTES, WIDTH);
		put(b, table + i * ENTRY, WIDTH);
	}
	put(b, FUNCTION_COUNT * FUNCTION_BYTES, WIDTH);
	put(b, 0, WIDTH);
	for (size_t i = 0; i < FUNCTION_COUNT; i++) {
		put(b, i * FUNCTION_BYTES, WIDTH);
		put(b, name, WIDTH);
		name += strlen(functions[i].name) + 1;
	}
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		strbuf_add(b, (struct str){functions[i].name, strlen(functions[i].name) + 1});
}

/* ---- the stacks ---- */

#define MEMORY_VA ((uint64_t)0x700000000000)

/* Words of memory: the goroutine's stack is below the thread's own, so a step may lead inwards. */
enum {
	GOROUTINE = 200,
	GOROUTINE_END = 700,
	OWN = 1000,
	OWN_END = 1500,
	G = 2000,
	G0 = 2100,
	M = 2200,
	WORDS = 3000
};

struct program {
	struct strbuf text, names, relocations, elf;
	struct objfile *file;
	struct cfi_table *table;
	struct unwind_space space;
	struct unwind_walker *walker;
	struct unwind_memory memory;
	struct unwind_regs regs;
	struct unwind_stack stack;
	uint64_t words[WORDS];
};

static uint64_t at(size_t word)
{
	return MEMORY_VA + word * sizeof(uint64_t);
}

static uint64_t after(size_t function, size_t offset)
{
	return function_addr(function) + offset;
}

static bool read_code(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size)
{
	const struct program *p = memory->context;

	if (va < TEXT_ADDR || va + size > function_addr(FUNCTION_COUNT))
		return false;
	memcpy(bytes, p->text.data + p->text.size - (function_addr(FUNCTION_COUNT) - va), size);
	return true;
}

/* The goroutine is the thread's, and was left in the worker. */
static void put_structures(struct program *p)
{
	p->words[G] = at(GOROUTINE);
	p->words[G + 1] = at(GOROUTINE_END);
	p->words[G + 6] = p->words[G0 + 6] = at(M);
	p->words[G + 7] = at(GOROUTINE + 300); /* sched.sp */
	p->words[M] = at(G0);
	p->words[M + 0xc0 / 8] = at(G);
}

/* The worker's frame of 4 words, from its return address on, which ends the goroutine's stack. */
static void put_worker(struct program *p, size_t word, size_t call)
{
	p->words[word] = after(WORKER, call);
	p->words[word + 3] = 0;
	p->words[word + 4] = after(GOEXIT, 1);
}

static void add_section(struct elf_image *image, const char *name, uint64_t flags,
	uint64_t obj_addr, const struct strbuf *bytes)
{
	bool is_rela = strcmp(name, ".rela.dyn") == 0;

	elf_image_add(image, (struct elf_image_section){.name = name,
				     .type = is_rela ? SHT_RELA : SHT_PROGBITS,
				     .flags = SHF_ALLOC | flags,
				     .obj_addr = obj_addr,
				     .bytes = strbuf_str(bytes)});
}

/* As Go's linker makes it. */
static void put_plain(struct program *p, struct elf_image *image)
{
	put_text(&p->text);
	put_names(&p->names, TEXT_ADDR);
	add_section(image, ".text", SHF_EXECINSTR, TEXT_ADDR, &p->text);
	add_section(image, ".gopclntab", 0, NAMES_ADDR, &p->names);
}

/*
 * As C's linker makes a position-independent one: C's code begins the text, and the table is in
 * other data, without the address that the loader adds.  Something before it begins alike.
 */
static void put_by_c(struct program *p, struct elf_image *image)
{
	enum { C_BYTES = 0x80, DATA_BYTES = 0x50, TEXT_FIELD = 24 };

	for (size_t i = 0; i < C_BYTES; i++)
		strbuf_add_char(&p->text, (char)0xcc);
	put_text(&p->text);
	put(&p->names, 0xfffffff0, 4);
	put(&p->names, UINT64_C(0x08010000), 4);
	while (p->names.size < DATA_BYTES)
		put(&p->names, UINT64_MAX, 8);
	put_names(&p->names, 0);
	put(&p->relocations, NAMES_ADDR, 8);
	put(&p->relocations, R_X86_64_RELATIVE, 8);
	put(&p->relocations, 0x1234, 8);
	put(&p->relocations, NAMES_ADDR + DATA_BYTES + TEXT_FIELD, 8);
	put(&p->relocations, R_X86_64_RELATIVE, 8);
	put(&p->relocations, TEXT_ADDR, 8);
	add_section(image, ".text", SHF_EXECINSTR, TEXT_ADDR - C_BYTES, &p->text);
	add_section(image, ".data.rel.ro", SHF_WRITE, NAMES_ADDR, &p->names);
	add_section(image, ".rela.dyn", 0, RELOCATIONS_ADDR, &p->relocations);
	add_section(image, ".go.buildinfo", SHF_WRITE, INFO_ADDR, &p->relocations);
}

typedef void put_program(struct program *p, struct elf_image *image);

static void program_init_as(struct program *p, put_program *put_sections)
{
	struct elf_image image = {0};

	memset(p, 0, sizeof(*p));
	put_sections(p, &image);
	elf_image_write(&image, &p->elf);
	elf_image_deinit(&image);
	assert_null(objfile_open_memory(p->elf.data, p->elf.size, "go", &p->file));
	p->table = objfile_open_cfi(p->file);
	assert_non_null(p->table);
	unwind_space_init(&p->space);
	unwind_space_add(&p->space, (struct unwind_mapping){.low_va = TEXT_ADDR,
					    .high_va = function_addr(FUNCTION_COUNT),
					    .table = p->table,
					    .object = 7});
	p->walker = unwind_walker_create();
	p->memory = (struct unwind_memory){.bytes = (const uint8_t *)p->words,
		.low_va = MEMORY_VA,
		.high_va = MEMORY_VA + sizeof(p->words),
		.read_code = read_code,
		.context = p};
	put_structures(p);
}

static void program_init(struct program *p)
{
	program_init_as(p, put_plain);
}

static void program_deinit(struct program *p)
{
	unwind_walker_destroy(p->walker);
	unwind_space_deinit(&p->space);
	cfi_table_destroy(p->table);
	objfile_close(p->file);
	strbuf_deinit(&p->text);
	strbuf_deinit(&p->names);
	strbuf_deinit(&p->relocations);
	strbuf_deinit(&p->elf);
}

/*
 * A leaf on the thread's own stack, whose frame has saved bp, and the place that it returns to; g:
 * the register that holds it, 0 if unknown.  The caller's frame is at OWN + 4.
 */
static void put_leaf(struct program *p, uint64_t bp, uint64_t return_va, uint64_t g)
{
	enum { REG_G = 14 };

	p->words[OWN + 2] = bp;
	p->words[OWN + 3] = return_va;
	p->regs = (struct unwind_regs){.known = 1u << UNWIND_REG_PC | 1u << UNWIND_REG_SP |
						1u << UNWIND_REG_BP | (g ? 1u << REG_G : 0)};
	p->regs.value[UNWIND_REG_PC] = after(LEAF, AFTER_ENTER + 1);
	p->regs.value[UNWIND_REG_SP] = at(OWN);
	p->regs.value[UNWIND_REG_BP] = at(OWN + 2);
	p->regs.value[REG_G] = g;
}

static void walk(struct program *p)
{
	unwind_walk(p->walker, &p->space, NULL, &p->regs, &p->memory, &p->stack);
}

/* The walk is whole, and these are its functions, the leaf's first. */
static void expect(struct program *p, size_t count, const size_t *wanted)
{
	walk(p);
	assert_int_equal(p->stack.end, UNWIND_ROOT);
	assert_int_equal(p->stack.guessed, 0);
	assert_int_equal(p->stack.count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(
			functions[(p->stack.frames[i].va - TEXT_ADDR) / FUNCTION_BYTES].name,
			functions[wanted[i]].name);
}

#define EXPECT(p, ...)                                                                             \
	expect((p), sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t),                        \
		(const size_t[]){__VA_ARGS__})

static void expect_truncated(struct program *p, size_t count)
{
	walk(p);
	assert_int_equal(p->stack.end, UNWIND_NO_RULE);
	assert_true(p->stack.misses_stack);
	assert_int_equal(p->stack.count, count);
}

/* ---- tests ---- */

TEST(test_systemstack_by_bp)
{
	struct program p;

	program_init(&p);
	put_worker(&p, GOROUTINE + 300, FIRST_CALL);
	put_leaf(&p, at(GOROUTINE + 303), after(SYSTEMSTACK, IN_SYSTEMSTACK), 0);
	EXPECT(&p, LEAF, SYSTEMSTACK, WORKER, GOEXIT);
	assert_int_equal(p.stack.frames[2].sp, at(GOROUTINE + 301));
	/* Not if what is below bp returned from another call, or its frame ends elsewhere. */
	p.words[GOROUTINE + 300] = after(WORKER, FOURTH_CALL);
	expect_truncated(&p, 2);
	p.words[GOROUTINE + 300] = after(OTHER, FIRST_CALL);
	expect_truncated(&p, 2);
	program_deinit(&p);
}

/* An old return address below bp could be the frame's as well: the structures decide. */
TEST(test_systemstack_by_g)
{
	struct program p;

	program_init(&p);
	put_worker(&p, GOROUTINE + 300, FIRST_CALL);
	p.words[GOROUTINE + 302] = after(OTHER, FIRST_CALL);
	put_leaf(&p, at(GOROUTINE + 303), after(SYSTEMSTACK, IN_SYSTEMSTACK), 0);
	expect_truncated(&p, 2);
	put_leaf(&p, at(GOROUTINE + 303), after(SYSTEMSTACK, IN_SYSTEMSTACK), at(G0));
	EXPECT(&p, LEAF, SYSTEMSTACK, WORKER, GOEXIT);
	assert_int_equal(p.stack.frames[2].sp, at(GOROUTINE + 301));
	/* The goroutine is another thread's by now, or returned from its call. */
	p.words[G + 6] = at(M) + 8;
	expect_truncated(&p, 2);
	p.words[G + 6] = at(M);
	p.words[G + 7] = 0;
	expect_truncated(&p, 2);
	program_deinit(&p);
}

TEST(test_mcall)
{
	struct program p;

	program_init(&p);
	put_worker(&p, GOROUTINE + 299, SECOND_CALL);
	p.words[G + 8] = after(WORKER, SECOND_CALL); /* sched.pc */
	put_leaf(&p, 0, after(MCALL, IN_MCALL), 0);
	p.words[OWN + 4] = at(G);
	EXPECT(&p, LEAF, MCALL, WORKER, GOEXIT);
	/* The thread's loop, once the goroutine is left. */
	p.words[M + 0xc0 / 8] = 0;
	p.words[OWN + 5 + 2] = 0;
	p.words[OWN + 5 + 3] = after(MSTART, CALL_BYTES);
	p.words[OWN + 5 + 4] = 0;
	EXPECT(&p, LEAF, MCALL, MSTART0, MSTART);
	/* Neither. */
	p.words[OWN + 5 + 3] = 0x1234;
	expect_truncated(&p, 2);
	program_deinit(&p);
}

/* The scheduler runs for no goroutine, even if one is still noted. */
TEST(test_the_scheduler)
{
	struct program p;

	program_init(&p);
	put_leaf(&p, 0, after(SCHEDULE, FIRST_CALL), 0);
	p.words[OWN + 4 + 2] = 0;
	p.words[OWN + 4 + 3] = after(MCALL, IN_MCALL);
	p.words[OWN + 8] = at(G);
	p.words[OWN + 9 + 3] = after(MSTART, CALL_BYTES);
	p.words[OWN + 9 + 4] = 0;
	p.words[G + 8] = after(WORKER, SECOND_CALL);
	EXPECT(&p, LEAF, SCHEDULE, MCALL, MSTART0, MSTART);
	program_deinit(&p);
}

TEST(test_morestack)
{
	struct program p;

	program_init(&p);
	/* The function that needs more stack has only its return address so far. */
	p.words[GOROUTINE + 299] = after(OTHER, SECOND_CALL);
	put_worker(&p, GOROUTINE + 300, FOURTH_CALL);
	put_leaf(&p, at(GOROUTINE + 303), after(MORESTACK, IN_MORESTACK), 0);
	walk(&p);
	assert_true(p.stack.count >= 3);
	assert_int_equal(p.stack.frames[2].va, after(OTHER, SECOND_CALL) - 1);
	assert_int_equal(p.stack.frames[2].sp, at(GOROUTINE + 300));
	program_deinit(&p);
}

TEST(test_call_of_c)
{
	struct program p;

	program_init(&p);
	put_worker(&p, GOROUTINE + 300, THIRD_CALL);
	put_leaf(&p, 0xbad, after(ASMCGOCALL, IN_ASMCGOCALL), 0);
	p.words[OWN + 4 + 6] = at(G);
	p.words[OWN + 4 + 5] = at(GOROUTINE_END) - at(GOROUTINE + 300);
	EXPECT(&p, LEAF, ASMCGOCALL, WORKER, GOEXIT);
	/* What is there by now is another call's. */
	p.words[GOROUTINE + 300] = after(WORKER, FIRST_CALL);
	expect_truncated(&p, 2);
	/* On the thread's own stack already. */
	put_worker(&p, OWN + 40, THIRD_CALL);
	p.words[OWN + 3] = after(ASMCGOCALL, IN_ASMCGOCALL_STAYING);
	p.words[OWN + 4 + 6] = 0;
	p.words[OWN + 4 + 5] = at(OWN + 40);
	EXPECT(&p, LEAF, ASMCGOCALL, WORKER, GOEXIT);
	assert_int_equal(p.stack.frames[2].sp, at(OWN + 41));
	program_deinit(&p);
}

/* Go calls C, which calls Go. */
TEST(test_call_back)
{
	struct program p;

	program_init(&p);
	put_worker(&p, GOROUTINE + 300, THIRD_CALL);
	/* The inner Go code is on the goroutine's stack, further in. */
	p.words[GOROUTINE + 102] = at(OWN + 102);
	p.words[GOROUTINE + 103] = after(CGOCALLBACK, IN_CGOCALLBACK);
	p.words[OWN + 102] = 0xbad;
	p.words[OWN + 103] = after(CROSSCALL2, FIRST_CALL);
	p.words[OWN + 104 + 2] = 0xbad;
	p.words[OWN + 104 + 3] = after(ASMCGOCALL, IN_ASMCGOCALL);
	p.words[OWN + 108 + 6] = at(G);
	p.words[OWN + 108 + 5] = at(GOROUTINE_END) - at(GOROUTINE + 300);
	put_leaf(&p, 0, 0, 0);
	p.regs.value[UNWIND_REG_SP] = at(GOROUTINE + 100);
	p.regs.value[UNWIND_REG_BP] = at(GOROUTINE + 102);
	EXPECT(&p, LEAF, CGOCALLBACK, CROSSCALL2, ASMCGOCALL, WORKER, GOEXIT);
	/* C has returned, and calls something else. */
	p.words[OWN + 103] = after(WORKER, FIRST_CALL);
	expect_truncated(&p, 2);
	/* Without bp, the stack of C is unknown. */
	p.words[GOROUTINE + 102] = 0x1231;
	expect_truncated(&p, 2);
	program_deinit(&p);
}

/* The vDSO is called on the thread's own stack. */
TEST(test_call_of_the_vdso)
{
	struct program p;

	program_init(&p);
	p.words[GOROUTINE + 100] = at(GOROUTINE + 103);
	p.words[GOROUTINE + 101] = after(WORKER, FIFTH_CALL);
	p.words[GOROUTINE + 105] = after(GOEXIT, 1);
	put_leaf(&p, at(GOROUTINE + 100), after(NANOTIME1, IN_NANOTIME1), 0);
	EXPECT(&p, LEAF, NANOTIME1, WORKER, GOEXIT);
	/* What is there by now is another call's. */
	p.words[GOROUTINE + 101] = after(WORKER, FOURTH_CALL);
	expect_truncated(&p, 2);
	program_deinit(&p);
}

/* The callers in the last stack, for one that was left since. */
TEST(test_the_last_stack)
{
	struct unwind_history *history = unwind_history_create();
	struct program p;

	program_init(&p);
	put_worker(&p, GOROUTINE + 300, FIRST_CALL);
	put_leaf(&p, at(GOROUTINE + 303), after(SYSTEMSTACK, IN_SYSTEMSTACK), 0);
	unwind_walk(p.walker, &p.space, history, &p.regs, &p.memory, &p.stack);
	assert_int_equal(p.stack.end, UNWIND_ROOT);
	assert_int_equal(p.stack.count, 4);
	for (size_t i = 0; i < p.stack.count; i++)
		p.stack.frames[i].node = (uint32_t)(10 + i);
	unwind_history_keep(history, &p.stack);
	p.words[GOROUTINE + 300] = 0;
	unwind_walk(p.walker, &p.space, history, &p.regs, &p.memory, &p.stack);
	assert_true(p.stack.misses_stack);
	assert_int_equal(unwind_history_other_stack(history, &p.stack), 12);
	/* A call from another frame. */
	p.words[OWN + 2] = at(GOROUTINE + 310);
	unwind_walk(p.walker, &p.space, history, &p.regs, &p.memory, &p.stack);
	assert_true(p.stack.misses_stack);
	assert_int_equal(unwind_history_other_stack(history, &p.stack), 0);
	unwind_history_destroy(history);
	program_deinit(&p);
}

/* The callers of the same call in an earlier stack, of any thread of the process. */
TEST(test_crossings)
{
	static struct unwind_crossings crossings;
	struct program p;

	program_init(&p);
	put_worker(&p, GOROUTINE + 300, FIRST_CALL);
	put_leaf(&p, at(GOROUTINE + 303), after(SYSTEMSTACK, IN_SYSTEMSTACK), 0);
	EXPECT(&p, LEAF, SYSTEMSTACK, WORKER, GOEXIT);
	for (size_t i = 0; i < p.stack.count; i++)
		p.stack.frames[i].node = (uint32_t)(10 + i);
	unwind_crossings_keep(&crossings, 5, &p.stack);
	p.words[GOROUTINE + 300] = 0;
	expect_truncated(&p, 2);
	assert_int_equal(unwind_crossings_find(&crossings, 5, &p.stack), 12);
	assert_int_equal(unwind_crossings_find(&crossings, 6, &p.stack), 0);
	/* Another function was called, or from another frame. */
	p.regs.value[UNWIND_REG_PC]--;
	expect_truncated(&p, 2);
	assert_int_equal(unwind_crossings_find(&crossings, 5, &p.stack), 0);
	p.regs.value[UNWIND_REG_PC]++;
	p.words[OWN + 2] = at(GOROUTINE + 310);
	expect_truncated(&p, 2);
	assert_int_equal(unwind_crossings_find(&crossings, 5, &p.stack), 0);
	program_deinit(&p);
}

/* The runtime's table is found wherever a linker puts it. */
TEST(test_linked_by_c)
{
	struct program p;

	program_init_as(&p, put_by_c);
	put_worker(&p, GOROUTINE + 300, FIRST_CALL);
	put_leaf(&p, at(GOROUTINE + 303), after(SYSTEMSTACK, IN_SYSTEMSTACK), 0);
	EXPECT(&p, LEAF, SYSTEMSTACK, WORKER, GOEXIT);
	program_deinit(&p);
}

TEST(test_place_of_g)
{
	static const struct {
		uint8_t bytes[LOAD_G_BYTES];
		int32_t offset;
		uint64_t slot;
	} loads[] = {
		/* mov %fs:-8, %rax */
		{{0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff}, -8, 0},
		/* mov $-0x48, %rcx; mov %fs:(%rcx), %rax */
		{{0x48, 0xc7, 0xc1, 0xb8, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0x01}, -0x48, 0},
		/* mov 0x1000(%rip), %rcx; mov %fs:(%rcx), %rax */
		{{0x48, 0x8b, 0x0d, 0x00, 0x10, 0, 0, 0x64, 0x48, 0x8b, 0x01}, 0,
			TEXT_ADDR + SYSTEMSTACK * FUNCTION_BYTES + LOAD_G_AT + 7 + 0x1000},
		/* Another register is set, or something else done. */
		{{0x48, 0x8b, 0x15, 0x00, 0x10, 0, 0, 0x64, 0x48, 0x8b, 0x01}, 0, 0},
		{{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x64, 0x48, 0x8b, 0x01}, 0, 0},
		{{0x90}, 0, 0},
	};
	struct program p;

	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		memcpy(load_g, loads[i].bytes, sizeof(load_g));
		program_init(&p);
		assert_int_equal(cfi_table_go(p.table)->g_offset, loads[i].offset);
		assert_int_equal(cfi_table_go(p.table)->g_slot, loads[i].slot);
		program_deinit(&p);
	}
}

/* Frames that lead to each other. */
TEST(test_cycle)
{
	struct program p;

	program_init(&p);
	p.words[GOROUTINE + 300] = after(ASMCGOCALL, IN_ASMCGOCALL);
	p.words[GOROUTINE + 301 + 6] = 0;
	p.words[GOROUTINE + 301 + 5] = at(GOROUTINE + 300);
	put_leaf(&p, 0, after(ASMCGOCALL, IN_ASMCGOCALL), 0);
	p.words[OWN + 4 + 6] = 0;
	p.words[OWN + 4 + 5] = at(GOROUTINE + 300);
	walk(&p);
	assert_int_equal(p.stack.end, UNWIND_NO_PROGRESS);
	assert_true(p.stack.count < 10000);
	program_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_systemstack_by_bp),
		cmocka_unit_test(test_systemstack_by_g),
		cmocka_unit_test(test_mcall),
		cmocka_unit_test(test_the_scheduler),
		cmocka_unit_test(test_morestack),
		cmocka_unit_test(test_call_of_c),
		cmocka_unit_test(test_call_back),
		cmocka_unit_test(test_call_of_the_vdso),
		cmocka_unit_test(test_the_last_stack),
		cmocka_unit_test(test_crossings),
		cmocka_unit_test(test_linked_by_c),
		cmocka_unit_test(test_place_of_g),
		cmocka_unit_test(test_cycle),
	};

	return cmocka_run_group_tests_name("unwind_go", tests, NULL, NULL);
}
