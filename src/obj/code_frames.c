/*
 * Derives unwind rules from code.
 *
 * It starts at a function's first instruction, where the return address is at sp, and follows each
 * instruction's effect on sp and bp along all direct jumps.  Code that is not reached this way (the
 * cases of a switch, landing pads) is in the function's body, after its prologue and before any
 * epilogue.  It gets the state at the last table jump, or else the most frequent state so far.
 * Code after the ABI's mark of the outermost frame, a zeroed bp that was not saved before, has no
 * caller.
 *
 * The rules are wrong for functions that do what compilers do not do.  So they are marked, and the
 * unwinder checks that the return address they find follows a call.
 *
 * The idea of deriving frames from code is from HPCToolkit: Tallent, Mellor-Crummey, Fagan, "Binary
 * analysis for measurement and attribution of program performance", PLDI 2009.
 */
#include "obj/code_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "obj/cfi_rows.h"
#include "arch/arch.h"

/* Longer code is processed in parts. */
#define PART_SIZE ((size_t)1 << 20)
/* A longer jump is probably not a jump, but data within the code. */
#define CROSSING_MAX ((size_t)64 << 10)

/* The state before an instruction. */
struct frame_state {
	bool is_reached, is_outermost;
	bool has_sp, has_bp; /* the CFA is sp + sp_offset and bp + bp_offset */
	int32_t sp_offset, bp_offset;
	int32_t saved_bp, saved_bx; /* offsets from the CFA; 0: not saved */
	int32_t return_reg;  /* the register that holds the popped return address, or NO_REGISTER */
	int32_t is_switched; /* sp points to another stack */
};

enum { NO_REGISTER = -1 };

static const struct frame_state entry_state = {
	.is_reached = true, .has_sp = true, .sp_offset = 8, .return_reg = NO_REGISTER};

/* ---- starts ---- */

static struct arch_instruction decode_at(const struct code_piece *code, size_t at)
{
	return code->arch->decode(code->bytes + at, code->size - at, code->obj_addr + at);
}

bool code_frames_wanted(const struct code_piece *code)
{
	size_t at = 0;

	while (at < code->size) {
		struct arch_instruction i = decode_at(code, at);
		if (!i.is_fill)
			return true;
		at += i.size;
	}
	return false;
}

static bool is_callee_saved(const struct arch *arch, uint8_t reg)
{
	return reg != ARCH_REG_NONE && (arch->callee_saved >> reg & 1) != 0;
}

/* What precedes an address. */
struct flow {
	bool ended;  /* control left, and only fill has followed */
	bool paused; /* the same, or after a call, which may not return */
};

/* How direct jumps reach an address. */
enum { BY_JUMP = 1, BY_BRANCH = 2 };

/* A possible function start: 16-byte aligned, where control has paused. */
struct candidate {
	size_t at;
	bool has_ended;	    /* control has left */
	bool saves;	    /* its first instruction is a mark (endbr64) or saves a register */
	bool makes_room;    /* its first instruction allocates stack space */
	bool follows_table; /* a table jump is between the previous candidate and this one */
};

static struct candidate make_candidate(
	const struct code_piece *code, size_t at, const struct flow *before)
{
	struct arch_instruction i = decode_at(code, at);

	return (struct candidate){.at = at,
		.has_ended = before->ended,
		.saves = i.is_mark ||
			 (i.kind == INSTRUCTION_PUSH && is_callee_saved(code->arch, i.reg)),
		.makes_room = i.kind == INSTRUCTION_MOVE_SP && i.value < 0};
}

/*
 * Whether the candidate is a function rather than a loop or a switch case.  It is if it begins with
 * a mark, a saved register or a stack allocation, or if nothing leads to it, no table jump precedes
 * it and no jump crosses it.  Jumps also reach functions, as tail calls; branches do not.
 */
static bool looks_like_start(
	const struct candidate *c, unsigned int reached, bool has_table, bool is_crossed)
{
	if (reached & BY_BRANCH)
		return false;
	return c->saves ||
	       (c->has_ended && !reached && !is_crossed && (!has_table || c->makes_room));
}

/*
 * A call to the next instruction only reads its own address.  An address taken in code may be a
 * table.
 */
static bool points_to_function(const struct arch_instruction *i, uint64_t obj_addr)
{
	if (i->kind == INSTRUCTION_CALL)
		return i->has_target && i->target != obj_addr + i->size;
	return i->kind == INSTRUCTION_ADDRESS && (i->target & 15) == 0;
}

static struct flow flow_after(struct flow before, const struct arch_instruction *i, bool is_fill)
{
	bool ends = i->kind == INSTRUCTION_RETURN || i->kind == INSTRUCTION_STOP ||
		    i->kind == INSTRUCTION_JUMP;

	return (struct flow){
		.ended = ends || (before.ended && is_fill),
		.paused = ends || i->kind == INSTRUCTION_CALL || (before.paused && is_fill),
	};
}

struct search {
	const struct code_piece *code;
	uint8_t *jump_targets; /* for each 16 bytes, how control reaches the first one */
	int32_t *crossings;    /* for each 16 bytes: jumps within functions that start crossing it,
			       minus those that stop */
	VEC(struct candidate) candidates;
	bool has_table; /* since the last candidate */
};

/* The index of the aligned 16 bytes that contain an offset. */
static size_t cell_of(const struct code_piece *code, size_t at)
{
	return ((code->obj_addr & 15) + at) / 16;
}

/* Counts the cells between a jump and its target as crossed. */
static void note_crossing(struct search *s, size_t from, size_t to)
{
	size_t low = from < to ? from : to, high = from < to ? to : from;

	if (high - low > CROSSING_MAX)
		return;
	s->crossings[cell_of(s->code, low) + 1]++;
	s->crossings[cell_of(s->code, high + 15)]--;
}

static void note_jump(struct search *s, const struct arch_instruction *i, size_t from)
{
	bool is_jump = i->kind == INSTRUCTION_JUMP || i->kind == INSTRUCTION_BRANCH;
	uint64_t at = i->target - s->code->obj_addr;

	s->has_table |= i->kind == INSTRUCTION_JUMP && !i->has_target;
	if (!is_jump || !i->has_target || at >= s->code->size)
		return;
	if ((i->target & 15) == 0)
		s->jump_targets[cell_of(s->code, at)] |=
			i->kind == INSTRUCTION_JUMP ? BY_JUMP : BY_BRANCH;
	if ((i->target & 15) != 0 || i->kind == INSTRUCTION_BRANCH)
		note_crossing(s, from, at);
}

static void note_candidate(struct search *s, size_t at, const struct flow *before)
{
	struct candidate c = make_candidate(s->code, at, before);

	c.follows_table = s->has_table;
	s->has_table = false;
	vec_push(&s->candidates, c);
}

/* Decodes all instructions once. */
static void look_through(struct search *s, struct code_starts *starts)
{
	const struct code_piece *code = s->code;
	struct flow before = {.ended = true, .paused = true};

	for (size_t at = 0; at < code->size;) {
		struct arch_instruction i = decode_at(code, at);
		bool is_fill = i.is_fill && !i.is_mark;

		if (points_to_function(&i, code->obj_addr + at) &&
			i.target - code->obj_addr < code->size)
			vec_push(&starts->addrs, i.target);
		if (before.paused && !is_fill && ((code->obj_addr + at) & 15) == 0)
			note_candidate(s, at, &before);
		note_jump(s, &i, at);
		before = flow_after(before, &i, is_fill);
		at += i.size;
	}
}

void code_frames_find_starts(const struct code_piece *code, struct code_starts *starts)
{
	size_t cells = cell_of(code, code->size + 15) + 1, next = 0;
	struct search s = {.code = code,
		.jump_targets = xcalloc(cells, 1),
		.crossings = xcalloc(cells, sizeof(*s.crossings))};
	bool has_table = false;
	int32_t crossings = 0;

	look_through(&s, starts);
	for (size_t i = 0; i < s.candidates.count; i++) {
		const struct candidate *c = &s.candidates.data[i];
		has_table |= c->follows_table;
		size_t cell = cell_of(code, c->at);

		while (next <= cell)
			crossings += s.crossings[next++];
		if (!looks_like_start(c, s.jump_targets[cell], has_table, crossings > 0))
			continue;
		vec_push(&starts->addrs, code->obj_addr + c->at);
		has_table = false;
	}
	vec_deinit(&s.candidates);
	free(s.jump_targets);
	free(s.crossings);
}

/* ---- one instruction ---- */

static void push(struct frame_state *s, uint8_t reg)
{
	if (!s->has_sp)
		return;
	s->sp_offset += 8;
	if (s->return_reg != NO_REGISTER) {
		s->has_sp = s->return_reg == reg;
		s->return_reg = NO_REGISTER;
		return;
	}
	if (reg == ARCH_REG_BP && !s->saved_bp && !s->has_bp)
		s->saved_bp = -s->sp_offset;
	else if (reg == ARCH_REG_BX && !s->saved_bx)
		s->saved_bx = -s->sp_offset;
}

static void restore(struct frame_state *s, uint8_t reg, int32_t slot)
{
	if (reg == ARCH_REG_BP) {
		s->has_bp = false;
		s->saved_bp = s->has_sp && s->saved_bp == slot ? 0 : s->saved_bp;
	} else if (reg == ARCH_REG_BX) {
		s->saved_bx = s->has_sp && s->saved_bx == slot ? 0 : s->saved_bx;
	}
}

static void save(struct frame_state *s, uint8_t reg, int32_t slot)
{
	if (!s->has_sp || slot >= -8)
		return;
	if (reg == ARCH_REG_BP && !s->saved_bp && !s->has_bp)
		s->saved_bp = slot;
	else if (reg == ARCH_REG_BX && !s->saved_bx)
		s->saved_bx = slot;
}

/* sp += bytes.  No function continues after dropping its return address. */
static void move_sp(struct frame_state *s, int64_t bytes)
{
	int64_t offset = s->sp_offset - bytes;

	if (offset < 8 || offset > INT32_MAX / 2)
		s->has_sp = false;
	else
		s->sp_offset = (int32_t)offset;
}

/* vfork pops its return address, because the child will overwrite it. */
static void pop(struct frame_state *s, uint8_t reg)
{
	restore(s, reg, -s->sp_offset);
	if (s->has_sp && s->sp_offset == 8 && s->return_reg == NO_REGISTER &&
		reg != ARCH_REG_NONE) {
		s->return_reg = reg;
		s->sp_offset = 0;
	} else {
		move_sp(s, 8);
	}
}

static void set_sp_from_bp(struct frame_state *s, int64_t distance)
{
	s->has_sp = s->has_bp;
	s->return_reg = NO_REGISTER;
	s->sp_offset = s->bp_offset;
	move_sp(s, distance);
}

static void set_bp_from_sp(struct frame_state *s, int64_t distance)
{
	int64_t offset = s->sp_offset - distance;

	s->has_bp = s->has_sp && offset > 0 && offset < INT32_MAX / 2;
	s->bp_offset = (int32_t)offset;
}

static void leave(struct frame_state *s)
{
	set_sp_from_bp(s, 8);
	s->has_bp = false;
	s->saved_bp = 0;
}

static struct frame_state after(struct frame_state s, const struct arch_instruction *i)
{
	switch (i->kind) {
	case INSTRUCTION_PUSH:
		push(&s, i->reg);
		break;
	case INSTRUCTION_POP:
		pop(&s, i->reg);
		break;
	case INSTRUCTION_MOVE_SP:
		move_sp(&s, i->value);
		break;
	case INSTRUCTION_SP_FROM_BP:
		set_sp_from_bp(&s, i->value);
		break;
	case INSTRUCTION_ALIGN_SP:
		s.has_sp = false;
		break;
	case INSTRUCTION_SWITCH_SP:
	case INSTRUCTION_SP_FROM_STACK:
		s.has_sp = false;
		s.is_switched = !s.has_bp;
		break;
	case INSTRUCTION_BP_FROM_SP:
		set_bp_from_sp(&s, i->value);
		break;
	case INSTRUCTION_BP_FROM_BP:
		if (s.has_bp)
			restore(&s, ARCH_REG_BP, i->value - s.bp_offset);
		break;
	case INSTRUCTION_SWITCH_BP:
		s.has_bp = false;
		break;
	case INSTRUCTION_ZERO_BP:
		s.is_outermost |= !s.saved_bp && !s.has_bp;
		s.has_bp = false;
		break;
	case INSTRUCTION_STORE:
		save(&s, i->reg, i->value - s.sp_offset);
		break;
	case INSTRUCTION_LOAD:
		restore(&s, i->reg, i->value - s.sp_offset);
		break;
	case INSTRUCTION_LEAVE:
		leave(&s);
		break;
	case INSTRUCTION_BAD:
	case INSTRUCTION_OTHER:
	case INSTRUCTION_NOP:
	case INSTRUCTION_CALL:
	case INSTRUCTION_JUMP:
	case INSTRUCTION_BRANCH:
	case INSTRUCTION_RETURN:
	case INSTRUCTION_STOP:
	case INSTRUCTION_ADDRESS:
		break;
	}
	return s;
}

/* ---- a function ---- */

enum { TALLY_SIZE = 32 };

struct function {
	const struct code_piece *code;
	struct frame_state *before;  /* [code->size]: the state before the instruction that
				        starts at each offset */
	uint8_t *sizes;		     /* the size of that instruction; 0: not decoded yet */
	VEC(uint32_t) open;	     /* reached offsets still to be followed */
	struct frame_state at_table; /* the state at the last table jump */
	struct {
		struct frame_state state;
		size_t count; /* number of instructions */
	} tally[TALLY_SIZE];  /* for the first distinct states */
};

static bool is_same_rule(const struct frame_state *a, const struct frame_state *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void count_state(struct function *f, const struct frame_state *state)
{
	size_t i = 0;

	while (i < TALLY_SIZE && f->tally[i].count && !is_same_rule(&f->tally[i].state, state))
		i++;
	if (i == TALLY_SIZE)
		return;
	f->tally[i].state = *state;
	f->tally[i].count++;
}

/*
 * The state of code that no direct jump reaches: as at the last table jump, or else the most
 * frequent one, and on a tie the later one.
 */
static struct frame_state body_state(const struct function *f)
{
	size_t best = 0;

	if (f->at_table.is_reached)
		return f->at_table;
	for (size_t i = 1; i < TALLY_SIZE; i++)
		if (f->tally[i].count && f->tally[i].count >= f->tally[best].count)
			best = i;
	return f->tally[best].state;
}

static void reach(struct function *f, uint64_t at, const struct frame_state *state)
{
	if (at >= f->code->size || f->before[at].is_reached)
		return;
	f->before[at] = *state;
	vec_push(&f->open, (uint32_t)at);
	count_state(f, state);
}

static struct arch_instruction decode(struct function *f, size_t at)
{
	struct arch_instruction i = decode_at(f->code, at);

	f->sizes[at] = i.size;
	return i;
}

static size_t size_at(struct function *f, size_t at)
{
	return f->sizes[at] ? f->sizes[at] : decode(f, at).size;
}

/* Follows one path until it ends or joins a path followed before. */
static void follow(struct function *f, size_t at)
{
	while (at < f->code->size) {
		struct arch_instruction i = decode(f, at);
		struct frame_state next = after(f->before[at], &i);

		/* The first call after switching to another stack is outermost there. */
		if (i.kind == INSTRUCTION_CALL && next.is_switched)
			f->before[at].is_outermost = true;
		/* With an empty frame, the jump is a tail call. */
		if (i.kind == INSTRUCTION_JUMP && !i.has_target &&
			(next.has_bp || next.sp_offset > 8))
			f->at_table = next;
		if (i.has_target && (i.kind == INSTRUCTION_JUMP || i.kind == INSTRUCTION_BRANCH))
			reach(f, i.target - f->code->obj_addr, &next);
		if (i.kind == INSTRUCTION_JUMP || i.kind == INSTRUCTION_RETURN ||
			i.kind == INSTRUCTION_STOP || i.kind == INSTRUCTION_BAD)
			return;
		at += i.size;
		if (at >= f->code->size || f->before[at].is_reached)
			return;
		reach(f, at, &next);
		f->open.count--; /* this path itself continues there */
	}
}

static void follow_all(struct function *f)
{
	while (f->open.count)
		follow(f, f->open.data[--f->open.count]);
}

/* Skips fill; the body, or another function, follows. */
static size_t skip_padding(struct function *f, size_t at)
{
	while (at < f->code->size && !f->before[at].is_reached) {
		struct arch_instruction i = decode(f, at);
		if (!i.is_fill)
			break;
		at += i.size;
	}
	return at;
}

static bool is_short_nop(const struct arch_instruction *i)
{
	return i->kind == INSTRUCTION_NOP && i->size == 1;
}

/* nop; call; nop: the frame that goroutines' functions return to. */
static bool is_go_exit(const struct code_piece *code)
{
	struct arch_instruction i[3];
	size_t at = 0;

	for (size_t n = 0; n < ARRAY_SIZE(i); n++) {
		if (at >= code->size)
			return false;
		i[n] = decode_at(code, at);
		at += i[n].size;
	}
	return is_short_nop(&i[0]) && i[1].kind == INSTRUCTION_CALL && i[1].has_target &&
	       is_short_nop(&i[2]);
}

static void follow_function(struct function *f)
{
	struct frame_state first = entry_state;

	first.is_outermost = is_go_exit(f->code);
	reach(f, 0, &first);
	follow_all(f);
	for (size_t at = 0; at < f->code->size;) {
		if (!f->before[at].is_reached) {
			at = skip_padding(f, at);
			if (at == f->code->size)
				return;
			struct frame_state body = body_state(f);
			reach(f, at, &body);
			follow_all(f);
		}
		at += size_at(f, at);
	}
}

/* ---- rows ---- */

static void add_row(struct cfi_rows *rows, uint64_t obj_addr, const struct frame_state *s)
{
	struct cfi_slow_rule row = {
		.is_from_code = true,
		.cfa_register = s->has_sp ? CFI_REGISTER_SP : CFI_REGISTER_BP,
		.cfa_value = s->has_sp ? s->sp_offset : s->bp_offset,
		.how[CFI_REGISTER_RA] = CFI_AT_CFA,
		.value[CFI_REGISTER_RA] = -8,
		.how[CFI_REGISTER_BP] = s->saved_bp ? CFI_AT_CFA : CFI_DEFAULT,
		.value[CFI_REGISTER_BP] = s->saved_bp,
		.how[CFI_REGISTER_BX] = s->saved_bx ? CFI_AT_CFA : CFI_DEFAULT,
		.value[CFI_REGISTER_BX] = s->saved_bx,
	};

	if (s->is_outermost) {
		row.how[CFI_REGISTER_RA] = CFI_UNDEFINED;
		row.value[CFI_REGISTER_RA] = 0;
	} else if (s->return_reg != NO_REGISTER) {
		row.how[CFI_REGISTER_RA] = CFI_REGISTER;
		row.value[CFI_REGISTER_RA] = s->return_reg;
	}
	if (s->is_outermost || s->has_sp || s->has_bp)
		cfi_rows_add(rows, obj_addr, &row);
	else
		cfi_rows_add_gap(rows, obj_addr);
}

/* The unwinder recognizes a signal return trampoline by its bytes, as no rule covers it. */
static size_t signal_return_size(const struct code_piece *code, size_t at)
{
	size_t size = code->arch->signal_return_size;

	if (code->size - at < size ||
		memcmp(code->bytes + at, code->arch->signal_return, size) != 0)
		return 0;
	return size;
}

static void add_rows(struct function *f, struct cfi_rows *rows)
{
	struct frame_state last = {.is_reached = false};

	cfi_rows_add_gap(rows, f->code->obj_addr);
	for (size_t at = 0; at < f->code->size;) {
		size_t signal_return = signal_return_size(f->code, at);
		struct frame_state state = f->before[at];

		if (signal_return || !state.is_reached)
			state = (struct frame_state){.is_reached = false};
		if (!is_same_rule(&last, &state))
			add_row(rows, f->code->obj_addr + at, &state);
		last = state;
		at += signal_return ? signal_return : size_at(f, at);
	}
}

static void add_part(const struct code_piece *code, struct cfi_rows *rows)
{
	struct function f = {.code = code,
		.before = xcalloc(code->size, sizeof(*f.before)),
		.sizes = xcalloc(code->size, sizeof(*f.sizes))};

	follow_function(&f);
	add_rows(&f, rows);
	vec_deinit(&f.open);
	free(f.before);
	free(f.sizes);
}

void code_frames_add_rows(const struct code_piece *code, struct cfi_rows *rows)
{
	for (size_t at = 0; at < code->size; at += PART_SIZE) {
		size_t left = code->size - at;
		struct code_piece part = {.obj_addr = code->obj_addr + at,
			.bytes = code->bytes + at,
			.size = left < PART_SIZE ? left : PART_SIZE,
			.arch = code->arch};

		add_part(&part, rows);
	}
}
