/*
 * Start-up code without unwind rules.
 *
 * - Execution begins at the entry address: of an executable (_start, in musl and in old glibc
 * without rules) and of the dynamic loader (_start, running on into _dl_start_user).  Nothing
 * called it.
 * - _init and _fini are pieced together by the linker from crti.o and crtn.o, which align the stack
 *   around whatever stands in between.
 *
 * Rules from sections take precedence, so that only what has none is described.
 */
#include "obj/bare_code.h"

#include <elf.h>
#include <string.h>

#include "base/compiler.h"
#include "obj/objfile.h"

/* How much code at the entry is taken for start-up code; the loader's has some 80 bytes. */
#define ENTRY_SIZE ((uint64_t)256)

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

/* An _init or _fini of the common form: [endbr64] sub $8, %rsp … add $8, %rsp; ret. */
static size_t add_aligned_function(
	struct objfile *file, const char *name, struct cfi_bare *bare, size_t count)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, sub[] = {0x48, 0x83, 0xec, 0x08},
			     end[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
	struct objfile_section s;
	size_t head = 0;

	if (!objfile_section(file, name, &s) || s.bytes == NULL || s.size < sizeof(endbr) ||
		s.obj_addr > UINT64_MAX - s.size)
		return count;
	if (memcmp(s.bytes, endbr, sizeof(endbr)) == 0)
		head = sizeof(endbr);
	if (s.size < head + sizeof(sub) + sizeof(end) ||
		memcmp(s.bytes + head, sub, sizeof(sub)) != 0 ||
		memcmp(s.bytes + s.size - sizeof(end), end, sizeof(end)) != 0)
		return count;
	uint64_t low = s.obj_addr, body = low + head + sizeof(sub), ret = low + s.size - 1;
	count = add(bare, count, (struct cfi_bare){low, body, false, 8});
	count = add(bare, count, (struct cfi_bare){body, ret, false, 16});
	return add(bare, count, (struct cfi_bare){ret, ret + 1, false, 8});
}

static size_t add_entry(const struct objfile *file, struct cfi_bare *bare, size_t count)
{
	uint64_t low = objfile_entry(file);

	if (low == 0 || low > UINT64_MAX - ENTRY_SIZE)
		return count;
	struct cfi_bare entry = {low, low + ENTRY_SIZE, true, 0};
	/* Hostile files may have it anywhere. */
	for (size_t i = 0; i < count; i++) {
		if (bare[i].low_addr >= entry.low_addr && bare[i].low_addr < entry.high_addr)
			entry.high_addr = bare[i].low_addr;
		else if (bare[i].low_addr < entry.low_addr && bare[i].high_addr > entry.low_addr)
			return count;
	}
	return entry.low_addr < entry.high_addr ? add(bare, count, entry) : count;
}

static bool overlap(const struct cfi_bare *bare, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (bare[i].low_addr < bare[i - 1].high_addr)
			return true;
	}
	return false;
}

size_t bare_code_find(struct objfile *file, struct cfi_bare bare[BARE_CODE_MAX])
{
	size_t count = 0;

	if (objfile_machine(file) != EM_X86_64)
		return 0;
	count = add_aligned_function(file, ".init", bare, count);
	count = add_aligned_function(file, ".fini", bare, count);
	if (overlap(bare, count))
		count = 0;
	return add_entry(file, bare, count);
}
