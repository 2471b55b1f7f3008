/*
 * Build IDs in ELF notes: sizes of name and contents, a type, the name, the contents.
 *
 * Source: the Linux Standard Base on notes, and GNU ld's --build-id.
 */
#include "obj/build_id.h"

#include <elf.h>
#include <string.h>

#include "base/cursor.h"

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
