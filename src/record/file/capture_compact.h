#ifndef SONDE_RECORD_FILE_CAPTURE_COMPACT_H
#define SONDE_RECORD_FILE_CAPTURE_COMPACT_H

/*
 * Rewrites a finished capture file with few large chunks instead of many small ones, which about
 * halves its size: chunks of 100 ms survive a kill -9, but are too small to compress well.  Can
 * also remove unwanted stacks, once names show which ones.
 */

#include "record/file/capture_output.h"

/* The treatment of a node of the stack tree. */
enum capture_fate {
	CAPTURE_DROPS,	/* removed; its samples go to the empty stack */
	CAPTURE_PASSES, /* stays because wanted nodes are below it; its samples go to the empty
			   stack */
	CAPTURE_KEEPS,
};

/*
 * Replaces the file, by a rename so that it is complete at every moment, if that is possible,
 * worthwhile and quick; otherwise leaves it unchanged.  Sets o->size.  The file must be finished
 * and undamaged. fates[count]: by node, as for capture_select; removing nodes is always worthwhile.
 * NULL: all nodes are kept.
 */
void capture_compact(struct capture_output *o, const uint8_t *fates, size_t count);
/* Whether it is possible, and quick. */
bool capture_can_compact(const struct capture_output *o);

/*
 * Rewrites the finished capture file at path.  A sample at a removed node keeps only its time,
 * thread and weights. fates[count]: by node; if a node stays, so must its parent.  *size_bytes: the
 * file's new size.  After a failure the file is unchanged.
 */
must_use struct error *capture_select(
	const char *path, const uint8_t *fates, size_t count, uint64_t *size_bytes);

#endif
