/*
 * Call frame instructions.
 *
 * The state is one struct cfi_slow_rule: where the CFA and each register are.  A row is added each
 * time the location advances.  Expressions are stored as offsets in the section.
 *
 * Sources: DWARF 5 section 6.4.2; LSB Core 5.0, table 10-3 for the GNU ones.
 */
#include "obj/cfi_program.h"

#include <dwarf.h>
#include <string.h>

#include "arch/arch.h"
#include "obj/cfi_read.h"

#ifndef DW_CFA_MIPS_advance_loc8
#define DW_CFA_MIPS_advance_loc8 0x1d
#endif

/* Compilers nest one or two levels. */
enum { REMEMBER_MAX = 64 };

struct run {
	struct cursor c; /* offsets count from the start of the section */
	const struct cfi_cie *cie;
	const struct cfi_section *section;
	const struct cfi_object *object;
	struct cfi_rows *rows; /* NULL in a CIE: the location cannot move there */
	uint64_t obj_addr, high;
	struct cfi_slow_rule now;
	unsigned int remembered;
	struct cfi_slow_rule stack[REMEMBER_MAX];
};

static void init_run(struct run *r, const struct cfi_section *section, const struct cfi_cie *cie,
	const uint8_t *program, size_t size)
{
	cursor_init(&r->c, program, size, "", (uint64_t)(program - section->bytes));
	r->cie = cie;
	r->section = section;
	r->remembered = 0;
}

/* ---- operands ---- */

static int32_t to_int32(struct run *r, int64_t value)
{
	if (value != (int32_t)value)
		cursor_fail(&r->c, "an offset beyond 2 GiB");
	return (int32_t)value;
}

static int32_t offset_factored(struct run *r)
{
	int64_t offset;

	if (__builtin_mul_overflow((int64_t)cfi_read_uleb(&r->c), r->cie->data_factor, &offset))
		offset = INT64_MAX;
	return to_int32(r, offset);
}

static int32_t signed_offset_factored(struct run *r)
{
	int64_t offset;

	if (__builtin_mul_overflow(cursor_sleb(&r->c), r->cie->data_factor, &offset))
		offset = INT64_MAX;
	return to_int32(r, offset);
}

static int32_t offset_plain(struct run *r)
{
	uint64_t offset = cfi_read_uleb(&r->c);

	return to_int32(r, offset > INT64_MAX ? INT64_MAX : (int64_t)offset);
}

/* Records the position of an expression and skips it. */
static int32_t expression(struct run *r)
{
	uint64_t offset = cursor_offset(&r->c);

	if (offset > UINT32_MAX)
		cursor_fail(&r->c, "a section beyond 4 GiB");
	cursor_skip(&r->c, cfi_read_uleb(&r->c));
	return (int32_t)(uint32_t)offset;
}

/* ---- effects ---- */

/* Vector registers and the like have numbers too, but are not needed to unwind. */
static void set(struct run *r, uint64_t number, enum cfi_how how, int32_t value)
{
	unsigned int reg = arch_reg(r->cie->arch, number);

	if (reg >= CFI_REGISTER_COUNT)
		return;
	r->now.how[reg] = (uint8_t)how;
	r->now.value[reg] = value;
}

static void restore(struct run *r, uint64_t number)
{
	unsigned int reg = arch_reg(r->cie->arch, number);

	if (reg < CFI_REGISTER_COUNT)
		set(r, number, r->cie->initial.how[reg], r->cie->initial.value[reg]);
}

static void set_register(struct run *r, uint64_t reg, uint64_t other_number)
{
	unsigned int other = arch_reg(r->cie->arch, other_number);

	if (other < CFI_REGISTER_COUNT)
		set(r, reg, CFI_REGISTER, (int32_t)other);
	else
		set(r, reg, CFI_UNDEFINED, 0);
}

static void set_cfa_register(struct run *r, uint64_t number)
{
	unsigned int reg = arch_reg(r->cie->arch, number);

	if (reg >= CFI_REGISTER_COUNT)
		cursor_fail(&r->c, "a CFA in an unknown register");
	r->now.cfa_register = (uint8_t)reg;
	r->now.cfa_is_expression = false;
}

/* DW_CFA_def_cfa_register and _offset change one half of a register and offset pair. */
static void need_cfa_pair(struct run *r)
{
	if (r->now.cfa_is_expression)
		cursor_fail(&r->c, "half a CFA, where the other half is an expression");
}

static void remember(struct run *r)
{
	if (r->remembered == REMEMBER_MAX)
		cursor_fail(&r->c, "too many remembered states");
	else
		r->stack[r->remembered++] = r->now;
}

static void recall(struct run *r)
{
	if (r->remembered == 0)
		cursor_fail(&r->c, "no remembered state");
	else
		r->now = r->stack[--r->remembered];
}

static void move_to(struct run *r, uint64_t obj_addr)
{
	if (r->rows == NULL || obj_addr < r->obj_addr) {
		cursor_fail(&r->c, "a location that goes back");
		return;
	}
	if (obj_addr == r->obj_addr)
		return;
	cfi_rows_add(r->rows, r->obj_addr, &r->now);
	r->obj_addr = obj_addr;
}

static void advance(struct run *r, uint64_t delta)
{
	uint64_t step, obj_addr;

	if (__builtin_mul_overflow(delta, r->cie->code_factor, &step) ||
		__builtin_add_overflow(r->obj_addr, step, &obj_addr))
		cursor_fail(&r->c, "a location beyond all addresses");
	else
		move_to(r, obj_addr);
}

/* ---- instructions ---- */

static void run_cfa_op(struct run *r, uint8_t op)
{
	switch (op) {
	case DW_CFA_def_cfa:
		set_cfa_register(r, cfi_read_uleb(&r->c));
		r->now.cfa_value = offset_plain(r);
		break;
	case DW_CFA_def_cfa_sf:
		set_cfa_register(r, cfi_read_uleb(&r->c));
		r->now.cfa_value = signed_offset_factored(r);
		break;
	case DW_CFA_def_cfa_register:
		need_cfa_pair(r);
		set_cfa_register(r, cfi_read_uleb(&r->c));
		break;
	case DW_CFA_def_cfa_offset:
		need_cfa_pair(r);
		r->now.cfa_value = offset_plain(r);
		break;
	case DW_CFA_def_cfa_offset_sf:
		need_cfa_pair(r);
		r->now.cfa_value = signed_offset_factored(r);
		break;
	case DW_CFA_def_cfa_expression:
		r->now.cfa_is_expression = true;
		r->now.cfa_value = expression(r);
		break;
	default:
		cursor_fail(&r->c, "an unknown call frame instruction");
	}
}

static void run_register_op(struct run *r, uint8_t op)
{
	uint64_t reg = cfi_read_uleb(&r->c);

	switch (op) {
	case DW_CFA_offset_extended:
		set(r, reg, CFI_AT_CFA, offset_factored(r));
		break;
	case DW_CFA_offset_extended_sf:
		set(r, reg, CFI_AT_CFA, signed_offset_factored(r));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set(r, reg, CFI_AT_CFA, to_int32(r, -(int64_t)offset_factored(r)));
		break;
	case DW_CFA_val_offset:
		set(r, reg, CFI_CFA_PLUS, offset_factored(r));
		break;
	case DW_CFA_val_offset_sf:
		set(r, reg, CFI_CFA_PLUS, signed_offset_factored(r));
		break;
	case DW_CFA_restore_extended:
		restore(r, reg);
		break;
	case DW_CFA_undefined:
		set(r, reg, CFI_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		set(r, reg, CFI_SAME, 0);
		break;
	case DW_CFA_register:
		set_register(r, reg, cfi_read_uleb(&r->c));
		break;
	case DW_CFA_expression:
		set(r, reg, CFI_AT_EXPRESSION, expression(r));
		break;
	case DW_CFA_val_expression:
		set(r, reg, CFI_EXPRESSION, expression(r));
		break;
	default:
		cursor_fail(&r->c, "an unknown call frame instruction");
	}
}

static void run_location_op(struct run *r, uint8_t op)
{
	switch (op) {
	case DW_CFA_set_loc:
		move_to(r, cfi_read_address(&r->c, r->cie->pointer_encoding, r->section->obj_addr,
				   r->object));
		break;
	case DW_CFA_advance_loc1:
		advance(r, cfi_read_u8(&r->c));
		break;
	case DW_CFA_advance_loc2:
		advance(r, cursor_u16(&r->c));
		break;
	case DW_CFA_advance_loc4:
		advance(r, cursor_u32(&r->c));
		break;
	default: /* DW_CFA_MIPS_advance_loc8 */
		advance(r, cursor_u64(&r->c));
	}
}

/* Instructions without a register or location in their low bits. */
static void run_extended(struct run *r, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_GNU_window_save: /* on aarch64: the return address is signed from here on */
		break;
	case DW_CFA_set_loc:
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
	case DW_CFA_MIPS_advance_loc8:
		run_location_op(r, op);
		break;
	case DW_CFA_remember_state:
		remember(r);
		break;
	case DW_CFA_restore_state:
		recall(r);
		break;
	case DW_CFA_GNU_args_size: /* needed for exceptions only */
		(void)cfi_read_uleb(&r->c);
		break;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		run_cfa_op(r, op);
		break;
	default:
		run_register_op(r, op);
	}
}

static void run(struct run *r)
{
	while (r->c.at < r->c.end && r->obj_addr < r->high) {
		uint8_t op = *r->c.at++;
		uint8_t operand = op & 0x3f;
		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			advance(r, operand);
			break;
		case DW_CFA_offset:
			set(r, operand, CFI_AT_CFA, offset_factored(r));
			break;
		case DW_CFA_restore:
			restore(r, operand);
			break;
		default:
			run_extended(r, op);
		}
	}
}

void cfi_program_run_cie(struct cfi_cie *cie, const struct cfi_section *section)
{
	struct run r;

	init_run(&r, section, cie, cie->program, cie->program_size);
	r.rows = NULL;
	r.obj_addr = 0;
	r.high = 1;
	r.object = &(struct cfi_object){0};
	memset(&r.now, 0, sizeof(r.now));
	r.now.is_signal = cie->is_signal;
	run(&r);
	cie->initial = r.now;
	cie->bad = !cursor_ok(&r.c);
	cie->ready = true;
}

bool cfi_program_run_fde(const struct cfi_fde *fde, const struct cfi_cie *cie, uint64_t high,
	const struct cfi_object *object, struct cfi_rows *rows)
{
	struct run r;

	init_run(&r, rows->section, cie, fde->program, fde->program_size);
	r.rows = rows;
	r.obj_addr = fde->low;
	r.high = high;
	r.object = object;
	r.now = cie->initial;
	run(&r);
	if (r.obj_addr < high) {
		if (cursor_ok(&r.c))
			cfi_rows_add(rows, r.obj_addr, &r.now);
		else
			cfi_rows_add_gap(rows, r.obj_addr);
	}
	return cursor_ok(&r.c);
}
