#ifndef SONDE_STORE_KNOWN_H
#define SONDE_STORE_KNOWN_H

/*
 * The stacks and frames that a sender's store already has, so that they are not sent again each
 * minute: most of a minute's are those of the minute before.  Each is sent again after a day, so
 * that the store does not drop it as old, and all at once if the store was made anew.  They are
 * kept in a file, which may be lost at any time; then all are sent once more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

/* The most entries, 12 MiB of memory.  One more, and all are forgotten. */
#define KNOWN_MAX (UINT32_C(1) << 18)

struct known {
	struct map sent_s; /* by hash: when it was last sent, in s since 1970 */
	uint64_t now_s;
	uint32_t birth_s; /* of the store that has them; 0: not known */
};

/* Reads the file.  A missing or damaged one counts as empty.  now_s: since 1970. */
void known_load(struct known *k, const char *path, uint64_t now_s);
/* Forgets all, unless they were sent to the store that was made at that time, since 1970. */
void known_check_birth(struct known *k, uint32_t birth_s);
/* Replaces the file atomically; ERROR_SYSTEM if it cannot be written. */
must_use struct error *known_save(const struct known *k, const char *path);
void known_deinit(struct known *k);

/* Whether the store has it, and it was sent less than a day ago. */
bool known_has(const struct known *k, uint64_t hash);
/* Marks it as sent now. */
void known_add(struct known *k, uint64_t hash);

#endif
