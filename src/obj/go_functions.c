/*
 * Go's function table, ".gopclntab": a header, and a table of functions by address, each with an
 * entry that has the position of its name, among other things.
 *
 * The header's first word shows which of three layouts is used: Go 1.2, 1.16, or 1.18 and 1.20,
 * which do not differ in anything relevant here.
 *
 * Sources: the Go project's src/internal/abi and src/debug/gosym (pclntab.go), and Russ Cox,
 * "Go 1.2 Runtime Symbol Information".
 */
#include "obj/go_functions.h"

#include <string.h>

#include "base/cursor.h"
#include "obj/objfile.h"

enum {
	MAGIC_1_2 = 0xfffffffb,
	MAGIC_1_16 = 0xfffffffa,
	MAGIC_1_18 = 0xfffffff0,
	MAGIC_1_20 = 0xfffffff1
};
enum { POINTER_SIZE = 8 };

struct go_table {
	const uint8_t *bytes;
	size_t size;
	uint64_t count;
	uint64_t functions_off; /* of the table by address; also the base of entries' offsets */
	uint64_t names_off;
	uint64_t text_addr;	  /* the base of its addresses */
	unsigned int number_size; /* of numbers in the table by address */
	unsigned int name_field;  /* offset of the name's position in an entry */
};

static bool find_section(struct objfile *object, struct objfile_section *section)
{
	return (objfile_section(object, ".gopclntab", section) ||
		       objfile_section(object, ".data.rel.ro.gopclntab", section)) &&
	       section->bytes;
}

/* In position-independent programs, the loader fills it in. */
static uint64_t text_addr(struct objfile *object, uint64_t stated)
{
	struct objfile_section text;

	if (stated == 0 && objfile_section(object, ".text", &text))
		return text.obj_addr;
	return stated;
}

static void read_header_1_2(struct cursor *c, struct go_table *t)
{
	t->count = cursor_u64(c);
	t->functions_off = cursor_offset(c);
	t->names_off = 0;
	t->number_size = POINTER_SIZE;
	t->name_field = POINTER_SIZE;
}

static void read_header_1_16(struct cursor *c, struct go_table *t)
{
	t->count = cursor_u64(c);
	cursor_skip(c, POINTER_SIZE); /* number of files */
	t->names_off = cursor_u64(c);
	cursor_skip(c, 3 * POINTER_SIZE);
	t->functions_off = cursor_u64(c);
	t->number_size = POINTER_SIZE;
	t->name_field = POINTER_SIZE;
}

static void read_header_1_18(struct cursor *c, struct objfile *object, struct go_table *t)
{
	t->count = cursor_u64(c);
	cursor_skip(c, POINTER_SIZE);
	t->text_addr = text_addr(object, cursor_u64(c));
	t->names_off = cursor_u64(c);
	cursor_skip(c, 3 * POINTER_SIZE);
	t->functions_off = cursor_u64(c);
	t->number_size = 4;
	t->name_field = 4;
}

static bool read_header(struct objfile *object, struct go_table *t)
{
	struct objfile_section section;
	struct cursor c;

	if (!find_section(object, &section))
		return false;
	*t = (struct go_table){.bytes = section.bytes, .size = section.size};
	cursor_init(&c, t->bytes, t->size, ".gopclntab", 0);
	uint32_t magic = cursor_u32(&c);
	cursor_skip(&c, 3); /* two zeros, and the alignment of code addresses */
	if (cursor_u8(&c) != POINTER_SIZE)
		return false;
	if (magic == MAGIC_1_2)
		read_header_1_2(&c, t);
	else if (magic == MAGIC_1_16)
		read_header_1_16(&c, t);
	else if (magic == MAGIC_1_18 || magic == MAGIC_1_20)
		read_header_1_18(&c, object, t);
	else
		return false;
	return cursor_ok(&c) && t->names_off <= t->size && t->functions_off <= t->size &&
	       t->count < (t->size - t->functions_off) / (2 * t->number_size);
}

/* Reads a little-endian number; false if it is truncated. */
static bool number_at(const struct go_table *t, uint64_t off, unsigned int size, uint64_t *number)
{
	*number = 0;
	if (off > t->size || t->size - off < size)
		return false;
	memcpy(number, t->bytes + off, size);
	return true;
}

static bool address_at(const struct go_table *t, uint64_t i, uint64_t *addr)
{
	if (!number_at(t, t->functions_off + i * 2 * t->number_size, t->number_size, addr))
		return false;
	*addr += t->text_addr;
	return true;
}

static const char *name_at(const struct go_table *t, uint64_t i)
{
	uint64_t entry, name;

	if (!number_at(
		    t, t->functions_off + (2 * i + 1) * t->number_size, t->number_size, &entry) ||
		entry > t->size ||
		!number_at(t, t->functions_off + entry + t->name_field, 4, &name))
		return NULL;
	uint64_t off = t->names_off + name;
	if (off >= t->size || memchr(t->bytes + off, '\0', t->size - off) == NULL)
		return NULL;
	return (const char *)t->bytes + off;
}

bool go_functions_each(struct objfile *object,
	void (*visit)(void *context, uint64_t low, uint64_t high, const char *name), void *context)
{
	struct go_table t;
	uint64_t low, high;

	if (!read_header(object, &t))
		return false;
	for (uint64_t i = 0; i < t.count; i++) {
		const char *name = name_at(&t, i);
		/* The table ends with an address without a function. */
		if (name && name[0] && address_at(&t, i, &low) && address_at(&t, i + 1, &high) &&
			low < high)
			visit(context, low, high, name);
	}
	return t.count != 0;
}
