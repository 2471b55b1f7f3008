#ifndef SONDE_RECORD_PROCESSES_MAPPED_FILE_H
#define SONDE_RECORD_PROCESSES_MAPPED_FILE_H

/* The file that a process has mapped: opened, if it is still that one, and with its build ID. */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "obj/build_id.h"
#include "record/processes/object_table.h"

struct mapped_file {
	int fd;			 /* -1: it cannot be opened */
	struct timespec changed; /* when its contents last changed */
	/* It has been written to since it was mapped: what it contains may be something else. */
	bool is_rewritten;
	/* Set by mapped_file_identify. */
	bool is_elf;
	build_id_text build_id; /* lower-case hex; "": unknown, or none */
};

/*
 * Opens the file by its path in the process's mount namespace, or in its parent's if it is gone, or
 * ours; by its mapping, also if it was deleted; or by a descriptor that the process has for it.
 */
void mapped_file_open(const struct object_origin *origin, struct mapped_file *file);
/*
 * Reads the build ID from the file or, if that could not be opened, from the process's memory.
 * Then a file at the path that has this build ID, although not the inode, is opened after all.
 */
void mapped_file_identify(const struct object_origin *origin, struct mapped_file *file);
void mapped_file_close(struct mapped_file *file);

/* The build ID of our own vdso, which is that of all 64-bit programs; "": none. */
void mapped_file_identify_vdso(build_id_text text);

/* Whether the contents of an open file changed after that time. */
bool mapped_file_has_changed(int fd, const struct timespec *changed);

#endif
