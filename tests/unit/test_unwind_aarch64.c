/*
 * An aarch64 stack, walked on any processor: its registers by perf's numbers, its rules by DWARF's.
 */

#include <dwarf.h>
#include <string.h>

#include "../cfi_bytes.h"
#include "../unit.h"
#include "arch/arch.h"
#include "base/compiler.h"
#include "perfstream/regs.h"

#define CODE_VA	 ((uint64_t)0xaaaa00000000)
#define STACK_VA ((uint64_t)0xffff00000000)

/*
 * LEAF:    add x0, x0, x1; ret                      the return address stays in x30
 * SAVES:   stp x29, x30, [sp, #-32]!; str x19, [sp, #16]; mov x29, sp
 * DYNAMIC: the same frame, with sp lowered by an unknown amount: CFA = x29 + 32
 * BIG:     sub sp, sp, #1024; str x30, [sp]         no frame pointer
 * SIGNAL:  nop; mov x8, #139; svc #0                what signal handlers return to
 * START:   the return address is undefined
 */
enum { LEAF = 0x1000, SAVES = 0x2000, DYNAMIC = 0x3000, BIG = 0x4000, SIGNAL = 0x5000 };
enum { START = 0x6000, SIZE = 0x100, OBJECT_SIZE = 0x10000 };

struct stack {
	struct unwind_space space;
	struct cfi_table *table;
	struct unwind_walker *walker;
	uint64_t words[512];
	uint64_t values[33]; /* x0 to x30, sp, pc */
	struct unwind_stack walked;
};

/* The CIE that compilers write: code factor 4, data factor -8, return address in x30, CFA = sp. */
static void put_cie(struct cfi_bytes *b, const char *letters)
{
	static const uint8_t after_call[] = {DW_CFA_def_cfa, 31, 0};

	b->cie = b->entry = b->out.count;
	cfi_bytes_put(b, 0, 4);
	cfi_bytes_put(b, 0, 4);
	cfi_bytes_put(b, 1, 1);
	cfi_bytes_program(b, (const uint8_t *)letters, strlen(letters) + 1);
	cfi_bytes_uleb(b, 4);
	cfi_bytes_put(b, 0x78, 1);
	cfi_bytes_put(b, 30, 1);
	cfi_bytes_uleb(b, 1);
	cfi_bytes_put(b, DW_EH_PE_udata8, 1);
	cfi_bytes_program(b, after_call, sizeof(after_call));
	cfi_bytes_end(b);
}

static struct cfi_table *make_table(void)
{
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	put_cie(&b, "zR");
	FDE(&b, LEAF, SIZE, DW_CFA_nop);
	FDE(&b, SAVES, SIZE, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29,
		4, DW_CFA_offset | 30, 3, DW_CFA_offset | 19, 2);
	FDE(&b, DYNAMIC, SIZE, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 29, 32, DW_CFA_offset | 29,
		4, DW_CFA_offset | 30, 3);
	FDE(&b, BIG, SIZE, DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 0x80, 8,
		DW_CFA_offset | 30, 0x80, 1);
	FDE(&b, START, SIZE, DW_CFA_undefined, 30);
	put_cie(&b, "zRS");
	FDE(&b, SIGNAL, SIZE, DW_CFA_def_cfa, 29, 0, DW_CFA_offset | 29, 0);
	return cfi_bytes_compile_for(&b, &arch_aarch64, &bad);
}

static void init(struct stack *s)
{
	memset(s, 0, sizeof(*s));
	s->table = make_table();
	assert_int_equal(cfi_table_bad_entries(s->table), 0);
	unwind_space_init(&s->space);
	s->space.arch = &arch_aarch64;
	unwind_space_add(&s->space, (struct unwind_mapping){.low_va = CODE_VA,
					    .high_va = CODE_VA + OBJECT_SIZE,
					    .slide = CODE_VA,
					    .table = s->table});
	s->walker = unwind_walker_create();
}

static void deinit(struct stack *s)
{
	unwind_space_deinit(&s->space);
	cfi_table_destroy(s->table);
	unwind_walker_destroy(s->walker);
}

static uint64_t word_va(size_t index)
{
	return STACK_VA + 8 * index;
}

/* Walks from `values`, as perf gives them. */
static void walk(struct stack *s)
{
	struct unwind_memory memory = {.bytes = (const uint8_t *)s->words,
		.low_va = STACK_VA,
		.high_va = STACK_VA + sizeof(s->words)};
	const struct perfstream_words words = {
		.bytes = (const uint8_t *)s->values, .count = ARRAY_SIZE(s->values)};
	struct unwind_regs regs;

	perfstream_regs(&arch_aarch64, (UINT64_C(1) << 33) - 1, false, &words, &regs);
	unwind_walk(s->walker, &s->space, NULL, &regs, &memory, &s->walked);
}

/* The obj_addrs of all frames, leaf first; callers one before the return address. */
static void assert_frames(const struct stack *s, const uint64_t *obj_addrs, size_t count)
{
	assert_int_equal(s->walked.end, UNWIND_ROOT);
	assert_int_equal(s->walked.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(s->walked.frames[i].obj_addr, obj_addrs[i]);
	assert_int_equal(s->walked.guessed, 0);
}

/* LEAF < SAVES < DYNAMIC < BIG < START */
static void put_callers(struct stack *s)
{
	s->values[30] = CODE_VA + SAVES + 0x40;
	s->values[31] = word_va(0);
	s->values[29] = word_va(0);
	s->words[0] = word_va(10);		/* SAVES: x29, CFA = word 4 */
	s->words[1] = CODE_VA + DYNAMIC + 0x40; /* x30 */
	s->words[2] = 19;			/* x19 */
	s->words[10] = 0;			/* DYNAMIC: x29, CFA = word 14 */
	s->words[11] = CODE_VA + BIG + 0x40;	/* x30 */
	s->words[14] = CODE_VA + START + 0x40;	/* BIG: x30 at CFA - 1024 */
}

static const uint64_t callers[] = {
	LEAF + 4, SAVES + 0x3f, DYNAMIC + 0x3f, BIG + 0x3f, START + 0x3f};

TEST(test_leaf)
{
	struct stack s;

	init(&s);
	put_callers(&s);
	s.values[32] = CODE_VA + LEAF + 4;
	walk(&s);
	assert_frames(&s, callers, ARRAY_SIZE(callers));
	deinit(&s);
}

/* At its first instruction, any function is like a leaf. */
TEST(test_entry)
{
	uint64_t frames[ARRAY_SIZE(callers)];
	struct stack s;

	memcpy(frames, callers, sizeof(frames));
	frames[0] = SAVES;
	init(&s);
	put_callers(&s);
	s.values[32] = CODE_VA + SAVES;
	walk(&s);
	assert_frames(&s, frames, ARRAY_SIZE(frames));
	deinit(&s);
}

/* Signed return addresses have other bits above their 48. */
TEST(test_signed)
{
	struct stack s;

	init(&s);
	put_callers(&s);
	s.values[30] |= UINT64_C(0x003b) << 48;
	s.words[1] |= UINT64_C(0x7f51) << 48;
	s.words[14] |= UINT64_C(0x0001) << 48;
	s.values[32] = CODE_VA + LEAF + 4;
	walk(&s);
	assert_frames(&s, callers, ARRAY_SIZE(callers));
	deinit(&s);
}

/* A signal interrupted LEAF; its handler, SAVES, returns to SIGNAL, where the context is at sp. */
TEST(test_signal)
{
	static const uint64_t frames[] = {SAVES + 0x20, SIGNAL + 4, LEAF + 4, SAVES + 0x3f,
		DYNAMIC + 0x3f, BIG + 0x3f, START + 0x3f};
	enum { FRAME = 200, X0 = FRAME + (128 + 184) / 8 };
	struct stack s;

	init(&s);
	put_callers(&s);
	memcpy(&s.words[X0], s.values, sizeof(s.values));
	s.words[X0 + 32] = CODE_VA + LEAF + 4;
	s.words[FRAME - 3] = CODE_VA + SIGNAL + 4;
	s.words[FRAME - 4] = word_va(0);
	s.values[29] = s.values[31] = word_va(FRAME - 4);
	s.values[30] = 0;
	s.values[32] = CODE_VA + SAVES + 0x20;
	walk(&s);
	assert_frames(&s, frames, ARRAY_SIZE(frames));
	deinit(&s);
}

/* Who made a call has lost x30: rules that still name it are wrong, and end the walk. */
TEST(test_caller_without_return_address)
{
	struct stack s;

	init(&s);
	put_callers(&s);
	s.values[30] = CODE_VA + LEAF + 0x40;
	s.values[32] = CODE_VA + LEAF + 4;
	walk(&s);
	assert_int_equal(s.walked.end, UNWIND_NO_RULE);
	assert_int_equal(s.walked.count, 2);
	deinit(&s);
}

TEST(test_calls)
{
	static const struct {
		uint8_t word[4];
		bool is_call;
	} rows[] = {
		{{0x00, 0x00, 0x00, 0x94}, true},  /* bl . */
		{{0xff, 0xff, 0xff, 0x97}, true},  /* bl .-4 */
		{{0x00, 0x02, 0x3f, 0xd6}, true},  /* blr x16 */
		{{0x1f, 0x09, 0x3f, 0xd6}, true},  /* blraaz x8 */
		{{0x11, 0x09, 0x3f, 0xd7}, true},  /* blraa x8, x17 */
		{{0x00, 0x00, 0x00, 0x14}, false}, /* b . */
		{{0x00, 0x02, 0x1f, 0xd6}, false}, /* br x16 */
		{{0xc0, 0x03, 0x5f, 0xd6}, false}, /* ret */
		{{0x1f, 0x20, 0x03, 0xd5}, false}, /* nop */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[8] = {0};
		memcpy(bytes + 4, rows[i].word, 4);
		assert_int_equal(arch_aarch64.is_call(bytes), rows[i].is_call);
	}
}

TEST(test_found)
{
	assert_ptr_equal(arch_of_name(STR("aarch64")), &arch_aarch64);
	assert_ptr_equal(arch_of_name(STR("x86_64")), &arch_x86_64);
	assert_null(arch_of_name(STR("armv7l")));
	assert_ptr_equal(arch_of_machine(183), &arch_aarch64);
	assert_null(arch_of_machine(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leaf),
		cmocka_unit_test(test_entry),
		cmocka_unit_test(test_signed),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_caller_without_return_address),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
