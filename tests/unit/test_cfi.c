/*
 * Call frame information by hand: every instruction, encoding and oddity.
 */

#include <dwarf.h>
#include <string.h>

#include "../cfi_bytes.h"
#include "../unit.h"

/* One function at 0x1000, 0x100 bytes, of that program. */
#define ONE(...)                                                                                   \
	({                                                                                         \
		struct cfi_bytes b_ = {.eh = true};                                                \
		size_t bad_;                                                                       \
		cfi_bytes_cie(&b_, false);                                                         \
		FDE(&b_, 0x1000, 0x100, __VA_ARGS__);                                              \
		struct cfi_table *t_ = cfi_bytes_compile(&b_, &bad_);                              \
		assert_non_null(t_);                                                               \
		assert_int_equal(bad_, 0);                                                         \
		t_;                                                                                \
	})

static void expect(
	struct cfi_table *t, uint64_t obj_addr, enum cfi_kind kind, int cfa_offset, int bp_offset)
{
	const struct cfi_rule *rule = cfi_table_find(t, obj_addr);

	assert_int_equal(rule->kind, kind);
	assert_int_equal(rule->cfa_offset, cfa_offset);
	assert_int_equal(rule->bp_offset, bp_offset);
}

static const struct cfi_slow_rule *slow_at(struct cfi_table *t, uint64_t obj_addr)
{
	const struct cfi_rule *rule = cfi_table_find(t, obj_addr);

	assert_int_equal(rule->kind, CFI_SLOW);
	return cfi_table_slow(t, rule->slow);
}

TEST(test_prologue)
{
	struct cfi_table *t = ONE(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
		DW_CFA_offset | 6, 2, DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6,
		DW_CFA_advance_loc1, 0x40, DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 6);

	expect(t, 0xfff, CFI_NONE, 0, 0);
	expect(t, 0x1000, CFI_SP, 8, 0);
	expect(t, 0x1001, CFI_SP, 16, -16);
	expect(t, 0x1003, CFI_SP, 16, -16);
	expect(t, 0x1004, CFI_BP, 16, -16);
	expect(t, 0x1043, CFI_BP, 16, -16);
	expect(t, 0x1044, CFI_SP, 8, 0);
	expect(t, 0x10ff, CFI_SP, 8, 0);
	expect(t, 0x1100, CFI_NONE, 0, 0);
	expect(t, 0, CFI_NONE, 0, 0);
	expect(t, UINT64_MAX, CFI_NONE, 0, 0);
	cfi_table_destroy(t);
}

TEST(test_locations)
{
	struct cfi_table *t = ONE(DW_CFA_advance_loc1, 2, DW_CFA_def_cfa_offset, 16,
		DW_CFA_advance_loc2, 2, 0, DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc4, 2, 0, 0,
		0, DW_CFA_def_cfa_offset, 32, DW_CFA_set_loc, 0x10, 0x10, 0, 0, 0, 0, 0, 0,
		DW_CFA_def_cfa_offset, 40, 0x1d, 1, 0, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 48,
		DW_CFA_advance_loc2, 0, 1, DW_CFA_def_cfa_offset, 56);

	expect(t, 0x1001, CFI_SP, 8, 0);
	expect(t, 0x1002, CFI_SP, 16, 0);
	expect(t, 0x1004, CFI_SP, 24, 0);
	expect(t, 0x1006, CFI_SP, 32, 0);
	expect(t, 0x1010, CFI_SP, 40, 0);
	expect(t, 0x1011, CFI_SP, 48, 0);
	/* The last one is beyond the function's end. */
	expect(t, 0x10ff, CFI_SP, 48, 0);
	expect(t, 0x1111, CFI_NONE, 0, 0);
	cfi_table_destroy(t);
}

TEST(test_remember)
{
	struct cfi_table *t = ONE(DW_CFA_def_cfa_offset, 64, DW_CFA_remember_state,
		DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 8, DW_CFA_remember_state,
		DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 6, 16, DW_CFA_advance_loc | 1,
		DW_CFA_restore_state, DW_CFA_advance_loc | 1, DW_CFA_restore_state);

	expect(t, 0x1000, CFI_SP, 64, 0);
	expect(t, 0x1001, CFI_SP, 8, 0);
	expect(t, 0x1002, CFI_BP, 16, 0);
	expect(t, 0x1003, CFI_SP, 8, 0);
	expect(t, 0x1004, CFI_SP, 64, 0);
	cfi_table_destroy(t);
}

/* All ways to say that bp is at CFA - 16. */
TEST(test_offsets)
{
	struct cfi_table *t = ONE(DW_CFA_offset_extended, 6, 2, DW_CFA_advance_loc | 1,
		DW_CFA_same_value, 6, DW_CFA_advance_loc | 1, DW_CFA_offset_extended_sf, 6, 2,
		DW_CFA_advance_loc | 1, DW_CFA_restore_extended, 6, DW_CFA_advance_loc | 1,
		DW_CFA_GNU_negative_offset_extended, 6, 0x7e, DW_CFA_advance_loc | 1,
		DW_CFA_def_cfa_sf, 6, 0x7e, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset_sf, 0x7d,
		DW_CFA_GNU_args_size, 16, DW_CFA_GNU_window_save, DW_CFA_offset | 3, 3);

	expect(t, 0x1000, CFI_SP, 8, -16);
	expect(t, 0x1001, CFI_SP, 8, 0);
	expect(t, 0x1002, CFI_SP, 8, -16);
	expect(t, 0x1003, CFI_SP, 8, 0);
	expect(t, 0x1004, CFI_SP, 8, 126 * 8);
	expect(t, 0x1005, CFI_BP, 16, 126 * 8);
	expect(t, 0x1006, CFI_BP, 24, 126 * 8);
	assert_int_equal(cfi_table_find(t, 0x1006)->bx_offset, -24);
	cfi_table_destroy(t);
}

TEST(test_registers_in_full)
{
	struct cfi_table *t = ONE(DW_CFA_register, 16, 2, DW_CFA_advance_loc | 1,
		DW_CFA_restore_extended, 16, DW_CFA_val_offset, 7, 2, DW_CFA_advance_loc | 1,
		DW_CFA_val_offset_sf, 7, 0x7e, DW_CFA_undefined, 6, DW_CFA_offset | 40, 1,
		DW_CFA_advance_loc | 1, DW_CFA_register, 12, 60);
	const struct cfi_slow_rule *r = slow_at(t, 0x1000);

	assert_int_equal(r->how[16], CFI_REGISTER);
	assert_int_equal(r->value[16], 2);
	r = slow_at(t, 0x1001);
	assert_int_equal(r->how[16], CFI_AT_CFA);
	assert_int_equal(r->value[16], -8);
	assert_int_equal(r->how[7], CFI_CFA_PLUS);
	assert_int_equal(r->value[7], -16);
	r = slow_at(t, 0x1002);
	assert_int_equal(r->value[7], 16);
	assert_int_equal(r->how[6], CFI_UNDEFINED);
	r = slow_at(t, 0x1003);
	assert_int_equal(r->how[12], CFI_UNDEFINED);
	cfi_table_destroy(t);
}

TEST(test_outermost)
{
	struct cfi_table *t = ONE(DW_CFA_undefined, 16);

	expect(t, 0x1000, CFI_END, 0, 0);
	cfi_table_destroy(t);
}

TEST(test_expressions)
{
	static const uint8_t plt[] = {DW_CFA_def_cfa_expression, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a,
		0x3b, 0x2a, 0x33, 0x24, 0x22};
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	cfi_bytes_cie(&b, false);
	cfi_bytes_fde(&b, 0x1000, 0x100, plt, sizeof(plt));
	/* breg6 -40, deref: a realigned stack, twice; then one of bp and rax as expressions. */
	FDE(&b, 0x2000, 0x10, DW_CFA_def_cfa_expression, 3, 0x76, 0x58, 0x06);
	FDE(&b, 0x2010, 0x10, DW_CFA_def_cfa_expression, 3, 0x76, 0x58, 0x06);
	FDE(&b, 0x2020, 0x10, DW_CFA_expression, 6, 2, 0x76, 0, DW_CFA_val_expression, 0, 1, 0x31);
	struct cfi_table *t = cfi_bytes_compile(&b, &bad);
	expect(t, 0x1000, CFI_PLT, 0, 0);
	assert_int_equal(cfi_table_find(t, 0x2000)->slow, cfi_table_find(t, 0x2010)->slow);
	const struct cfi_slow_rule *r = slow_at(t, 0x2000);
	assert_true(r->cfa_is_expression);
	struct str e = cfi_table_expression(t, r->cfa_value);
	assert_int_equal(e.size, 3);
	assert_memory_equal(e.data, "\x76\x58\x06", 3);
	r = slow_at(t, 0x2020);
	assert_false(r->cfa_is_expression);
	assert_int_equal(r->how[6], CFI_AT_EXPRESSION);
	assert_int_equal(r->how[0], CFI_EXPRESSION);
	assert_memory_equal(cfi_table_expression(t, r->value[6]).data, "\x76\0", 2);
	assert_int_equal(bad, 0);
	cfi_table_destroy(t);
}

TEST(test_signal)
{
	/* As glibc says it: the CFA is what sp was, registers are in the ucontext at sp. */
	static const uint8_t rules[] = {DW_CFA_def_cfa_expression, 4, 0x77, 0xa0, 0x01, 0x06,
		DW_CFA_expression, 6, 3, 0x77, 0xf8, 0x00, DW_CFA_expression, 16, 3, 0x77, 0xa8,
		0x01};
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	cfi_bytes_cie(&b, true);
	cfi_bytes_fde(&b, 0x1000, 0x10, rules, sizeof(rules));
	FDE(&b, 0x2000, 0x10, DW_CFA_def_cfa, 7, 8);
	struct cfi_table *t = cfi_bytes_compile(&b, &bad);
	expect(t, 0x1000, CFI_SIGNAL, 0, 0);
	/* Another signal frame. */
	assert_true(slow_at(t, 0x2000)->is_signal);
	cfi_table_destroy(t);
}

/* Offsets that need more than 14, 20 and 31 bits. */
TEST(test_large_offsets)
{
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	cfi_bytes_cie(&b, false);
	FDE(&b, 0x1000, 0x10, DW_CFA_def_cfa_offset, 0xc8, 0x9a, 0x0c, DW_CFA_offset | 6, 0xff,
		0x7f);
	FDE(&b, 0x2000, 0x10, DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x04);
	FDE(&b, 0x3000, 0x10, DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80,
		0x08);
	struct cfi_table *t = cfi_bytes_compile(&b, &bad);
	expect(t, 0x1000, CFI_SP, 200008, -16383 * 8);
	expect(t, 0x2000, CFI_SP, 1 << 30, 0);
	/* Bad from there on only. */
	expect(t, 0x3007, CFI_SP, 8, 0);
	expect(t, 0x3008, CFI_NONE, 0, 0);
	assert_int_equal(bad, 1);
	cfi_table_destroy(t);
}

TEST(test_bad_programs)
{
	static const uint8_t programs[][4] = {
		{DW_CFA_restore_state},
		{0x3f},
		{DW_CFA_advance_loc2, 1},
		{DW_CFA_def_cfa, 17, 8},
		{DW_CFA_def_cfa_expression, 0x7f},
		{DW_CFA_set_loc},
	};
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	cfi_bytes_cie(&b, false);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cfi_bytes_begin_fde(&b, 0x1000 + 0x100 * i, 0x100);
		cfi_bytes_program(&b, programs[i], 4);
		/* No padding, which would be operands. */
		uint32_t size = (uint32_t)(b.out.count - b.entry - 4 -
					   (i == 2	    ? 2
						   : i == 5 ? 3
							    : 0));
		b.out.count = b.entry + 4 + size;
		memcpy(b.out.data + b.entry, &size, sizeof(size));
	}
	FDE(&b, 0x9000, 0x10, DW_CFA_nop);
	struct cfi_table *t = cfi_bytes_compile(&b, &bad);
	assert_int_equal(bad, ARRAY_SIZE(programs));
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		expect(t, 0x1000 + 0x100 * i + 0x80, CFI_NONE, 0, 0);
	expect(t, 0x9000, CFI_SP, 8, 0);
	cfi_table_destroy(t);
}

TEST(test_remember_without_end)
{
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	cfi_bytes_cie(&b, false);
	cfi_bytes_begin_fde(&b, 0x1000, 0x10);
	for (int i = 0; i < 1000; i++)
		cfi_bytes_put(&b, DW_CFA_remember_state, 1);
	cfi_bytes_end(&b);
	FDE(&b, 0x2000, 0x10, DW_CFA_nop);
	cfi_table_destroy(cfi_bytes_compile(&b, &bad));
	assert_int_equal(bad, 1);
}

/* ---- entries ---- */

TEST(test_order_and_overlaps)
{
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	cfi_bytes_cie(&b, false);
	FDE(&b, 0x30000, 0x10, DW_CFA_def_cfa_offset, 24);
	FDE(&b, 0x1000, 0x100, DW_CFA_def_cfa_offset, 16);
	/* Begins within the last one. */
	FDE(&b, 0x1080, 0x10, DW_CFA_def_cfa_offset, 32);
	/* The same address twice: the last one counts. */
	FDE(&b, 0x2000, 0x10, DW_CFA_def_cfa_offset, 40);
	FDE(&b, 0x2000, 0x10, DW_CFA_def_cfa_offset, 48);
	/* Of a function that the linker dropped, of no size, and far away. */
	FDE(&b, 0, 0x1000000, DW_CFA_nop);
	FDE(&b, 0x5000, 0, DW_CFA_nop);
	FDE(&b, 0x7000000000000, 0x10, DW_CFA_nop);
	struct cfi_table *t = cfi_bytes_compile(&b, &bad);
	expect(t, 0x107f, CFI_SP, 16, 0);
	expect(t, 0x1080, CFI_SP, 32, 0);
	expect(t, 0x1090, CFI_NONE, 0, 0);
	expect(t, 0x2000, CFI_SP, 48, 0);
	expect(t, 0x30000, CFI_SP, 24, 0);
	expect(t, 0x20000, CFI_NONE, 0, 0);
	expect(t, 0x5000, CFI_NONE, 0, 0);
	expect(t, 0x7000000000000, CFI_NONE, 0, 0);
	assert_int_equal(bad, 1);
	cfi_table_destroy(t);
}

TEST(test_pages)
{
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	cfi_bytes_cie(&b, false);
	/* Over several pages of 64 KiB, its rows in the first and the last. */
	FDE(&b, 0x1fff0, 0x40000, DW_CFA_advance_loc4, 0x10, 0, 0, 0, DW_CFA_def_cfa_offset, 16,
		DW_CFA_advance_loc4, 0xf0, 0xff, 3, 0, DW_CFA_def_cfa_offset, 24);
	struct cfi_table *t = cfi_bytes_compile(&b, &bad);
	expect(t, 0x1ffef, CFI_NONE, 0, 0);
	expect(t, 0x1fff0, CFI_SP, 8, 0);
	expect(t, 0x1ffff, CFI_SP, 8, 0);
	expect(t, 0x20000, CFI_SP, 16, 0);
	expect(t, 0x30000, CFI_SP, 16, 0);
	expect(t, 0x5ffef, CFI_SP, 16, 0);
	expect(t, 0x5ffff, CFI_NONE, 0, 0);
	cfi_table_destroy(t);
}

TEST(test_debug_frame)
{
	struct cfi_bytes b = {.eh = false};
	size_t bad;

	cfi_bytes_cie(&b, false);
	FDE(&b, 0x1000, 0x10, DW_CFA_def_cfa_offset, 16);
	struct cfi_table *t = cfi_bytes_compile(&b, &bad);
	expect(t, 0x1000, CFI_SP, 16, 0);
	cfi_table_destroy(t);
}

/* A section of each kind: .eh_frame wins, .debug_frame fills its gaps. */
TEST(test_both_sections)
{
	struct cfi_bytes eh = {.eh = true}, debug = {.eh = false};

	cfi_bytes_cie(&eh, false);
	FDE(&eh, 0x1000, 0x10, DW_CFA_def_cfa_offset, 16);
	cfi_bytes_cie(&debug, false);
	FDE(&debug, 0x1000, 0x10, DW_CFA_def_cfa_offset, 24);
	FDE(&debug, 0x2000, 0x10, DW_CFA_def_cfa_offset, 24);
	struct cfi_source source = {.sections = {cfi_bytes_section(&eh), cfi_bytes_section(&debug)},
		.section_count = 2,
		.object = {.name = "test"}};
	struct cfi_table *t = cfi_table_open(&source);
	expect(t, 0x1000, CFI_SP, 16, 0);
	expect(t, 0x2000, CFI_SP, 24, 0);
	cfi_table_destroy(t);
	vec_deinit(&eh.out);
	vec_deinit(&debug.out);
}

TEST(test_terminators_and_wide_entries)
{
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	cfi_bytes_cie(&b, false);
	FDE(&b, 0x1000, 0x10, DW_CFA_nop);
	cfi_bytes_put(&b, 0, 4);
	cfi_bytes_put(&b, 0, 4);
	/* An FDE with a 64-bit size, whose CIE pointer stays 32 bits wide in .eh_frame. */
	cfi_bytes_put(&b, UINT32_MAX, 4);
	cfi_bytes_put(&b, 4 + 16 + 1 + 2, 8);
	cfi_bytes_put(&b, b.out.count - b.cie, 4);
	cfi_bytes_put(&b, 0x2000, 8);
	cfi_bytes_put(&b, 0x10, 8);
	cfi_bytes_put(&b, 0, 1);
	cfi_bytes_put(&b, DW_CFA_def_cfa_offset, 1);
	cfi_bytes_put(&b, 16, 1);
	/* Whose size leads out of the section. */
	cfi_bytes_put(&b, 1000, 4);
	cfi_bytes_put(&b, 0, 4);
	struct cfi_table *t = cfi_bytes_compile(&b, &bad);
	expect(t, 0x1000, CFI_SP, 8, 0);
	expect(t, 0x2000, CFI_SP, 16, 0);
	assert_int_equal(bad, 1);
	cfi_table_destroy(t);
}

/* A CIE with all the letters, then FDEs with addresses in each encoding, of 0x12340000 + 0x10. */
static void encoded(
	struct cfi_bytes *b, uint8_t encoding, uint64_t base, unsigned int size, uint64_t low)
{
	static const uint8_t head[] = {
		1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4, 0x1b};
	size_t cie = b->out.count;

	b->entry = cie;
	cfi_bytes_put(b, 0, 4);
	cfi_bytes_put(b, 0, 4);
	cfi_bytes_program(b, head, sizeof(head));
	cfi_bytes_put(b, encoding, 1);
	cfi_bytes_program(b, (const uint8_t[]){DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1}, 5);
	cfi_bytes_end(b);
	b->entry = b->out.count;
	cfi_bytes_put(b, 0, 4);
	cfi_bytes_put(b, b->out.count - cie, 4);
	uint64_t here = (encoding & 0x70) == DW_EH_PE_pcrel ? 0x100000 + b->out.count : base;
	cfi_bytes_put(b, low - here, size);
	cfi_bytes_put(b, 0x10, size);
	cfi_bytes_uleb(b, 4);
	cfi_bytes_put(b, 0xdeadbeef, 4);
	cfi_bytes_end(b);
}

TEST(test_encodings)
{
	struct cfi_bytes b = {.eh = true};

	encoded(&b, DW_EH_PE_absptr, 0, 8, 0x103000);
	encoded(&b, DW_EH_PE_udata4, 0, 4, 0x103100);
	encoded(&b, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 0, 4, 0x103200);
	encoded(&b, DW_EH_PE_pcrel | DW_EH_PE_sdata8, 0, 8, 0x103300);
	encoded(&b, DW_EH_PE_pcrel | DW_EH_PE_sdata2, 0, 2, 0x103400);
	encoded(&b, DW_EH_PE_textrel | DW_EH_PE_udata2, 0x101000, 2, 0x103500);
	encoded(&b, DW_EH_PE_datarel | DW_EH_PE_sdata4, 0x102000, 4, 0x103600);
	/* These make no sense in a file. */
	encoded(&b, DW_EH_PE_funcrel | DW_EH_PE_sdata4, 0, 4, 0x103700);
	encoded(&b, DW_EH_PE_indirect | DW_EH_PE_udata8, 0, 8, 0x103800);
	encoded(&b, DW_EH_PE_aligned, 0, 8, 0x103900);
	encoded(&b, 0x05, 0, 8, 0x103a00);
	struct cfi_source source = {.sections = {cfi_bytes_section(&b)},
		.section_count = 1,
		.object = {.name = "test", .text_addr = 0x101000, .data_addr = 0x102000}};
	struct cfi_table *t = cfi_table_open(&source);
	for (uint64_t low = 0x103000; low < 0x103700; low += 0x100) {
		expect(t, low - 1, CFI_NONE, 0, 0);
		expect(t, low, CFI_SP, 8, 0);
		expect(t, low + 0xf, CFI_SP, 8, 0);
		expect(t, low + 0x10, CFI_NONE, 0, 0);
	}
	for (uint64_t low = 0x103700; low < 0x103b00; low += 0x100)
		expect(t, low, CFI_NONE, 0, 0);
	assert_int_equal(cfi_table_bad_entries(t), 4);
	cfi_table_destroy(t);
	vec_deinit(&b.out);
}

TEST(test_bad_entries)
{
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	/* An FDE whose CIE is not there, and nothing else. */
	cfi_bytes_begin_fde(&b, 0x1000, 0x10);
	cfi_bytes_end(&b);
	struct cfi_table *t = cfi_bytes_compile(&b, &bad);
	assert_int_equal(bad, 1);
	expect(t, 0x1000, CFI_NONE, 0, 0);
	cfi_table_destroy(t);
	/* Nothing at all is fine. */
	t = cfi_bytes_compile(&b, &bad);
	assert_non_null(t);
	assert_int_equal(bad, 0);
	expect(t, 0x1000, CFI_NONE, 0, 0);
	cfi_table_destroy(t);
}

TEST(test_bare_code)
{
	static const struct cfi_bare bare[] = {{0x800, 0x810, false, 16, CFI_GO_NONE},
		{0x1010, 0x1020, true, 0, CFI_GO_NONE}, {0x1105, 0x1200, true, 0, CFI_GO_NONE}};
	struct cfi_bytes b = {.eh = true};

	cfi_bytes_cie(&b, false);
	FDE(&b, 0x1000, 0x100, DW_CFA_nop);
	FDE(&b, 0x1180, 0x10, DW_CFA_nop);
	struct cfi_source source = {.sections = {cfi_bytes_section(&b)},
		.section_count = 1,
		.object = {.name = "test", .bare = bare, .bare_count = ARRAY_SIZE(bare)}};
	struct cfi_table *t = cfi_table_open(&source);
	expect(t, 0x7ff, CFI_NONE, 0, 0);
	expect(t, 0x800, CFI_SP, 16, 0);
	expect(t, 0x810, CFI_NONE, 0, 0);
	/* It has rules after all. */
	expect(t, 0x1010, CFI_SP, 8, 0);
	expect(t, 0x1104, CFI_NONE, 0, 0);
	expect(t, 0x1105, CFI_END, 0, 0);
	expect(t, 0x1180, CFI_SP, 8, 0);
	/* Behind other code it is not the same piece any more. */
	expect(t, 0x1190, CFI_NONE, 0, 0);
	cfi_table_destroy(t);
	vec_deinit(&b.out);
}

/* Go's linker does not say where its functions save bp. */
TEST(test_frames_of_go)
{
	static const struct cfi_go go = {.systemstack = 0x1000};
	struct cfi_bytes b = {.eh = false};

	cfi_bytes_cie(&b, false);
	FDE(&b, 0x1000, 0x10, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 32);
	struct cfi_source source = {.sections = {cfi_bytes_section(&b)},
		.section_count = 1,
		.object = {.name = "test", .go = &go}};
	struct cfi_table *t = cfi_table_open(&source);
	expect(t, 0x1000, CFI_SP, 8, 0);
	expect(t, 0x1004, CFI_SP, 32, -16);
	assert_int_equal(cfi_table_go(t)->systemstack, 0x1000);
	cfi_table_destroy(t);
	source.object.go = NULL;
	t = cfi_table_open(&source);
	expect(t, 0x1004, CFI_SP, 32, 0);
	assert_null(cfi_table_go(t));
	cfi_table_destroy(t);
	vec_deinit(&b.out);
}

/* More rules than a row can number: some rows go without, and are counted. */
TEST(test_too_many_rules)
{
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	cfi_bytes_cie(&b, false);
	cfi_bytes_begin_fde(&b, 0x1000, 100000);
	for (uint32_t i = 0; i < 70000; i++) {
		cfi_bytes_put(&b, DW_CFA_advance_loc | 1, 1);
		cfi_bytes_put(&b, DW_CFA_def_cfa_offset, 1);
		cfi_bytes_uleb(&b, 8 * i + 16);
	}
	cfi_bytes_end(&b);
	struct cfi_table *t = cfi_bytes_compile(&b, &bad);
	expect(t, 0x1000 + 1000, CFI_SP, 8 * 999 + 16, 0);
	expect(t, 0x1000 + 69000, CFI_NONE, 0, 0);
	assert_int_equal(bad, 1);
	cfi_table_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prologue),
		cmocka_unit_test(test_locations),
		cmocka_unit_test(test_remember),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_registers_in_full),
		cmocka_unit_test(test_outermost),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_large_offsets),
		cmocka_unit_test(test_bad_programs),
		cmocka_unit_test(test_remember_without_end),
		cmocka_unit_test(test_order_and_overlaps),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_debug_frame),
		cmocka_unit_test(test_both_sections),
		cmocka_unit_test(test_terminators_and_wide_entries),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_bad_entries),
		cmocka_unit_test(test_bare_code),
		cmocka_unit_test(test_frames_of_go),
		cmocka_unit_test(test_too_many_rules),
	};

	return cmocka_run_group_tests_name("cfi", tests, NULL, NULL);
}
