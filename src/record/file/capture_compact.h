#ifndef SONDE_RECORD_FILE_CAPTURE_COMPACT_H
#define SONDE_RECORD_FILE_CAPTURE_COMPACT_H

/*
 * Rewrites a finished capture file with few large chunks instead of many small ones, which about
 * halves it: chunks of 100 ms are what a kill -9 asks for, and too small to compress well.  Or
 * without the stacks of samples that were not wanted, once names say which these are.
 */

#include "record/file/capture_output.h"

/* What becomes of a node of the stack tree. */
enum capture_fate {
	CAPTURE_DROPS,	/* left out; its samples go to the empty stack */
	CAPTURE_PASSES, /* stays for the sake of those above it; its samples go to the empty stack
			 */
	CAPTURE_KEEPS,
};

/*
 * Replaces the file (by a rename: it is there whole at every moment) if that is possible, worth it,
 * and quick; otherwise leaves it as it is.  Sets o->size.  The file must be finished and good.
 * fates[count] by node, as capture_select has them, which make it worth it; NULL: all are kept.
 */
void capture_compact(struct capture_output *o, const uint8_t *fates, size_t count);
/* Whether it is possible, and quick. */
bool capture_can_compact(const struct capture_output *o);

/*
 * Rewrites the finished capture file at path: of each sample whose node is not kept, there remain
 * its time, its thread and its weights.  fates[count] by node; the parent of one that stays does,
 * too.  *size_bytes: the file's new size.  After a failure it is as it was.
 */
must_use struct error *capture_select(
	const char *path, const uint8_t *fates, size_t count, uint64_t *size_bytes);

#endif
