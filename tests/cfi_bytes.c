/*
 * Call frame information by hand.  See cfi_bytes.h.
 */
#include "cfi_bytes.h"

#include <dwarf.h>
#include <string.h>

#include "obj/cfi_parse.h"
#include "obj/lazy_bytes.h"

void cfi_bytes_put(struct cfi_bytes *b, uint64_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		vec_push(&b->out, (uint8_t)(value >> (8 * i)));
}

void cfi_bytes_uleb(struct cfi_bytes *b, uint64_t value)
{
	while (value >= 0x80) {
		cfi_bytes_put(b, value | 0x80, 1);
		value >>= 7;
	}
	cfi_bytes_put(b, value, 1);
}

void cfi_bytes_program(struct cfi_bytes *b, const uint8_t *program, size_t size)
{
	for (size_t i = 0; i < size; i++)
		vec_push(&b->out, program[i]);
}

static void begin(struct cfi_bytes *b, uint32_t id)
{
	b->entry = b->out.count;
	cfi_bytes_put(b, 0, 4);
	cfi_bytes_put(b, id, 4);
}

void cfi_bytes_end(struct cfi_bytes *b)
{
	while ((b->out.count - b->entry) % 8)
		cfi_bytes_put(b, DW_CFA_nop, 1);
	uint32_t size = (uint32_t)(b->out.count - b->entry - 4);
	memcpy(b->out.data + b->entry, &size, sizeof(size));
}

void cfi_bytes_cie(struct cfi_bytes *b, bool signal)
{
	static const uint8_t after_call[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};
	const char *letters = signal ? "zRS" : "zR";

	begin(b, b->eh ? 0 : UINT32_MAX);
	b->cie = b->entry;
	cfi_bytes_put(b, 1, 1);
	cfi_bytes_program(b, (const uint8_t *)letters, strlen(letters) + 1);
	cfi_bytes_uleb(b, 1);
	cfi_bytes_put(b, 0x78, 1);
	cfi_bytes_put(b, 16, 1);
	cfi_bytes_uleb(b, 1);
	cfi_bytes_put(b, DW_EH_PE_udata8, 1);
	cfi_bytes_program(b, after_call, sizeof(after_call));
	cfi_bytes_end(b);
}

void cfi_bytes_begin_fde(struct cfi_bytes *b, uint64_t low, uint64_t size)
{
	begin(b, (uint32_t)(b->eh ? b->out.count + 4 - b->cie : b->cie));
	cfi_bytes_put(b, low, 8);
	cfi_bytes_put(b, size, 8);
	cfi_bytes_uleb(b, 0);
}

void cfi_bytes_fde(
	struct cfi_bytes *b, uint64_t low, uint64_t size, const uint8_t *program, size_t count)
{
	cfi_bytes_begin_fde(b, low, size);
	cfi_bytes_program(b, program, count);
	cfi_bytes_end(b);
}

struct cfi_table *cfi_bytes_compile(struct cfi_bytes *b, size_t *bad)
{
	return cfi_bytes_compile_for(b, &arch_x86_64, bad);
}

struct cfi_table *cfi_bytes_compile_for(struct cfi_bytes *b, const struct arch *arch, size_t *bad)
{
	struct cfi_source source = {.sections = {cfi_bytes_section(b)},
		.section_count = 1,
		.object = {.name = "test", .arch = arch}};
	struct cfi_section *section = &source.sections[0];

	section->lazy = lazy_bytes_copy(b->out.data, b->out.count);
	section->bytes = lazy_bytes_data(section->lazy);
	vec_deinit(&b->out);
	struct cfi_table *table = cfi_table_open(&source);
	*bad = cfi_bytes_bad(table, &source);
	return table;
}

struct cfi_section cfi_bytes_section(const struct cfi_bytes *b)
{
	return (struct cfi_section){
		.bytes = b->out.data,
		.size = b->out.count,
		.obj_addr = 0x100000,
		.kind = b->eh ? CFI_EH_FRAME : CFI_DEBUG_FRAME,
	};
}

size_t cfi_bytes_bad(struct cfi_table *table, const struct cfi_source *source)
{
	struct cfi_entries entries = {.object = &source->object};

	for (size_t i = 0; i < source->section_count; i++)
		cfi_entries_add(&entries, &source->sections[i]);
	/* Even if there is none, which nothing but a look-up finds out. */
	(void)cfi_table_find(table, 0);
	for (size_t i = 0; i < entries.fdes.count; i++)
		(void)cfi_table_find(table, entries.fdes.data[i].low);
	cfi_entries_deinit(&entries);
	return cfi_table_bad_entries(table);
}
