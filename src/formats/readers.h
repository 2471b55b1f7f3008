#ifndef SONDE_FORMATS_READERS_H
#define SONDE_FORMATS_READERS_H

/*
 * The formats that sonde reads, in one table.  A reader only builds: it gets the uncompressed bytes
 * of one file, or the path of a folder, and a builder, which it fills.
 *
 * To add one:
 *  1. Make a folder formats/NAME with a reader.c around one `const struct reader reader_NAME`.  Its
 *     head comment says what the format is and where it is specified.  A writer of the format goes
 *     into the same folder.
 *  2. Declare it below, and add a row to readers.c and the file to formats/meson.build.
 *  3. Bid by content, never by file name.  A magic number bids 100.  A format without one bids
 *     less, the more easily files of other kinds could match.
 *  4. Bad input: count a record that cannot be read in a note (NOTE_BAD_RECORD), and continue.  A
 *     file that is not of the format at all is an ERROR_INPUT that names file and place.  Never
 *     allocate by a size that the input merely states.
 *  5. Use what readers share in common/: importer.h counts faults and words their notes,
 *     distinguishes processes and threads, and makes frames from names; stack_budget.h limits
 *     stacks; mapped_code.h names addresses; text_input.h, text_field.h and line_scan.h parse text.
 *  6. Add a page to docs/formats/, a golden dump to tests/golden/, and its name to fuzz_readers in
 *     tests/fuzz/meson.build, with seeds.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/builder.h"

struct build_source;

struct reader_input {
	const char *name;    /* of the file, for messages; "standard input" for "-" */
	const uint8_t *data; /* borrowed; not NUL-terminated */
	size_t size;
	/*
	 * The path it was read from, for formats with other files next to it; NULL: none (standard
	 * input, memory).  A folder has only this, and no data.
	 */
	const char *path;
	const char *exe; /* the program it is a profile of, for readers that take one; NULL: none */
	/*
	 * The input was compressed and truncated: data is the part that could be decompressed.
	 * Readers can ignore this.
	 */
	bool is_cut;
	/*
	 * Further files of load objects, by build ID, for formats with addresses; NULL: only those
	 * of this machine.
	 */
	struct build_source *source;
	/*
	 * Somebody else sent it: the paths in it must not make sonde open files.  Addresses without
	 * names keep none.
	 */
	bool is_sent;
	/*
	 * What the weights of a text are that does not state it (folded stacks); NULL: "samples",
	 * of unit "count".
	 */
	const char *weight_name, *weight_unit;
	size_t threads; /* that may work at once (0: one); what is read must not depend on it */
};

struct reader {
	const char *name;    /* for --from and `sonde formats` */
	const char *summary; /* one line */
	bool takes_exe;	     /* it needs the program that was profiled */
	/* How sure it is that these bytes are its format: 0 (not) to 100 (a magic number). */
	int (*bid)(const uint8_t *data, size_t size);
	/*
	 * The same for a folder, by its contents; NULL: the format is a file.  A folder format also
	 * has a bid if one of its files can be named instead of the folder.
	 */
	int (*bid_folder)(const char *path);
	/*
	 * Builds the profile, metrics first.  Source and format are already in the builder's
	 * header; the caller finishes the builder, or destroys it after an error.
	 */
	struct error *(*read)(const struct reader_input *input, struct builder *builder);
};

extern const struct reader reader_callgrind;
extern const struct reader reader_capture;
extern const struct reader reader_chrome;
extern const struct reader reader_contention_text;
extern const struct reader reader_dump;
extern const struct reader reader_firefox;
extern const struct reader reader_folded;
extern const struct reader reader_gmon;
extern const struct reader reader_gprofng;
extern const struct reader reader_heap_text;
extern const struct reader reader_heaptrack;
extern const struct reader reader_perf_script;
extern const struct reader reader_uftrace;
extern const struct reader reader_otlp;
extern const struct reader reader_gperftools_cpu;
extern const struct reader reader_pprof;
extern const struct reader reader_perfetto;
extern const struct reader reader_speedscope;
extern const struct reader reader_stack_counts;
extern const struct reader reader_perf_data;
extern const struct reader reader_zones;

extern const struct reader *const readers[]; /* NULL-terminated */

/* NULL if no reader has that name. */
const struct reader *reader_find(const char *name);

/*
 * Reads the profile in a file ("-": standard input), decompressing gzip and zstd, or in a folder.
 * from names the reader; NULL: the content decides.  The profile has passed profile_check; the
 * caller frees it with profile_destroy.
 */
must_use struct error *profile_read(const char *path, const char *from, struct profile **profile);

/* What the user may specify about an input. */
struct read_options {
	const char *from; /* as in profile_read */
	const char *exe;  /* the program it is a profile of (gmon.out); NULL: unknown */
	size_t jobs;	  /* threads that may work at once; 0: one for each processor */
	/*
	 * Where profiles come from instead of files: `path` is then whatever it makes of it.  NULL:
	 * files.
	 */
	struct error *(*fetch)(void *context, const char *path, struct profile **profile);
	void *fetch_context;
};
/* profile_read with options; ERROR_USAGE if exe is set but the input's format takes no program. */
must_use struct error *profile_read_with(
	const char *path, const struct read_options *options, struct profile **profile);

/* The same for bytes in memory; name: the source. */
must_use struct error *profile_read_bytes(
	const struct reader_input *input, const char *from, struct profile **profile);

#endif
