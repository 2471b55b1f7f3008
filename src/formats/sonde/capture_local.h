#ifndef SONDE_FORMATS_SONDE_CAPTURE_LOCAL_H
#define SONDE_FORMATS_SONDE_CAPTURE_LOCAL_H

/*
 * Names from this machine's files, for a recording whose recorder was killed before it could store
 * names.  Separate from the rest of the reader, because builds without files omit it.
 */

#include "formats/sonde/capture_names.h"

/*
 * Adds names for the frames that have none yet, from the load objects on this machine.  Objects
 * with a different build ID are not used, nor is the kernel if another one was recorded.
 */
void capture_local_names(struct capture_names *n, const struct capture_frame *frames, size_t count);

#endif
