#ifndef SONDE_FORMATS_SONDE_CAPTURE_LOCAL_H
#define SONDE_FORMATS_SONDE_CAPTURE_LOCAL_H

/*
 * Names from this machine's files, for a recording whose recorder was killed before it could write
 * them down.  Apart from the rest of the reader, since it is no part of a build without files.
 */

#include "formats/sonde/capture_names.h"

/*
 * Adds to n what the load objects on this machine say of those frames that have no name yet.
 * Objects whose build-id differs are not used, nor is the kernel if another one was recorded.
 */
void capture_local_names(struct capture_names *n, const struct capture_frame *frames, size_t count);

#endif
