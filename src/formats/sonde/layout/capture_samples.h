#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_SAMPLES_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_SAMPLES_H

/*
 * A SAMPLES chunk: the time, thread, stack tree node, zones and weights of samples.  Chunks of
 * ZONE_ROWS and ZONE_EVENTS have the same form.
 */

#include "base/cursor.h"
#include "base/str.h"
#include "formats/sonde/layout/capture.h"

struct capture_sample {
	uint64_t time_ns; /* since the recording's start; the file has multiples of a unit */
	uint32_t thread, node;
	uint32_t zone;	 /* the node of its zone stack; 0: none, or unknown */
	uint32_t labels; /* number in LABEL_SETS; 0: none */
	int64_t weight[CAPTURE_METRIC_MAX];
};

struct capture_samples_encoder;
must_use returns_owned struct capture_samples_encoder *capture_samples_encoder_create(void);
void capture_samples_encoder_destroy(struct capture_samples_encoder *e);
/* Sets the unit of times, initially 1000; call it before adding samples. */
void capture_samples_set_unit(struct capture_samples_encoder *e, uint64_t unit_ns);
/* weight[metric_count]; metric_count is the same for all samples of a file. */
void capture_samples_add(struct capture_samples_encoder *e, const struct capture_sample *sample,
	uint32_t metric_count);
/* The number of samples not encoded yet. */
size_t capture_samples_waiting(const struct capture_samples_encoder *e);
/* Appends a chunk's payload with all waiting samples, and removes them. */
void capture_samples_encode(struct capture_samples_encoder *e, struct strbuf *out);

/* A column of runs: repeated values are written once. */
struct capture_runs {
	struct cursor bytes;
	int64_t value;
	uint64_t left; /* in the run */
};

/*
 * A column of zones: a byte each, the zone's index among the latest ones.  Samples usually come
 * from few zones at a time.
 */
enum { CAPTURE_ZONES_RECENT = 127 };
struct capture_zones {
	uint32_t recent[CAPTURE_ZONES_RECENT];
	uint32_t count;
	uint32_t before; /* the last one not among the latest; the next one is stored as a
			   difference */
};

/* Iterates over a chunk's samples. */
struct capture_samples_decoder {
	uint64_t left;
	uint32_t metric_count;
	uint64_t unit_ns, time; /* time: in units */
	uint64_t usual;		/* time between samples */
	uint32_t high;		/* highest node so far */
	struct cursor times, nodes, old_nodes;
	struct capture_runs threads, weights[CAPTURE_METRIC_MAX];
	bool has_zones; /* some of its samples have zones */
	struct cursor zone_places, zone_nodes;
	struct capture_zones zones;
	bool has_labels; /* some of its samples have labels */
	struct capture_runs labels;
	const char *problem;
};
/* Sets left to the number of samples, which is at most the payload's size in bytes. */
must_use struct error *capture_samples_begin(
	struct capture_samples_decoder *d, struct cursor *payload);
/* False at the end and at a bad sample. */
bool capture_samples_next(struct capture_samples_decoder *d, struct capture_sample *sample);
/* Consecutive samples, column by column. */
enum { CAPTURE_SAMPLES_BLOCK = 256 };
struct capture_samples_block {
	size_t count;
	uint64_t time_ns[CAPTURE_SAMPLES_BLOCK];
	uint32_t thread[CAPTURE_SAMPLES_BLOCK], node[CAPTURE_SAMPLES_BLOCK];
	bool has_zones, has_labels; /* whether any has; otherwise these columns are not set */
	uint32_t zone[CAPTURE_SAMPLES_BLOCK], labels[CAPTURE_SAMPLES_BLOCK];
	int64_t weight[CAPTURE_METRIC_MAX][CAPTURE_SAMPLES_BLOCK];
};
/* The next samples, at most a block; false if there are none. */
bool capture_samples_take(struct capture_samples_decoder *d, struct capture_samples_block *block);
/* One sample of a block, with metric_count weights. */
void capture_samples_of_block(const struct capture_samples_block *block, size_t i,
	uint32_t metric_count, struct capture_sample *sample);
/* NULL if all samples so far were valid. */
must_use struct error *capture_samples_error(const struct capture_samples_decoder *d);

#endif
