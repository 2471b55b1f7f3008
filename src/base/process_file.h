#ifndef SONDE_BASE_PROCESS_FILE_H
#define SONDE_BASE_PROCESS_FILE_H

/* Files as another process sees them, below its root directory, which may be a container's. */

#include <stdint.h>

/*
 * open(2) of an absolute path of that process, with O_CLOEXEC.  Its links are followed as it would
 * follow them: none leads out of its root.  Before Linux 5.6, or where openat2(2) is forbidden, an
 * absolute link leads into our own root, so the caller must check what the file is.  -1 with errno.
 */
int process_file_open(int64_t pid, const char *path, int flags);

#endif
