/*
 * Stacks by hand.  See fake_stack.h.
 */
#include "fake_stack.h"

#include <dwarf.h>
#include <stdlib.h>

#include "cfi_bytes.h"

void fake_stack_rules(struct cfi_bytes *b)
{
	cfi_bytes_cie(b, false);
	FDE(b, FN_SP16, FN_SIZE, DW_CFA_def_cfa_offset, 16);
	FDE(b, FN_BP, FN_SIZE, DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2);
	FDE(b, FN_PLT, FN_SIZE, DW_CFA_def_cfa_expression, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b,
		0x2a, 0x33, 0x24, 0x22);
	FDE(b, FN_END, FN_SIZE, DW_CFA_undefined, 16);
	FDE(b, FN_RBX, FN_SIZE, DW_CFA_def_cfa, 3, 16);
	FDE(b, FN_SAVES_RBX, FN_SIZE, DW_CFA_def_cfa_offset, 24, DW_CFA_offset | 3, 2);
	FDE(b, FN_REALIGNED, FN_SIZE, DW_CFA_def_cfa_expression, 3, 0x76, 0x78, 0x06,
		DW_CFA_expression, 6, 2, 0x76, 0);
	FDE(b, FN_R10, FN_SIZE, DW_CFA_def_cfa, 10, 0);
	FDE(b, FN_BAD_EXPRESSION, FN_SIZE, DW_CFA_def_cfa_expression, 1, DW_OP_plus);
	FDE(b, FN_ENDLESS, FN_SIZE, DW_CFA_def_cfa_expression, 3, DW_OP_skip, 0xfd, 0xff);
	cfi_bytes_cie(b, true);
	FDE(b, FN_SIGNAL, FN_SIZE, DW_CFA_def_cfa_expression, 4, 0x77, 0xa0, 0x01, 0x06,
		DW_CFA_expression, 6, 3, 0x77, 0xf8, 0x00, DW_CFA_expression, 16, 3, 0x77, 0xa8,
		0x01);
}

static struct cfi_table *make_table(void)
{
	struct cfi_bytes b = {.eh = true};
	size_t bad;

	fake_stack_rules(&b);
	return cfi_bytes_compile(&b, &bad);
}

void fake_stack_init(struct fake_stack *s, size_t word_count)
{
	*s = (struct fake_stack){.table = make_table(), .word_count = word_count};
	unwind_space_init(&s->space);
	unwind_space_add(&s->space, (struct unwind_mapping){.low_va = OBJECT_VA,
					    .high_va = OBJECT_VA + OBJECT_SIZE,
					    .slide = OBJECT_VA,
					    .table = s->table,
					    .object = 7});
	s->walker = unwind_walker_create();
	s->words = xcalloc(word_count, sizeof(*s->words));
	s->memory = (struct unwind_memory){
		.bytes = (const uint8_t *)s->words,
		.low_va = STACK_VA,
		.high_va = STACK_VA + word_count * sizeof(*s->words),
	};
}

void fake_stack_deinit(struct fake_stack *s)
{
	unwind_space_deinit(&s->space);
	cfi_table_destroy(s->table);
	unwind_walker_destroy(s->walker);
	free(s->words);
}

uint64_t word_va(size_t index)
{
	return STACK_VA + index * sizeof(uint64_t);
}

uint64_t code_va(uint64_t obj_addr)
{
	return OBJECT_VA + obj_addr;
}

void fake_stack_set(struct fake_stack *s, uint64_t pc, uint64_t sp, uint64_t bp)
{
	s->regs = (struct unwind_regs){
		.known = 1u << UNWIND_REG_PC | 1u << UNWIND_REG_SP | 1u << UNWIND_REG_BP};
	s->regs.value[UNWIND_REG_PC] = pc;
	s->regs.value[UNWIND_REG_SP] = sp;
	s->regs.value[UNWIND_REG_BP] = bp;
}

void fake_stack_walk(struct fake_stack *s, struct unwind_history *history)
{
	unwind_walk(s->walker, &s->space, history, &s->regs, &s->memory, &s->stack);
}
