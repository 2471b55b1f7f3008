#ifndef SONDE_STORE_IDENTITY_H
#define SONDE_STORE_IDENTITY_H

/*
 * Numbers that all machines compute alike for equal things: 64-bit XXH3 hashes of their contents.
 * With ten million stacks in a service, the probability that any two collide is 3 in a million.
 */

#include <stdint.h>

#include "base/str.h"
#include "model/profile.h"

uint64_t identity_bytes(struct str bytes);
/* Of a sequence: what begins with `before`, followed by `next`. */
uint64_t identity_after(uint64_t before, uint64_t next);
/* Of a frame: its load object, address, function and line.  scratch: for reuse, overwritten. */
uint64_t identity_frame(const struct profile *p, const struct frame *frame, struct strbuf *scratch);
/*
 * Of a recording that began then on this host: of all that it measured, but not of the names that
 * may be added to it later.
 */
uint64_t identity_recording(const struct profile *p, struct str host, uint64_t start_unix_ns);
/* Of a service's empty stack.  Another stack's is identity_after(its parent's, its frame's). */
uint64_t identity_service(struct str service);

#endif
