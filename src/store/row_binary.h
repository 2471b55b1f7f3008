#ifndef SONDE_STORE_ROW_BINARY_H
#define SONDE_STORE_ROW_BINARY_H

/*
 * ClickHouse's format RowBinary: the columns of each row one after the other, numbers of fixed size
 * in little-endian order, strings and arrays after their length as LEB128.  Names travel only in
 * it, so that no name can become SQL.  Reading is base/cursor.h's, and what is below.
 */

#include "base/cursor.h"
#include "base/str.h"

void row_put_u8(struct strbuf *b, uint8_t value);
void row_put_u16(struct strbuf *b, uint16_t value);
void row_put_u32(struct strbuf *b, uint32_t value);
void row_put_u64(struct strbuf *b, uint64_t value);
void row_put_string(struct strbuf *b, struct str s);
/* How many elements follow. */
void row_put_count(struct strbuf *b, uint64_t count);

/* Borrowed from the bytes that are read; empty at and after a failure. */
struct str row_string(struct cursor *c);
/* An array's count; fails if it has more elements of at least that many bytes than can follow. */
uint64_t row_count(struct cursor *c, size_t element_bytes);

#endif
