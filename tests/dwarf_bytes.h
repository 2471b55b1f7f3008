#ifndef SONDE_TESTS_DWARF_BYTES_H
#define SONDE_TESTS_DWARF_BYTES_H

/*
 * Writes DWARF sections byte by byte, for tests and fuzz seeds.
 */

#include <stdint.h>

#include "base/str.h"

void put_u8(struct strbuf *out, unsigned int value);
void put_u16(struct strbuf *out, unsigned int value);
void put_u32(struct strbuf *out, uint64_t value);
void put_u64(struct strbuf *out, uint64_t value);
void put_uleb(struct strbuf *out, uint64_t value);
void put_sleb(struct strbuf *out, int64_t value);
void put_string(struct strbuf *out, const char *s); /* with its NUL */
/* Reserves four bytes for a length; put_length_end writes what came since into them. */
size_t put_length_begin(struct strbuf *out);
void put_length_end(struct strbuf *out, size_t begin);

/* One abbreviation: pairs of attribute and form, ended by a 0 attribute. */
void put_abbrev(struct strbuf *out, uint64_t code, unsigned int tag, int has_children,
	const uint16_t (*attrs)[2]);

#endif
