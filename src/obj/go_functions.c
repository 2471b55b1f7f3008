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

#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "base/cursor.h"
#include "obj/objfile.h"

enum {
	MAGIC_1_2 = 0xfffffffb,
	MAGIC_1_16 = 0xfffffffa,
	MAGIC_1_18 = 0xfffffff0,
	MAGIC_1_20 = 0xfffffff1
};
enum { POINTER_SIZE = 8, TABLE_ALIGNMENT = 8 };

struct go_table {
	const uint8_t *bytes;
	size_t size;
	uint64_t count;
	uint64_t functions_off; /* of the table by address; also the base of entries' offsets */
	uint64_t names_off;
	uint64_t text_addr;	  /* the base of its addresses */
	uint64_t text_field_addr; /* where the header states it; 0: it does not */
	unsigned int number_size; /* of numbers in the table by address */
	unsigned int name_field;  /* offset of the name's position in an entry */
};

/* The word at an address that the loader fills in by a relocation, as it is in the file. */
static bool relocated_word(struct objfile *object, uint64_t addr, uint64_t *word)
{
	const struct arch *arch = arch_of_machine(objfile_machine(object));
	struct objfile_section relocations;
	Elf64_Rela one;

	if (!arch || !objfile_section_of_type(object, SHT_RELA, &relocations) || !relocations.bytes)
		return false;
	for (size_t off = 0; off + sizeof(one) <= relocations.size; off += sizeof(one)) {
		memcpy(&one, relocations.bytes + off, sizeof(one));
		if (one.r_offset == addr && ELF64_R_TYPE(one.r_info) == arch->relative_relocation) {
			*word = (uint64_t)one.r_addend;
			return true;
		}
	}
	return false;
}

/*
 * In position-independent programs, the loader fills in the base of addresses.  Where C's linker
 * made them, C's code begins the text.
 */
static void find_text_addr(struct objfile *object, struct go_table *t)
{
	struct objfile_section text;

	if (t->text_field_addr == 0 || t->text_addr != 0 ||
		relocated_word(object, t->text_field_addr, &t->text_addr))
		return;
	if (objfile_section(object, ".text", &text))
		t->text_addr = text.obj_addr;
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

static void read_header_1_18(struct cursor *c, uint64_t table_addr, struct go_table *t)
{
	t->count = cursor_u64(c);
	cursor_skip(c, POINTER_SIZE);
	t->text_field_addr = table_addr + cursor_offset(c);
	t->text_addr = cursor_u64(c);
	t->names_off = cursor_u64(c);
	cursor_skip(c, 3 * POINTER_SIZE);
	t->functions_off = cursor_u64(c);
	t->number_size = 4;
	t->name_field = 4;
}

static bool read_header(const struct objfile_section *section, struct go_table *t)
{
	struct cursor c;

	*t = (struct go_table){.bytes = section->bytes, .size = section->size};
	cursor_init(&c, t->bytes, t->size, ".gopclntab", 0);
	uint32_t magic = cursor_u32(&c);
	bool has_zeros = cursor_u8(&c) == 0 && cursor_u8(&c) == 0;
	cursor_skip(&c, 1); /* the alignment of code addresses */
	if (cursor_u8(&c) != POINTER_SIZE || !has_zeros)
		return false;
	if (magic == MAGIC_1_2)
		read_header_1_2(&c, t);
	else if (magic == MAGIC_1_16)
		read_header_1_16(&c, t);
	else if (magic == MAGIC_1_18 || magic == MAGIC_1_20)
		read_header_1_18(&c, section->obj_addr, t);
	else
		return false;
	return cursor_ok(&c) && t->names_off <= t->size && t->functions_off <= t->size &&
	       t->count < (t->size - t->functions_off) / (2 * t->number_size);
}

/*
 * C's linker, which makes position-independent programs and shared libraries with cgo, puts the
 * table into other data.  It begins with a recognizable header.
 */
static bool find_in_data(struct objfile *object, struct go_table *t)
{
	struct objfile_section data, info;

	if (!objfile_header_named(object, ".go.buildinfo", &info) ||
		!objfile_section(object, ".data.rel.ro", &data) || !data.bytes)
		return false;
	for (; data.size >= TABLE_ALIGNMENT; data.size -= TABLE_ALIGNMENT) {
		if (read_header(&data, t) && t->count > 0)
			return true;
		data.bytes += TABLE_ALIGNMENT;
		data.obj_addr += TABLE_ALIGNMENT;
	}
	return false;
}

static bool find_table(struct objfile *object, struct go_table *t)
{
	struct objfile_section section;

	if (!objfile_section(object, ".gopclntab", &section) &&
		!objfile_section(object, ".data.rel.ro.gopclntab", &section))
		return find_in_data(object, t);
	return section.bytes && read_header(&section, t);
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

	if (!find_table(object, &t))
		return false;
	find_text_addr(object, &t);
	for (uint64_t i = 0; i < t.count; i++) {
		const char *name = name_at(&t, i);
		/* The table ends with an address without a function. */
		if (name && name[0] && address_at(&t, i, &low) && address_at(&t, i + 1, &high) &&
			low < high)
			visit(context, low, high, name);
	}
	return t.count != 0;
}
