/*
 * Start-up code without unwind rules.
 *
 * - Execution begins at the entry address: of an executable (_start, in musl and in old glibc
 *   without rules) and of the dynamic loader (_start, which continues into _dl_start_user).
 *   Nothing called it.
 * - The code where Go's execution begins has rules, but they are wrong: the code that opens the
 *   object names it.
 * - The linker joins _init and _fini from crti.o and crtn.o, which align the stack around the code
 *   in between.
 *
 * Rules from sections take precedence, so this covers only code without rules.
 */
#include "obj/bare_code.h"

#include "arch/arch.h"
#include "obj/objfile.h"

/* Start-up code at the entry is at most this long; the loader's has about 80 bytes. */
#define ENTRY_SIZE ((uint64_t)256)

/* At the first instruction, only the return address is between sp and the CFA. */
enum { ENTRY_CFA = 8, ALIGNED_SIZE_MAX = 4096 };

static size_t add(struct cfi_bare *bare, size_t count, struct cfi_bare one)
{
	size_t at = count;

	while (at && bare[at - 1].low_addr > one.low_addr) {
		bare[at] = bare[at - 1];
		at--;
	}
	bare[at] = one;
	return count + 1;
}

/* How far the first instruction moves sp, 0 if it does not; *body is the offset after it. */
static int32_t opening_move(
	const struct arch *arch, const struct objfile_section *s, uint64_t *body)
{
	struct arch_instruction i = arch->decode(s->bytes, s->size, s->obj_addr);

	*body = i.size;
	if (i.is_mark && *body < s->size) {
		i = arch->decode(s->bytes + *body, s->size - *body, s->obj_addr + *body);
		*body += i.size;
	}
	return i.kind == INSTRUCTION_MOVE_SP ? i.value : 0;
}

/* Whether the code ends by moving sp back and returning; *last is the offset of the return. */
static bool closes_with(
	const struct arch *arch, const struct objfile_section *s, int32_t move, uint64_t *last)
{
	struct arch_instruction i = {.kind = INSTRUCTION_BAD}, before = i;

	for (uint64_t at = 0; at < s->size; at += i.size) {
		before = i;
		i = arch->decode(s->bytes + at, s->size - at, s->obj_addr + at);
		*last = at;
	}
	return i.kind == INSTRUCTION_RETURN && before.kind == INSTRUCTION_MOVE_SP &&
	       before.value == move;
}

/* An _init or _fini of the common form: sub $8, %rsp … add $8, %rsp; ret. */
static size_t add_aligned_function(struct objfile *file, const struct arch *arch, const char *name,
	struct cfi_bare *bare, size_t count)
{
	struct objfile_section s;
	uint64_t body, last = 0;
	int32_t room;

	if (!objfile_section(file, name, &s) || s.bytes == NULL || s.size == 0 ||
		s.size > ALIGNED_SIZE_MAX || s.obj_addr > UINT64_MAX - s.size)
		return count;
	room = -opening_move(arch, &s, &body);
	if (room != ENTRY_CFA || !closes_with(arch, &s, room, &last) || last < body)
		return count;
	uint64_t low = s.obj_addr;
	count = add(bare, count,
		(struct cfi_bare){
			.low_addr = low, .high_addr = low + body, .cfa_offset = ENTRY_CFA});
	count = add(bare, count,
		(struct cfi_bare){.low_addr = low + body,
			.high_addr = low + last,
			.cfa_offset = ENTRY_CFA + room});
	return add(bare, count,
		(struct cfi_bare){.low_addr = low + last,
			.high_addr = low + s.size,
			.cfa_offset = ENTRY_CFA});
}

/* Adds code from low on, up to code added before. */
static size_t add_start(struct cfi_bare *bare, size_t count, uint64_t low, uint64_t high)
{
	struct cfi_bare entry = {.low_addr = low, .high_addr = high, .is_outermost = true};

	/* In hostile files it may be anywhere. */
	for (size_t i = 0; i < count; i++) {
		if (bare[i].low_addr >= entry.low_addr && bare[i].low_addr < entry.high_addr)
			entry.high_addr = bare[i].low_addr;
		else if (bare[i].low_addr < entry.low_addr && bare[i].high_addr > entry.low_addr)
			return count;
	}
	return entry.low_addr < entry.high_addr ? add(bare, count, entry) : count;
}

static size_t add_entry(const struct objfile *file, struct cfi_bare *bare, size_t count)
{
	uint64_t low = objfile_entry(file);

	if (low == 0 || low > UINT64_MAX - ENTRY_SIZE)
		return count;
	return add_start(bare, count, low, low + ENTRY_SIZE);
}

/* Adds code that has switched stacks, unless other code is there. */
static size_t add_switch(struct cfi_bare *bare, size_t count, struct cfi_bare one)
{
	for (size_t i = 0; i < count; i++)
		if (bare[i].low_addr < one.high_addr && one.low_addr < bare[i].high_addr)
			return count;
	return add(bare, count, one);
}

static bool overlap(const struct cfi_bare *bare, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (bare[i].low_addr < bare[i - 1].high_addr)
			return true;
	}
	return false;
}

size_t bare_code_find(struct objfile *file, const struct bare_code_start *starts,
	size_t start_count, struct cfi_bare bare[BARE_CODE_MAX])
{
	const struct arch *arch = arch_of_machine(objfile_machine(file));
	size_t count = 0;

	if (arch == NULL || arch->decode == NULL)
		return 0;
	count = add_aligned_function(file, arch, ".init", bare, count);
	count = add_aligned_function(file, arch, ".fini", bare, count);
	if (overlap(bare, count))
		count = 0;
	for (size_t i = 0; i < start_count && i < BARE_CODE_STARTS_MAX; i++)
		count = add_start(bare, count, starts[i].low, starts[i].high);
	return add_entry(file, bare, count);
}

size_t bare_code_add_switches(
	struct cfi_bare bare[BARE_CODE_MAX], size_t count, const struct go_switches *switches)
{
	for (size_t i = 0; i < switches->count; i++)
		count = add_switch(bare, count, switches->code[i]);
	return count;
}
