/*
 * Build IDs in ELF notes: sizes of name and contents, a type, the name, the contents.
 *
 * Source: the Linux Standard Base on notes, and GNU ld's --build-id.
 */
#include "obj/build_id.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"

/* Larger notes are not read, nor are further program headers. */
enum { NOTES_SIZE_MAX = 1 << 14, SEGMENT_COUNT_MAX = 64, NOTE_SEGMENTS_MAX = 4 };

static size_t put_hex(const uint8_t *id, size_t size, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[id[i] >> 4];
		text[2 * i + 1] = digits[id[i] & 15];
	}
	text[2 * size] = '\0';
	return 2 * size;
}

size_t build_id_in_notes(const void *notes, size_t size, uint64_t alignment, build_id_text text)
{
	uint64_t pad = alignment == 8 ? 7 : 3;
	struct cursor c;

	text[0] = '\0';
	cursor_init(&c, notes, size, "notes", 0);
	while (cursor_ok(&c) && cursor_left(&c) >= 12) {
		uint32_t name_size = cursor_u32(&c), id_size = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const uint8_t *name = cursor_bytes(&c, name_size);
		cursor_skip(&c, -cursor_offset(&c) & pad);
		const uint8_t *id = cursor_bytes(&c, id_size);
		if (id && name && type == NT_GNU_BUILD_ID && name_size == 4 &&
			memcmp(name, "GNU", 4) == 0 && id_size && id_size <= BUILD_ID_SIZE_MAX)
			return put_hex(id, id_size, text);
		/* The last note may lack padding. */
		uint64_t padding = -cursor_offset(&c) & pad;
		cursor_skip(&c, padding < cursor_left(&c) ? padding : cursor_left(&c));
	}
	return 0;
}

/* ---- a file, or its image in memory ---- */

/* The program headers of an ELF file, as those of a 64-bit one. */
struct segments {
	Elf64_Phdr rows[SEGMENT_COUNT_MAX];
	size_t count;
};

static size_t count_segments(size_t count, size_t entry_size, size_t expected_size)
{
	if (entry_size != expected_size)
		return 0;
	return count < SEGMENT_COUNT_MAX ? count : SEGMENT_COUNT_MAX;
}

static void read_segments64(
	const struct build_id_source *source, const Elf64_Ehdr *header, struct segments *s)
{
	size_t count = count_segments(header->e_phnum, header->e_phentsize, sizeof(s->rows[0]));

	if (source->read(source->context, header->e_phoff, s->rows, count * sizeof(s->rows[0])))
		s->count = count;
}

static void read_segments32(
	const struct build_id_source *source, const Elf32_Ehdr *header, struct segments *s)
{
	Elf32_Phdr rows[SEGMENT_COUNT_MAX];
	size_t count = count_segments(header->e_phnum, header->e_phentsize, sizeof(rows[0]));

	if (!source->read(source->context, header->e_phoff, rows, count * sizeof(rows[0])))
		return;
	for (; s->count < count; s->count++)
		s->rows[s->count] = (Elf64_Phdr){.p_type = rows[s->count].p_type,
			.p_offset = rows[s->count].p_offset,
			.p_vaddr = rows[s->count].p_vaddr,
			.p_filesz = rows[s->count].p_filesz,
			.p_align = rows[s->count].p_align};
}

/* False: it does not begin as a little-endian ELF file. */
static bool read_segments(const struct build_id_source *source, struct segments *s)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} header;

	if (!source->read(source->context, 0, &header, sizeof(header)) ||
		memcmp(header.ident, ELFMAG, SELFMAG) != 0 || header.ident[EI_DATA] != ELFDATA2LSB)
		return false;
	if (header.ident[EI_CLASS] == ELFCLASS64)
		read_segments64(source, &header.wide, s);
	else if (header.ident[EI_CLASS] == ELFCLASS32)
		read_segments32(source, &header.narrow, s);
	return true;
}

/* The address that the file gives its header. */
static uint64_t header_address(const struct segments *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->rows[i].p_type == PT_LOAD)
			return s->rows[i].p_vaddr - s->rows[i].p_offset;
	return 0;
}

void build_id_read(const struct build_id_source *source, build_id_text text, bool *is_elf)
{
	struct segments *s = xalloc(sizeof(*s));
	uint8_t *notes = xalloc(NOTES_SIZE_MAX);
	int left = NOTE_SEGMENTS_MAX;

	text[0] = '\0';
	*is_elf = read_segments(source, s);
	uint64_t base = source->is_image ? header_address(s) : 0;

	for (size_t i = 0; i < s->count && left > 0 && !text[0]; i++) {
		const Elf64_Phdr *segment = &s->rows[i];
		uint64_t at = (source->is_image ? segment->p_vaddr : segment->p_offset) - base;

		if (segment->p_type != PT_NOTE || segment->p_filesz > NOTES_SIZE_MAX)
			continue;
		left--;
		if (source->read(source->context, at, notes, segment->p_filesz))
			build_id_in_notes(notes, segment->p_filesz, segment->p_align, text);
	}
	free(notes);
	free(s);
}
