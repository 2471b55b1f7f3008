#ifndef SONDE_TESTS_JITDUMP_BYTES_H
#define SONDE_TESTS_JITDUMP_BYTES_H

/*
 * The bytes of a jitdump: a header and records, of either byte order.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct jitdump_bytes {
	struct strbuf out;
	bool is_swapped;
};

/* A number of that many bytes. */
void jitdump_bytes_put(struct jitdump_bytes *w, uint64_t number, size_t size);
void jitdump_bytes_header(struct jitdump_bytes *w, uint64_t flags);
/* A record's head, which a body of that many bytes has to follow. */
void jitdump_bytes_record(
	struct jitdump_bytes *w, uint32_t kind, uint64_t time_ns, size_t body_size);
/* Code of three bytes, which is said to take `size`. */
void jitdump_bytes_load(
	struct jitdump_bytes *w, uint64_t time_ns, uint64_t low, uint64_t size, const char *name);
void jitdump_bytes_move(
	struct jitdump_bytes *w, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t size);

#endif
