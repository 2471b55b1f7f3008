#ifndef SONDE_RECORD_CAPTURE_COMPACT_H
#define SONDE_RECORD_CAPTURE_COMPACT_H

/*
 * Rewrites a finished capture file with few large chunks instead of many small ones, which about
 * halves it: chunks of 100 ms are what a kill -9 asks for, and too small to compress well.
 */

#include "record/capture_output.h"

/*
 * Replaces the file (by a rename: it is there whole at every moment) if that is possible, worth it,
 * and quick; otherwise leaves it as it is.  Sets o->size.  The file must be finished and good.
 */
void capture_compact(struct capture_output *o);

#endif
