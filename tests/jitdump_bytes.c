/*
 * Writes jitdumps.  See jitdump_bytes.h.
 */
#include "jitdump_bytes.h"

#include <string.h>

void jitdump_bytes_put(struct jitdump_bytes *w, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		strbuf_add_char(&w->out, (char)(number >> 8 * (w->is_swapped ? size - 1 - i : i)));
}

void jitdump_bytes_header(struct jitdump_bytes *w, uint64_t flags)
{
	jitdump_bytes_put(w, 0x4a695444, 4);
	jitdump_bytes_put(w, 1, 4);
	jitdump_bytes_put(w, 40, 4);
	jitdump_bytes_put(w, 62, 4);
	jitdump_bytes_put(w, 0, 4);
	jitdump_bytes_put(w, 7, 4);
	jitdump_bytes_put(w, 1, 8);
	jitdump_bytes_put(w, flags, 8);
}

void jitdump_bytes_record(
	struct jitdump_bytes *w, uint32_t kind, uint64_t time_ns, size_t body_size)
{
	jitdump_bytes_put(w, kind, 4);
	jitdump_bytes_put(w, 16 + body_size, 4);
	jitdump_bytes_put(w, time_ns, 8);
}

void jitdump_bytes_load(
	struct jitdump_bytes *w, uint64_t time_ns, uint64_t low, uint64_t size, const char *name)
{
	struct str text = {name, strlen(name) + 1};

	jitdump_bytes_record(w, 0, time_ns, 40 + text.size + 3);
	jitdump_bytes_put(w, 7, 4);
	jitdump_bytes_put(w, 7, 4);
	jitdump_bytes_put(w, low, 8);
	jitdump_bytes_put(w, low, 8);
	jitdump_bytes_put(w, size, 8);
	jitdump_bytes_put(w, 1, 8);
	strbuf_add(&w->out, text);
	jitdump_bytes_put(w, 0xcccccc, 3);
}

void jitdump_bytes_move(
	struct jitdump_bytes *w, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t size)
{
	jitdump_bytes_record(w, 1, time_ns, 48);
	jitdump_bytes_put(w, 7, 4);
	jitdump_bytes_put(w, 7, 4);
	jitdump_bytes_put(w, to, 8);
	jitdump_bytes_put(w, from, 8);
	jitdump_bytes_put(w, to, 8);
	jitdump_bytes_put(w, size, 8);
	jitdump_bytes_put(w, 1, 8);
}
