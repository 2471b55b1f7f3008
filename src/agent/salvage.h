#ifndef SONDE_AGENT_SALVAGE_H
#define SONDE_AGENT_SALVAGE_H

/*
 * Drafts: segments that a killed agent has not finished.  Each is read as far as it is whole, and
 * is a segment like others if it has a sample; its note says that it was cut off.  The ledger
 * learns how far it reaches, and whether it has the notes that it was given.
 */

#include <stdint.h>

#include "agent/spool.h"

struct salvage {
	uint64_t kept, kept_bytes, nameless; /* nameless: among the kept ones */
	uint64_t empty;			     /* without a sample: removed */
	uint64_t unreadable;		     /* dropped */
};

/*
 * Takes the drafts of spool_open into the spool.  They are read by a process that may take so much
 * more memory; one that it does not suffice for is kept unread.
 */
void salvage_drafts(struct spool *s, uint64_t memory_bytes, struct salvage *result);

#endif
