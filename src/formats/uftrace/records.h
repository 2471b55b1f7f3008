#ifndef SONDE_FORMATS_UFTRACE_RECORDS_H
#define SONDE_FORMATS_UFTRACE_RECORDS_H

/*
 * What a thread did: the records of its TID.dat, one after the other.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

enum uftrace_kind { UFTRACE_ENTRY, UFTRACE_EXIT, UFTRACE_LOST, UFTRACE_EVENT };

struct uftrace_record {
	uint64_t time_ns;
	enum uftrace_kind kind;
	bool has_more; /* arguments, a return value or an event's data follow */
	uint32_t depth;
	uint64_t addr; /* of the function; of UFTRACE_LOST: how many records */
};

#define UFTRACE_RECORD_SIZE 16u
#define UFTRACE_DEPTHS	    1024u /* that a record can tell */

struct uftrace_records {
	const uint8_t *data;
	size_t size, at;
	uint64_t now_ns;     /* of the last record */
	const char *problem; /* why reading ended before the end, at `at`; NULL: it did not */
	uint64_t open[UFTRACE_DEPTHS]; /* [depth]: address of the last entry there; 0: none yet */
};

void uftrace_records_init(struct uftrace_records *r, const struct file_bytes *bytes);
/* The next record; false: there is none any more. */
bool uftrace_records_next(struct uftrace_records *r, struct uftrace_record *record);

#endif
