#ifndef SONDE_RECORD_ENGINES_PERF_RING_H
#define SONDE_RECORD_ENGINES_PERF_RING_H

/*
 * The ring buffer that the kernel shares with us, one for each event and CPU: the kernel adds
 * records of varying length at the head, we remove them at the tail.  The first thread that checks
 * a ring moves all records to a backlog, from which they are processed.  So the kernel has room,
 * however long processing takes.
 *
 * struct ring_merge takes records out of many rings, ordered by time.
 */

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* ---- the backlog ---- */

/*
 * Records that have left the kernel's rings and wait to be processed: a queue for each ring, made
 * of blocks from one pool.
 *
 * Any thread that holds the lock may add records.  One thread, always the same, removes them, and
 * needs the lock only once per block.
 *
 * Memory: at most BACKLOG_BYTES for all queues, plus one block for each queue.  Blocks are
 * allocated when first needed, and reused.
 */

#define BACKLOG_BYTES	    ((size_t)64 << 20)
#define BACKLOG_BLOCK_BYTES ((size_t)128 << 10)

/* How much of the pool a record may use, so that a flood of one kind leaves room for others. */
enum backlog_rank {
	BACKLOG_SPARE, /* half: what it reports can be estimated */
	BACKLOG_USUAL, /* seven eighths */
	BACKLOG_VITAL, /* all: other records are meaningless without it */
	BACKLOG_RANKS
};

struct backlog_block;

struct backlog {
	pthread_mutex_t lock;
	/* Under the lock. */
	struct backlog_block *spare;
	size_t most[BACKLOG_RANKS]; /* blocks */
	size_t used;		    /* blocks, without the last one of each queue */
};

struct backlog_queue {
	struct backlog_block *first; /* the reader's */
	struct backlog_block *last;  /* the writers', under the lock */
	size_t taken_bytes;	     /* of the first block; the reader's */
};

/* bytes_most: for all queues, rounded down to blocks. */
void backlog_init(struct backlog *b, size_t bytes_most);
/* All queues must have been cleared. */
void backlog_deinit(struct backlog *b);
void backlog_lock(struct backlog *b);
void backlog_unlock(struct backlog *b);

/*
 * With the lock held: room for size bytes, a multiple of 8 and at most a block.  NULL: the part of
 * the pool for this rank is used up.
 */
void *backlog_room(struct backlog *b, struct backlog_queue *q, size_t size, enum backlog_rank rank);
/* With the lock held: makes this many bytes of the last room visible to the reader. */
void backlog_put(struct backlog_queue *q, size_t size);

/* For the reader: the oldest bytes, or NULL; valid until backlog_take. */
const void *backlog_next(struct backlog *b, struct backlog_queue *q);
/* The oldest bytes have been processed. */
void backlog_take(struct backlog_queue *q, size_t size);
/* Drops all waiting records; a zeroed queue is allowed.  The queue must no longer be in use. */
void backlog_clear(struct backlog *b, struct backlog_queue *q);

/* The part of the pool that is in use, from 0 to 1. */
double backlog_level(const struct backlog *b);

/* ---- rings ---- */

struct ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const uint8_t *data;
	size_t size_bytes; /* of data; a power of two */
	uint64_t tail;	   /* records up to here were moved; under the lock */
	uint8_t *joined;   /* holds a record that wraps, joined; NULL until the first */
	struct backlog *backlog;
	struct backlog_queue queue;
	bool is_behind; /* the queue lacks some of the records that ring_look saw */
	enum backlog_rank rank;
	/* The form of its records; false unless set. */
	bool has_stacks; /* samples have a period and end in a copy of the stack */
	bool has_chain;	 /* and have call chains */
};

/* Maps the ring of an event. 0, or the errno of mmap. */
int ring_map(struct ring *r, struct backlog *backlog, int fd, size_t size_bytes);
/* Uses memory that the caller fills, through page's data_head and data_tail.  For tests. */
void ring_attach(struct ring *r, struct backlog *backlog, struct perf_event_mmap_page *page,
	const void *data, size_t size);
/* Unmaps what ring_map mapped, frees the rest; a zeroed ring is allowed. */
void ring_unmap(struct ring *r);
/*
 * May be called from any thread: moves all records now in the ring to the backlog.  False: the
 * backlog has no room for all.
 */
bool ring_move(struct ring *r);

/* The rest is only for the thread that processes the records. */

/* Reads how far the kernel has written. */
void ring_look(struct ring *r);
/* The oldest record; NULL: none up to the last ring_look.  Valid until ring_release. */
const struct perf_event_header *ring_record(struct ring *r);
/* The oldest record has been processed. */
void ring_release(struct ring *r);

struct ring_lane {
	struct ring *ring;
	const struct perf_event_header *record; /* the ring's oldest; NULL: none */
	uint64_t time_ns;			/* of the record */
};

struct ring_merge {
	VEC(struct ring_lane) lanes;
	struct ring_lane *current; /* the lane of the record handed out last */
};

void ring_merge_add(struct ring_merge *merge, struct ring *ring);
void ring_merge_deinit(struct ring_merge *merge);
/* Begins a round: reads how far the kernel has written to each ring. */
void ring_merge_look(struct ring_merge *merge);
/*
 * The oldest record of all rings up to horizon_ns, or NULL.  Valid until the next call, which
 * releases it.
 */
const struct perf_event_header *ring_merge_next(struct ring_merge *merge, uint64_t horizon_ns);

#endif
