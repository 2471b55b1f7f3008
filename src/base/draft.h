#ifndef SONDE_BASE_DRAFT_H
#define SONDE_BASE_DRAFT_H

/*
 * Files that are whole or not there: written as a draft beside the old one, which it then replaces.
 * A draft is always a new file with a name of its own, so neither a link nor a file that somebody
 * put there is ever written to.
 *
 *	err = draft_open(&draft, AT_FDCWD, path, 0600);
 *	… write to draft.fd …
 *	err = draft_end(&draft, err);
 */

#include <sys/types.h>

#include "base/error.h"

/* A draft that was left by a process that was killed ends so. */
#define DRAFT_ENDING ".new"

struct draft {
	int folder; /* O_PATH */
	int fd;
	char *name; /* in the folder, once it is whole */
	char *part; /* until then */
	char *path; /* as it was given, for messages */
};

/* path: as in openat(2); links above its last name are followed. */
must_use struct error *draft_open(struct draft *d, int folder, const char *path, mode_t mode);
/*
 * In a folder with the set-group-ID bit, which marks it as shared, the group may also read the
 * file.
 */
void draft_share(const struct draft *d);
/* Puts it in place, or removes it if err is set; returns err, or what failed. */
must_use struct error *draft_end(struct draft *d, struct error *err);

#endif
