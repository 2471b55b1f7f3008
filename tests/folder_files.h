#ifndef SONDE_TESTS_FOLDER_FILES_H
#define SONDE_TESTS_FOLDER_FILES_H

/*
 * Folders as one run of bytes, for tests of formats that are folders: each file is a line "@@NAME"
 * and what follows, up to the next such line.  NAME may have one '/', for a folder in the folder.
 * No file's own bytes may have "\n@@" in them.
 */

#include <stddef.h>

#include "base/str.h"

/* Writes the files into a folder that is there; what cannot be written is left out. */
void folder_files_write(const char *folder, struct str bytes);
/* A new folder with them, in the temporary one; freed and removed with folder_files_remove. */
char *folder_files_create(struct str bytes);
void folder_files_remove(char *folder);

/* Starts a file in the run of bytes. */
void folder_files_add(struct strbuf *bytes, const char *name);
/* Ends one, so that the next can start. */
void folder_files_end(struct strbuf *bytes);
/* A number, least significant byte first. */
void folder_files_number(struct strbuf *bytes, uint64_t number, size_t size);

#endif
