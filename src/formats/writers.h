#ifndef SONDE_FORMATS_WRITERS_H
#define SONDE_FORMATS_WRITERS_H

/*
 * The formats that sonde writes profiles in, in one table.
 *
 * To add one:
 *  1. Write formats/NAME/writer.c around one `const struct writer writer_NAME`.
 *  2. Declare it below, and add a row to writers.c and the file to formats/meson.build.
 *  3. Escape each name from the profile once, with base/escape.h, when writing it.
 *  4. The same profile gives the same bytes.  The page in docs/formats/ lists what the format
 *     cannot hold; a profile that it cannot hold at all is an ERROR_UNSUPPORTED.
 *  5. Use what writers share in common/: exporter.h, stack_order.h, zone_walk.h.
 *  6. If there is a reader of that format, test write → read on tests/random_profile.h.
 */

#include "base/error.h"
#include "base/sink.h"
#include "model/profile.h"

struct writer_attribute {
	struct str key, value;
};

struct writer_options {
	metric_id metric;  /* for formats that hold one */
	bool with_modules; /* frames name their load object, if the format leaves the choice */
	/*
	 * What the whole profile is of, beyond what it says itself, or instead of that: for formats
	 * with such attributes (OTLP's resource).  NULL: nothing.
	 */
	const struct writer_attribute *attributes;
	size_t attribute_count;
};

struct writer {
	const char *name;      /* for --to and `sonde formats` */
	const char *extension; /* of file names, with the dot */
	const char *other;     /* another known extension; NULL: none */
	const char *beginning; /* of file names in this format; NULL: none */
	const char *summary;   /* one line */
	bool holds_all;	       /* the format keeps everything in a profile, including notes */
	bool holds_metrics;    /* all of them, not just a chosen one; --metric comes first */
	bool holds_arcs;       /* counts of calls */
	bool holds_notes;
	bool is_of_times;     /* samples without a time are left out */
	enum packing packing; /* compression that the caller applies to all its files */
	/*
	 * Writes the profile to the sink.  Returns errors of the profile; the sink keeps its own.
	 */
	struct error *(*write)(struct sink *sink, const struct profile *profile,
		const struct writer_options *options);
};

extern const struct writer writer_callgrind;
extern const struct writer writer_chrome;
extern const struct writer writer_csv;
extern const struct writer writer_dump;
extern const struct writer writer_firefox;
extern const struct writer writer_folded;
extern const struct writer writer_json;
extern const struct writer writer_perfetto;
extern const struct writer writer_pprof;
extern const struct writer writer_otlp;
extern const struct writer writer_perf_script;
extern const struct writer writer_sonde;
extern const struct writer writer_speedscope;

extern const struct writer *const writers[]; /* NULL-terminated */

/* NULL if no writer has that name. */
const struct writer *writer_find(const char *name);
/*
 * The writer with the longest extension that the file's name ends in, not counting ".gz" or ".zst";
 * else the one whose beginning matches the file's name without folders; NULL: none.
 */
const struct writer *writer_for_file(const char *path);

/* For formats without negative weights: whether a sample or a stack weighs less than 0. */
bool writer_has_negative(const struct profile *p, metric_id metric);

#endif
