#ifndef SONDE_STORE_IDENTITY_H
#define SONDE_STORE_IDENTITY_H

/*
 * Numbers for things that many machines must number alike: XXH3 (64 bits) of what they are.  With
 * ten million stacks in a service, two have the same number with a probability of 3 in a million.
 */

#include <stdint.h>

#include "base/str.h"
#include "model/profile.h"

uint64_t identity_bytes(struct str bytes);
/* Of a sequence that begins with `before`. */
uint64_t identity_after(uint64_t before, uint64_t next);
/* A frame: its load object, address, function and line. */
uint64_t identity_frame(const struct profile *p, const struct frame *frame, struct strbuf *scratch);
/* Of the empty stack of a service; a stack's is identity_after of its parent's and its frame's. */
uint64_t identity_service(struct str service);

#endif
