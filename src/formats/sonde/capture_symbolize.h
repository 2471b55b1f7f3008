#ifndef SONDE_FORMATS_SONDE_CAPTURE_SYMBOLIZE_H
#define SONDE_FORMATS_SONDE_CAPTURE_SYMBOLIZE_H

/*
 * Adds names to a finished recording, later and elsewhere.  Recordings keep the addresses of all
 * frames, and the build IDs of load objects.  Everything else in the file stays as it is: samples,
 * stacks and weights are copied, byte by byte, before compression.
 */

#include "base/regex.h"
#include "base/vec.h"
#include "formats/readers.h"

struct symbolizer;

struct capture_symbolize_options {
	struct symbolizer *symbolizer;
	/*
	 * Load objects, by base name, that get names even where they have some; NULL: only
	 * addresses without a name are looked up.
	 */
	const struct regex *modules;
	/*
	 * Looks up at most that many load objects, those with most weight, and none whose nameless
	 * frames are a smaller share of the frames of all samples than that.  0: all.
	 */
	size_t modules_max;
	double share_min;
	bool tail_calls; /* also restore callers that left no frame */
	/* Called between load objects; true: stop.  NULL: never stop. */
	bool (*stops)(void *context);
	void *context;
};

/* What was found for one load object; strings live in the result. */
struct capture_symbolize_module {
	struct str path, build_id;
	uint64_t wanted, named; /* addresses: looked up, and found */
	const char *problem;	/* a sentence why not, if some were not; NULL: nothing is wrong */
	bool is_skipped;	/* not looked up, because it hardly matters */
};

struct capture_symbolize_result {
	struct arena *arena;
	VEC(struct capture_symbolize_module) modules; /* with addresses to look up; by weight */
	uint64_t changed;			      /* addresses with new names */
	bool is_stopped;
};
void capture_symbolize_result_deinit(struct capture_symbolize_result *result);

/*
 * Appends the new file to out; nothing if nothing changes.  ERROR_INPUT if the recording is
 * damaged (one that was cut off is not), ERROR_UNSUPPORTED if it is a written profile.  *result is
 * filled in any case, and must be released.
 */
must_use struct error *capture_symbolize(const struct reader_input *input,
	const struct capture_symbolize_options *options, struct strbuf *out,
	struct capture_symbolize_result *result);

#endif
