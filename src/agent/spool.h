#ifndef SONDE_AGENT_SPOOL_H
#define SONDE_AGENT_SPOOL_H

/*
 * A folder of segments, which is also the store of a single machine.
 *
 *	20261127T213348Z-000042.prof	a whole segment: start (UTC), a number; names sort by time
 *	20261127T213348Z-000042-0123456789abcdef.prof
 *					one that was received: and a digest of what it is
 *	.tmp/				segments being written, and nothing else
 *	.lock				locked by the agent that writes here
 *	.in/, .sent/			what the agent's processes of less rights write
 *	.ledger				what was lost, and how far the agent has sampled (ledger.h)
 *
 * A segment is written in .tmp and renamed when it is whole.  What a kill left in .tmp is a draft
 * (salvage.h), or is removed when the folder is opened.
 */

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/ledger.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#define SPOOL_ENDING ".prof"

struct spool_entry {
	char *name;
	uint64_t bytes;
	int64_t time_s;	 /* when it was written, since 1970 */
	uint32_t number; /* in its name */
	uint32_t queue;	 /* of the sender, from 1; 0: not known yet */
};

struct spool {
	char *path;
	int fd, temporary_fd; /* the folder, and .tmp */
	int lock_fd;
	uint32_t next;			 /* number of the next segment */
	VEC(struct spool_entry) entries; /* whole segments, oldest first */
	uint64_t bytes;			 /* of all */
	const char *under_way;		 /* the name of one that is being sent; NULL: none */
	uint64_t removed_temporary;	 /* by spool_open */
	VEC(char *) drafts;		 /* names of what a kill left in .tmp */
	struct ledger ledger;
};

/* One that is not open. */
#define SPOOL_NONE ((struct spool){.fd = -1, .temporary_fd = -1, .lock_fd = -1, .ledger.fd = -1})

/*
 * Creates the folder if it is missing, locks it and lists its segments.  Fails if another agent has
 * it, or if it is not an own one (base/own_folder.h).
 */
must_use struct error *spool_open(struct spool *s, const char *path);
/* A folder in it, which is made if it is missing; group: as in own_folder_open_in. */
must_use struct error *spool_part(const struct spool *s, const char *name, int64_t group, int *fd);
/* The entries of the folder, from its start; NULL: it cannot be read. */
DIR *spool_list(int folder);
/* Unlocks; one that is not open is allowed. */
void spool_close(struct spool *s);
/* For a child process: the lock stays with the parent. */
void spool_leave_lock(struct spool *s);

/* A new segment that starts then, as a name to be freed; and its paths, to be freed. */
char *spool_new_name(struct spool *s, uint64_t start_unix_ns);
/* The same for one that was received; digest: of what it is. */
char *spool_received_name(struct spool *s, uint64_t start_unix_ns, struct str digest);
/* Whether the spool has a segment that was received with the time and the digest in this name. */
bool spool_has_received(const struct spool *s, const char *name);
/* "-0123456789abcdef.prof" in the name of one that was received; NULL: it was not. */
const char *spool_digest(const char *name);
char *spool_temporary_path(const struct spool *s, const char *name);
char *spool_path(const struct spool *s, const char *name);
/* The written segment is whole now: renames it, and adds it. */
must_use struct error *spool_take(struct spool *s, const char *name);
/* The number in the name of a segment. */
uint32_t spool_number(const char *name);
/* Removes an entry that nobody got, and its file; counted as dropped. */
must_use struct error *spool_drop(struct spool *s, size_t entry);
/* The same for the file of one that is not whole, in .tmp. */
void spool_drop_draft(struct spool *s, const char *name);
/* Removes an entry, and its file. */
must_use struct error *spool_remove(struct spool *s, size_t entry);
/*
 * Drops the oldest segments until at most `most` bytes are left, and those written before oldest_s.
 * Always keeps the newest, and the one under way, which would be counted as dropped and sent.
 */
void spool_limit(struct spool *s, uint64_t most, int64_t oldest_s);

/* Drops the oldest segment as spool_limit does; false: there is none that may be dropped. */
bool spool_drop_oldest(struct spool *s);
/* Drops the oldest segments as spool_limit does, until so much is free on the disk. */
void spool_make_room(struct spool *s, uint64_t bytes);

#endif
