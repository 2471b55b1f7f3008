#ifndef SONDE_BASE_OWN_FOLDER_H
#define SONDE_BASE_OWN_FOLDER_H

/*
 * Folders that nobody else writes to, for programs that run with more rights than those who could
 * put something in their way.  A folder is opened once; all files in it are then opened, renamed
 * and removed by that descriptor (openat), and never through a link.
 */

#include <stdint.h>

#include "base/error.h"

/*
 * Opens the folder, which is created with mode 0700 if it is missing; what is above it is not.
 * ERROR_USAGE: it is another user's, or others may write to it, or some part of the path belongs to
 * a user who could have put a link there.
 */
must_use struct error *own_folder_open(const char *path, int *fd);
/*
 * The same for a folder in an own one; a link is refused.  shown: its path for messages.
 * group: -1, or one that may write to it as well; made so if we may.
 */
must_use struct error *own_folder_open_in(
	int parent, const char *name, const char *shown, int64_t group, int *fd);

#endif
