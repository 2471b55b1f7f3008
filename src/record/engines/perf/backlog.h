#ifndef SONDE_RECORD_ENGINES_PERF_BACKLOG_H
#define SONDE_RECORD_ENGINES_PERF_BACKLOG_H

/*
 * Records that have left the kernel's rings and wait to be processed: a queue for each ring, made
 * of blocks from one pool.
 *
 * Any thread that holds the lock may put records in; one thread, always the same, takes them out
 * and needs the lock only once per block.
 *
 * Memory: at most BACKLOG_BYTES for all queues, and one block more for each queue.  Blocks are
 * allocated when first needed and reused.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define BACKLOG_BYTES	    ((size_t)64 << 20)
#define BACKLOG_BLOCK_BYTES ((size_t)128 << 10)

/* How much of the pool a record may use up, so that floods of one kind leave room for others. */
enum backlog_rank {
	BACKLOG_SPARE, /* half: what can be estimated without it */
	BACKLOG_USUAL, /* seven eighths */
	BACKLOG_VITAL, /* all: what other records can't be understood without */
	BACKLOG_RANKS
};

struct backlog_block;

struct backlog {
	pthread_mutex_t lock;
	/* Under the lock. */
	struct backlog_block *spare;
	size_t most[BACKLOG_RANKS]; /* blocks */
	size_t used;		    /* blocks, but for the last one of each queue */
};

struct backlog_queue {
	struct backlog_block *first; /* the reader's */
	struct backlog_block *last;  /* the writers', under the lock */
	size_t taken_bytes;	     /* of the first block; the reader's */
};

/* bytes_most: of all queues, rounded down to blocks. */
void backlog_init(struct backlog *b, size_t bytes_most);
/* All queues have been cleared. */
void backlog_deinit(struct backlog *b);
void backlog_lock(struct backlog *b);
void backlog_unlock(struct backlog *b);

/*
 * With the lock held: room for size bytes, a multiple of 8 and at most a block; NULL: what its
 * rank may use of the pool is used up.
 */
void *backlog_room(struct backlog *b, struct backlog_queue *q, size_t size, enum backlog_rank rank);
/* With the lock held: the room obtained last now holds so many bytes for the reader. */
void backlog_put(struct backlog_queue *q, size_t size);

/* The reader's: where the oldest bytes are, or NULL; valid until backlog_take. */
const void *backlog_next(struct backlog *b, struct backlog_queue *q);
/* The oldest bytes have been processed. */
void backlog_take(struct backlog_queue *q, size_t size);
/* Drops all that waits; a zeroed queue is fine.  Nobody else uses the queue any more. */
void backlog_clear(struct backlog *b, struct backlog_queue *q);

/* The part of the pool that is in use, from 0 to 1. */
double backlog_level(const struct backlog *b);

#endif
