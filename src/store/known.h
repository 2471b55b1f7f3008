#ifndef SONDE_STORE_KNOWN_H
#define SONDE_STORE_KNOWN_H

/*
 * Which stacks and frames a sender's store has already, so that they are not sent again each
 * minute: most of a minute's are those of the minute before.  Each is sent again after a day, which
 * keeps it from being forgotten there.  In a file, which may be lost at any time: then all are sent
 * once more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

/* Most entries, 32 bytes each in memory; when there are more, all are forgotten. */
#define KNOWN_MAX (UINT32_C(1) << 18)

struct known {
	struct map sent_s; /* by hash: when it was sent, in s since 1970 */
	uint64_t now_s;
};

/* Reads the file; one that is missing or damaged is as good as empty. */
void known_load(struct known *k, const char *path, uint64_t now_s);
/* Replaces the file as a whole. */
must_use struct error *known_save(const struct known *k, const char *path);
void known_deinit(struct known *k);

/* Whether the store has it, and need not get it again today. */
bool known_has(const struct known *k, uint64_t hash);
/* The store has it now. */
void known_add(struct known *k, uint64_t hash);

#endif
