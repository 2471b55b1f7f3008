#ifndef SONDE_OBJ_CFI_READ_H
#define SONDE_OBJ_CFI_READ_H

/* The two most frequent reads of a CFI program, inline; base/cursor.h has the others. */

#include "base/compiler.h"
#include "base/cursor.h"

static inline uint8_t cfi_read_u8(struct cursor *c)
{
	return likely(c->at < c->end) ? *c->at++ : cursor_u8(c);
}

static inline uint64_t cfi_read_uleb(struct cursor *c)
{
	return likely(c->at < c->end && *c->at < 0x80) ? *c->at++ : cursor_uleb(c);
}

#endif
