#ifndef SONDE_SYMBOLIZE_BUILD_SOURCE_H
#define SONDE_SYMBOLIZE_BUILD_SOURCE_H

/*
 * More places for files of a known build: a folder, or debuginfod servers.  Files are found by
 * build ID only, and whoever opens one must compare it (object_open, debugfile_open).
 *
 * To add one: a file source_NAME.c that fills a struct build_source, and its constructor below.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

enum build_part {
	BUILD_DEBUG, /* debug information, at least a symbol table */
	BUILD_CODE,  /* the program or library itself */
};

struct build_wanted {
	struct str build_id;
	enum build_part part;
	/*
	 * Of a kernel module, such as "snd_hda"; else empty.  Files of packed modules are not
	 * unpacked to look for their build IDs unless they have that name.
	 */
	struct str module;
};

struct build_source {
	/*
	 * The path of a file, which the caller frees; NULL: there is none.  Then *problem may be
	 * set to a sentence (owned by the caller), if that is not simply because nobody has it.
	 * build_id: lower-case hex, at least 6 digits.
	 */
	char *(*find)(
		struct build_source *source, const struct build_wanted *wanted, char **problem);
	/*
	 * The same for a source file that the build was compiled from, by the path in its debug
	 * information.  NULL: it has none.
	 */
	char *(*find_text)(
		struct build_source *source, struct str build_id, struct str path, char **problem);
	void (*destroy)(struct build_source *source);
	char *name;	     /* for messages: the folder's path, "debuginfod" */
	bool is_network;     /* asking costs time, and servers learn what is asked for */
	bool is_interrupted; /* by SIGINT, while asking: nothing more is asked for */
};

void build_source_destroy(struct build_source *source);
/* If SIGINT arrived while asking, ends the process as SIGINT does.  source may be NULL. */
void build_source_heed_interrupt(const struct build_source *source);
/* find, for build IDs of any form: nothing is looked for unless it is hex, and long enough. */
char *build_source_find(
	struct build_source *source, struct str build_id, enum build_part part, char **problem);
/* The same for a file of the kernel or of a module. */
char *build_source_find_module(
	struct build_source *source, const struct build_wanted *wanted, char **problem);

/*
 * A source file of the build, by its absolute path; NULL, as above, also for other paths: they come
 * from a file, and become part of a URL.
 */
char *build_source_find_text(
	struct build_source *source, struct str build_id, struct str path, char **problem);

/*
 * A folder: .build-id/xx/yyyy.debug in it, or in usr/lib/debug below it, else any ELF file below it
 * with that build ID, modules of the kernel also if they are packed.  It is searched once, when a
 * file is first needed: no links are followed, and no other file systems entered.  ERROR_SYSTEM if
 * it cannot be opened.
 */
must_use struct error *build_source_folder(const char *path, struct build_source **source);

/*
 * The servers in the environment's DEBUGINFOD_URLS, through libdebuginfod, which is loaded here.
 * timeout_ns: how long a server may take to answer, and to send 100 KB; 0: the environment's
 * DEBUGINFOD_TIMEOUT, else 5 s.  After a server did not answer, nothing more is asked for.
 * ERROR_USAGE without servers, ERROR_UNSUPPORTED without the library.
 */
must_use struct error *build_source_debuginfod(uint64_t timeout_ns, struct build_source **source);

#endif
