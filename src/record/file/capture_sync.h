#ifndef SONDE_RECORD_FILE_CAPTURE_SYNC_H
#define SONDE_RECORD_FILE_CAPTURE_SYNC_H

/*
 * Brings what was written to the disk itself, now and then, in a thread of its own: fdatasync may
 * take longer than a ring buffer takes to fill.
 */

#include <stdint.h>

#include "base/compiler.h"

struct capture_sync;

/* fd is borrowed.  The thread starts with the first request that is due. */
must_use returns_owned struct capture_sync *capture_sync_create(int fd);
/* Waits for a running fdatasync.  NULL is fine. */
void capture_sync_destroy(struct capture_sync *s);
/* Has fdatasync called if the last was five seconds ago.  Never waits. */
void capture_sync_request(struct capture_sync *s, uint64_t now_ns);

#endif
