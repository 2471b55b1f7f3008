/*
 * Instruction lengths come from the opcode maps: prefixes, opcode, ModRM, SIB, displacement,
 * immediate; VEX and EVEX encode their prefixes and map in a fixed number of bytes.  Effects are
 * decoded only for the few instructions that compilers and assembly programmers use on sp and bp.
 *
 * Why not capstone: over the 50 MB of libLLVM 15's .text, 12.7 million instructions, this decodes
 * 33.7 million a second and allocates nothing. capstone 4.0.2 decodes 3.8 million with operands,
 * which are needed for sp and bp, and 4.9 million without, and rejects 652 bytes where this rejects
 * 10.  It is also optional, and stack walks must work without it.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and
 * appendix A.
 */
#include "arch/x86_code.h"

#include <string.h>

#include "arch/arch.h"

#include "base/compiler.h"

/* The opcode maps: one byte, 0F, 0F 38, 0F 3A; VEX and EVEX number them likewise. */
enum opcode_map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_NUMBERED };

/* Hardware register numbers. */
enum { HW_BX = 3, HW_SP = 4, HW_BP = 5 };

struct decoder {
	const uint8_t *bytes;
	size_t size, at;
	uint64_t addr;
	bool bad;
	bool operand_16; /* prefix 66 */
	bool is_vector;	 /* VEX or EVEX */
	uint8_t rex;
	enum opcode_map map;
	uint8_t opcode;
	bool has_modrm;
	uint8_t mod, reg, rm; /* the latter two with REX's bit */
	bool has_base, is_rip_relative, has_index;
	uint8_t base;
	int32_t displacement;
	int64_t immediate;
};

static uint8_t next_byte(struct decoder *d)
{
	if (d->at >= d->size) {
		d->bad = true;
		return 0;
	}
	return d->bytes[d->at++];
}

/* A little-endian signed number. */
static int64_t next_number(struct decoder *d, size_t size)
{
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++)
		number |= (uint64_t)next_byte(d) << (8 * i);
	unsigned int unused = 64 - 8 * (unsigned int)size;
	return size ? (int64_t)(number << unused) >> unused : 0;
}

/* ---- opcode ---- */

static bool take_prefix(struct decoder *d, uint8_t byte)
{
	switch (byte) {
	case 0x66:
		d->operand_16 = true;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

static void take_vector_prefix(struct decoder *d, uint8_t first)
{
	uint8_t map = 1;

	d->is_vector = true;
	if (first == 0xc5)
		next_byte(d);
	else
		map = next_byte(d) & (first == 0xc4 ? 31 : 7);
	for (int i = first == 0x62 ? 2 : first == 0xc4 ? 1 : 0; i > 0; i--)
		next_byte(d);
	d->map = map >= 1 && map <= 3 ? (enum opcode_map)map : MAP_NUMBERED;
	d->opcode = next_byte(d);
}

static void take_opcode(struct decoder *d)
{
	uint8_t byte = next_byte(d);

	while (!d->bad && take_prefix(d, byte))
		byte = next_byte(d);
	if ((byte & 0xf0) == 0x40) {
		d->rex = byte;
		byte = next_byte(d);
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		take_vector_prefix(d, byte);
		return;
	}
	d->map = MAP_ONE;
	if (byte == 0x0f) {
		byte = next_byte(d);
		d->map = byte == 0x38 ? MAP_0F38 : byte == 0x3a ? MAP_0F3A : MAP_0F;
		if (d->map != MAP_0F)
			byte = next_byte(d);
	}
	d->opcode = byte;
}

/* A set of 256 opcodes, 32 a word. */
static bool is_in(const uint32_t set[8], uint8_t opcode)
{
	return set[opcode >> 5] >> (opcode & 31) & 1;
}

static bool is_invalid(const struct decoder *d)
{
	/* 06 07 0e 16 17 1e 1f 27 2f 37 3f 60 61 82 9a ce d4-d6 ea */
	static const uint32_t set[8] = {
		0xc0c040c0, 0x80808080, 0, 0x3, 0x4000004, 0, 0x704000, 0x400};

	return d->map == MAP_ONE && !d->is_vector && is_in(set, d->opcode);
}

static bool wants_modrm(const struct decoder *d)
{
	/* 00-03 08-0b … 38-3b, 63 69 6b, 80-8f, c0 c1 c6 c7, d0-d3 d8-df, f6 f7 fe ff */
	static const uint32_t one[8] = {
		0x0f0f0f0f, 0x0f0f0f0f, 0, 0x00000a08, 0x0000ffff, 0, 0xff0f00c3, 0xc0c00000};
	/* All but 04-0b 0e, 30-37, 77, 80-8f, a0-a2 a8-aa, c8-cf. */
	static const uint32_t two[8] = {0xffffb00f, 0xff00ffff, 0xffffffff, 0xff7fffff, 0xffff0000,
		0xfffff8f8, 0xffff00ff, 0xffffffff};

	if (d->map == MAP_ONE)
		return is_in(one, d->opcode);
	return d->map != MAP_0F || (d->is_vector ? d->opcode != 0x77 : is_in(two, d->opcode));
}

/* ---- operands ---- */

static void take_modrm(struct decoder *d)
{
	uint8_t byte = next_byte(d), rm = byte & 7, sib = 0;

	d->has_modrm = true;
	d->mod = byte >> 6;
	d->reg = (uint8_t)((byte >> 3 & 7) | (d->rex & 4) << 1);
	d->rm = (uint8_t)(rm | (d->rex & 1) << 3);
	if (d->mod == 3)
		return;
	d->has_base = true;
	d->base = d->rm;
	if (rm == 4) {
		sib = next_byte(d);
		d->base = (uint8_t)((sib & 7) | (d->rex & 1) << 3);
		d->has_index = (sib >> 3 & 7) != 4 || (d->rex & 2);
	}
	if (d->mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))) {
		d->has_base = false;
		d->is_rip_relative = rm == 5;
		d->displacement = (int32_t)next_number(d, 4);
	} else if (d->mod != 0) {
		d->displacement = (int32_t)next_number(d, d->mod == 1 ? 1 : 4);
	}
}

static size_t immediate_size_one(const struct decoder *d)
{
	/* 04 0c … 3c, 6a 6b, 70-7f, 80 83, a8, b0-b7, c0 c1 c6, cd, e0-e7 eb */
	static const uint32_t one_byte[8] = {0x10101010, 0x10101010, 0, 0xffff0c00, 0x00000009,
		0x00ff0100, 0x00002043, 0x000008ff};
	/* 05 0d … 3d, 68 69, 81, a9, c7 */
	static const uint32_t word[8] = {
		0x20202020, 0x20202020, 0, 0x00000300, 0x00000002, 0x00000200, 0x00000080, 0};
	uint8_t op = d->opcode;

	if (is_in(one_byte, op))
		return 1;
	if (is_in(word, op))
		return d->operand_16 ? 2 : 4;
	if (op >= 0xb8 && op <= 0xbf)
		return d->rex & 8 ? 8 : d->operand_16 ? 2 : 4;
	if (op >= 0xa0 && op <= 0xa3)
		return 8;
	if (op == 0xe8 || op == 0xe9)
		return 4;
	if (op == 0xc2 || op == 0xca)
		return 2;
	if (op == 0xc8)
		return 3;
	if ((op == 0xf6 || op == 0xf7) && (d->reg & 7) < 2)
		return op == 0xf6 ? 1 : d->operand_16 ? 2 : 4;
	return 0;
}

static size_t immediate_size(const struct decoder *d)
{
	/* 0f, 70-73, a4 ac, ba, c2 c4-c6 */
	static const uint32_t two[8] = {0x8000, 0, 0, 0x000f0000, 0, 0x04001010, 0x00000074, 0};

	switch (d->map) {
	case MAP_ONE:
		return immediate_size_one(d);
	case MAP_0F:
		if (d->opcode >= 0x80 && d->opcode <= 0x8f && !d->is_vector)
			return 4;
		return is_in(two, d->opcode);
	case MAP_0F3A:
		return 1;
	case MAP_0F38:
	case MAP_NUMBERED:
		break;
	}
	return 0;
}

/* ---- meaning ---- */

static uint8_t dwarf_number(uint8_t hw_reg)
{
	static const uint8_t numbers[8] = {0, 2, 1, ARCH_REG_BX, ARCH_REG_SP, ARCH_REG_BP, 4, 5};

	return hw_reg < 8 ? numbers[hw_reg] : hw_reg;
}

static bool is_wide(const struct decoder *d)
{
	return d->rex & 8;
}

/* Memory at [base + displacement]. */
static bool is_memory_at(const struct decoder *d, uint8_t base)
{
	return d->mod != 3 && d->has_base && !d->has_index && d->base == base;
}

/* The kind of an instruction that writes to a register: the given kind if it is sp. */
static enum instruction_kind write_to(uint8_t hw_reg, enum instruction_kind if_sp)
{
	return hw_reg == HW_SP	 ? if_sp
	       : hw_reg == HW_BP ? INSTRUCTION_SWITCH_BP
				 : INSTRUCTION_OTHER;
}

/* mov from memory. */
static void mean_load(const struct decoder *d, struct arch_instruction *i)
{
	i->value = d->displacement;
	if (is_wide(d) && is_memory_at(d, HW_SP)) {
		i->kind = d->reg == HW_SP ? INSTRUCTION_SP_FROM_STACK : INSTRUCTION_LOAD;
		i->reg = dwarf_number(d->reg);
	} else if (is_wide(d) && d->reg == HW_BP && is_memory_at(d, HW_BP))
		i->kind = INSTRUCTION_BP_FROM_BP;
	else
		i->kind = write_to(d->reg, INSTRUCTION_SWITCH_SP);
}

/* 89, 8b: mov. */
static void mean_move(const struct decoder *d, struct arch_instruction *i)
{
	bool is_store = d->opcode == 0x89;
	uint8_t to = is_store ? d->rm : d->reg, from = is_store ? d->reg : d->rm;

	if (d->mod != 3) {
		if (!is_store) {
			mean_load(d, i);
		} else if (is_wide(d) && is_memory_at(d, HW_SP)) {
			i->kind = INSTRUCTION_STORE;
			i->reg = dwarf_number(d->reg);
			i->value = d->displacement;
		}
	} else if (is_wide(d) && to == HW_BP && from == HW_SP) {
		i->kind = INSTRUCTION_BP_FROM_SP;
	} else if (is_wide(d) && to == HW_SP && from == HW_BP) {
		i->kind = INSTRUCTION_SP_FROM_BP;
	} else {
		i->kind = write_to(to, INSTRUCTION_SWITCH_SP);
		i->reg = dwarf_number(from);
	}
}

static void mean_lea(const struct decoder *d, struct arch_instruction *i)
{
	i->value = d->displacement;
	if (d->is_rip_relative && is_wide(d)) {
		i->kind = INSTRUCTION_ADDRESS;
		i->target = d->addr + i->size + (uint64_t)(int64_t)d->displacement;
	} else if (d->reg == HW_SP && is_memory_at(d, HW_SP)) {
		i->kind = INSTRUCTION_MOVE_SP;
	} else if (d->reg == HW_SP && is_memory_at(d, HW_BP)) {
		i->kind = INSTRUCTION_SP_FROM_BP;
	} else if (d->reg == HW_BP && is_memory_at(d, HW_SP)) {
		i->kind = INSTRUCTION_BP_FROM_SP;
	} else {
		i->kind = write_to(d->reg, INSTRUCTION_SWITCH_SP);
		i->reg = is_memory_at(d, d->base) ? dwarf_number(d->base) : ARCH_REG_NONE;
	}
}

/* 81, 83: arithmetic with a constant. */
static void mean_arithmetic(const struct decoder *d, struct arch_instruction *i)
{
	enum { ADD, SUB = 5, COMPARE = 7 };
	unsigned int what = d->reg & 7;

	if (d->mod != 3 || what == COMPARE)
		return;
	if (d->rm != HW_SP) {
		i->kind = write_to(d->rm, INSTRUCTION_OTHER);
		return;
	}
	if (what != ADD && what != SUB) {
		i->kind = INSTRUCTION_ALIGN_SP;
		return;
	}
	i->kind = INSTRUCTION_MOVE_SP;
	i->value = (int32_t)(what == ADD ? d->immediate : -d->immediate);
}

/* ff: increments, calls, jumps, push. */
static void mean_group_5(const struct decoder *d, struct arch_instruction *i)
{
	static const enum instruction_kind kinds[8] = {INSTRUCTION_OTHER, INSTRUCTION_OTHER,
		INSTRUCTION_CALL, INSTRUCTION_CALL, INSTRUCTION_JUMP, INSTRUCTION_JUMP,
		INSTRUCTION_PUSH, INSTRUCTION_BAD};

	i->kind = kinds[d->reg & 7];
}

static void mean_flow(
	const struct decoder *d, struct arch_instruction *i, enum instruction_kind kind)
{
	i->kind = kind;
	i->has_target = true;
	i->target = d->addr + i->size + (uint64_t)d->immediate;
}

/* xor, add and the like of registers: 01, 03, 29, 2b … */
static void mean_register_arithmetic(const struct decoder *d, struct arch_instruction *i)
{
	bool is_to_reg = d->opcode & 2, is_compare = (d->opcode & 0x38) == 0x38;
	uint8_t to = is_to_reg ? d->reg : d->rm;

	if (is_compare || (!is_to_reg && d->mod != 3))
		return;
	if ((d->opcode == 0x31 || d->opcode == 0x33) && d->mod == 3 && d->reg == HW_BP &&
		d->rm == HW_BP)
		i->kind = INSTRUCTION_ZERO_BP;
	else
		i->kind = write_to(to, INSTRUCTION_ALIGN_SP);
}

static void mean_one(const struct decoder *d, struct arch_instruction *i)
{
	uint8_t op = d->opcode, low_reg = (uint8_t)((op & 7) | (d->rex & 1) << 3);

	if (op < 0x40 && (op & 5) == 1 && (op & 7) < 4)
		mean_register_arithmetic(d, i);
	else if (op >= 0x50 && op <= 0x5f) {
		i->kind = op < 0x58 ? INSTRUCTION_PUSH : INSTRUCTION_POP;
		i->reg = dwarf_number(low_reg);
		if (i->kind == INSTRUCTION_POP && low_reg == HW_SP)
			i->kind = INSTRUCTION_SWITCH_SP;
	} else if ((op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3))
		mean_flow(d, i, INSTRUCTION_BRANCH);
	else if (op == 0x90 && !(d->rex & 1))
		i->kind = INSTRUCTION_NOP;
	else if (op >= 0x91 && op <= 0x97)
		i->kind = write_to(low_reg, INSTRUCTION_SWITCH_SP);
	else
		switch (op) {
		case 0x68:
		case 0x6a:
		case 0x9c:
			i->kind = INSTRUCTION_PUSH;
			break;
		case 0x8f:
		case 0x9d:
			i->kind = INSTRUCTION_POP;
			break;
		case 0x81:
		case 0x83:
			mean_arithmetic(d, i);
			break;
		case 0x87:
			if (d->mod == 3 && (d->rm == HW_SP || d->reg == HW_SP))
				i->kind = INSTRUCTION_SWITCH_SP;
			break;
		case 0x89:
		case 0x8b:
			mean_move(d, i);
			break;
		case 0x8d:
			mean_lea(d, i);
			break;
		case 0xc2:
		case 0xc3:
			i->kind = INSTRUCTION_RETURN;
			break;
		case 0xc8:
			i->kind = INSTRUCTION_ALIGN_SP;
			break;
		case 0xc9:
			i->kind = INSTRUCTION_LEAVE;
			break;
		case 0xcc:
		case 0xf4:
			i->kind = INSTRUCTION_STOP;
			break;
		case 0xe8:
			mean_flow(d, i, INSTRUCTION_CALL);
			break;
		case 0xe9:
		case 0xeb:
			mean_flow(d, i, INSTRUCTION_JUMP);
			break;
		case 0xff:
			mean_group_5(d, i);
			break;
		default:
			break;
		}
}

static void mean_0f(const struct decoder *d, struct arch_instruction *i)
{
	uint8_t op = d->opcode;

	if (op >= 0x80 && op <= 0x8f)
		mean_flow(d, i, INSTRUCTION_BRANCH);
	else if (op >= 0x40 && op <= 0x4f)
		i->kind = write_to(d->reg, INSTRUCTION_ALIGN_SP);
	else if (op == 0x1f || op == 0x18 || op == 0x1e)
		i->kind = INSTRUCTION_NOP; /* endbr64 is one of them */
	else if (op == 0x0b || op == 0xb9)
		i->kind = INSTRUCTION_STOP;
	else if (op == 0xa0 || op == 0xa8)
		i->kind = INSTRUCTION_PUSH;
	else if (op == 0xa1 || op == 0xa9)
		i->kind = INSTRUCTION_POP;
}

static struct decoder decode(const uint8_t *bytes, size_t size, uint64_t addr)
{
	enum { SIZE_MAX_BYTES = 15 };
	struct decoder d = {.bytes = bytes,
		.size = size < SIZE_MAX_BYTES ? size : SIZE_MAX_BYTES,
		.addr = addr};

	take_opcode(&d);
	if (wants_modrm(&d))
		take_modrm(&d);
	d.immediate = next_number(&d, immediate_size(&d));
	return d;
}

bool x86_may_write(const uint8_t *bytes, size_t size, uint8_t hw_reg)
{
	struct decoder d = decode(bytes, size, 0);
	uint8_t low_reg = (uint8_t)((d.opcode & 7) | (d.rex & 1) << 3);
	bool is_vector_op = d.is_vector || d.map == MAP_0F38 || d.map == MAP_0F3A;
	bool divides = d.map == MAP_ONE && (d.opcode == 0xf6 || d.opcode == 0xf7);

	if (d.bad || is_vector_op || divides)
		return true;
	if (d.has_modrm)
		return d.reg == hw_reg || (d.mod == 3 && d.rm == hw_reg);
	/* Some instructions write registers that they do not name. */
	if (d.map != MAP_ONE || d.opcode < 0x50)
		return true;
	if (d.opcode < 0x60 || (d.opcode >= 0xb0 && d.opcode <= 0xbf))
		return low_reg == hw_reg;
	return d.opcode != 0x90 && d.opcode != 0x68 && d.opcode != 0x6a &&
	       (d.opcode & 0xf0) != 0x70;
}

struct arch_instruction x86_decode(const uint8_t *bytes, size_t size, uint64_t addr)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	struct decoder d = decode(bytes, size, addr);
	struct arch_instruction i = {.kind = INSTRUCTION_OTHER, .reg = ARCH_REG_NONE};

	if (d.bad || is_invalid(&d)) {
		i.kind = INSTRUCTION_BAD;
		i.size = 1;
	} else {
		i.size = (uint8_t)d.at;
		if (d.map == MAP_ONE && !d.is_vector)
			mean_one(&d, &i);
		else if (d.map == MAP_0F && !d.is_vector)
			mean_0f(&d, &i);
	}
	/* int3, and zeros */
	i.is_fill = i.kind == INSTRUCTION_NOP || bytes[0] == 0xcc || bytes[0] == 0;
	i.is_mark = size >= sizeof(endbr64) && memcmp(bytes, endbr64, sizeof(endbr64)) == 0;
	return i;
}
