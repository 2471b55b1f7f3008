#ifndef SONDE_AGENT_DIGESTS_H
#define SONDE_AGENT_DIGESTS_H

/*
 * When profiles without a time of their own came first, by their digests, so that one that is sent
 * again gets the same time, and is the same profile.
 *
 *	digests_open(&d, path, keep_s);
 *	time_s = digests_time(&d, digest, now_s);
 *	digests_close(&d);
 *
 * A digest is forgotten keep_s after it came, and before that when DIGESTS_MAX newer ones have
 * come.  The file survives the process, and has at most twice as many entries: 1.5 MiB.
 */

#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

#define DIGESTS_MAX 65536u

struct digests_entry {
	uint64_t digest;
	uint32_t time_s; /* since 1970 */
};

struct digests {
	char *path;
	int fd;				   /* appends to the file; -1: it cannot be written */
	uint64_t keep_s;		   /* 0: without a limit */
	struct map time_of;		   /* in s since 1970 */
	VEC(struct digests_entry) entries; /* oldest first; those before `first` are forgotten */
	size_t first;
	size_t in_file; /* entries */
};

/* A file that is damaged or missing is the same as an empty one. */
void digests_open(struct digests *d, const char *path, uint64_t keep_s);
void digests_close(struct digests *d);
/* When the digest came first; it is remembered in the file before this returns. */
uint32_t digests_time(struct digests *d, uint64_t digest, uint32_t now_s);

#endif
