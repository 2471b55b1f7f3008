#ifndef SONDE_SERVE_SERVED_H
#define SONDE_SERVE_SERVED_H

/*
 * What a server serves: the files that its command line names, each a session once it is first
 * asked for, and the folder below which sources may be shown.  Nothing else can be reached by a
 * request, whatever it says.
 */

#include "obj/source_root.h"
#include "session/session.h"

struct build_source;

struct served_file {
	char *name; /* by which requests name it: the base name, or the path if two share that */
	const char *path;
	struct session *session; /* NULL: not opened yet */
};

struct served {
	struct served_file *files;
	size_t count;
	struct read_options input;
	struct source_root *root;
	/*
	 * Opens what is asked for sources that are not below the root, in the process that answers;
	 * NULL: nothing is.  As build_source_debuginfod.
	 */
	struct error *(*open_source)(uint64_t timeout_ns, struct build_source **source);
};

/* The paths are borrowed.  root_path: NULL: the current folder. */
must_use struct error *served_init(
	struct served *served, const char *const *paths, size_t count, const char *root_path);
void served_deinit(struct served *served);

/* The file of that name; NULL or "" if there is only one.  ERROR_USAGE: there is none. */
must_use struct error *served_find(
	const struct served *served, const char *name, struct served_file **file);
/* Opens the file's session unless it is open. */
must_use struct error *served_open(const struct served *served, struct served_file *file);

/*
 * Adds all files for people, some lines each; a file that cannot be read is listed with the reason.
 */
void served_put_text(const struct served *served, struct strbuf *out);
/* The same as a JSON array. */
void served_put_json(const struct served *served, struct strbuf *out);

#endif
