#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_SAMPLES_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_SAMPLES_H

/*
 * A SAMPLES chunk: when, in which thread, at which stack tree node, in which zones, with what
 * weights.  Chunks of ZONE_ROWS and ZONE_EVENTS are made the same.
 */

#include "base/cursor.h"
#include "base/str.h"
#include "formats/sonde/layout/capture.h"

struct capture_sample {
	uint64_t time_ns; /* since the recording's start; the file keeps units of that */
	uint32_t thread, node;
	uint32_t zone;	 /* the node of its zone stack; 0: in none, or not known */
	uint32_t labels; /* of LABEL_SETS; 0: it has none */
	int64_t weight[CAPTURE_METRIC_MAX];
};

struct capture_samples_encoder;
must_use returns_owned struct capture_samples_encoder *capture_samples_encoder_create(void);
void capture_samples_encoder_destroy(struct capture_samples_encoder *e);
/* The unit in which times are kept; 1000 at first.  To be set before any sample is added. */
void capture_samples_set_unit(struct capture_samples_encoder *e, uint64_t unit_ns);
/* weight[metric_count]; metric_count is the same in all samples of a file. */
void capture_samples_add(struct capture_samples_encoder *e, const struct capture_sample *sample,
	uint32_t metric_count);
/* Samples that wait to be encoded. */
size_t capture_samples_waiting(const struct capture_samples_encoder *e);
/* A chunk's payload of what waits, which is then no more. */
void capture_samples_encode(struct capture_samples_encoder *e, struct strbuf *out);

/* A column of runs: equal values one behind the other are written once. */
struct capture_runs {
	struct cursor bytes;
	int64_t value;
	uint64_t left; /* of the run */
};

/*
 * A column of zones: a byte each, which of the zones before it it is, the latest first.  Samples
 * come from few zones at a time.
 */
enum { CAPTURE_ZONES_RECENT = 127 };
struct capture_zones {
	uint32_t recent[CAPTURE_ZONES_RECENT];
	uint32_t count;
	uint32_t
		before; /* the last one that was not among them: the next is stored as a distance */
};

/* Goes over a chunk's samples. */
struct capture_samples_decoder {
	uint64_t left;
	uint32_t metric_count;
	uint64_t unit_ns, time; /* time: in units */
	uint64_t usual;		/* distance in time */
	uint32_t high;		/* node */
	struct cursor times, nodes, old_nodes;
	struct capture_runs threads, weights[CAPTURE_METRIC_MAX];
	bool has_zones; /* some of its samples were taken in zones */
	struct cursor zone_places, zone_nodes;
	struct capture_zones zones;
	bool has_labels; /* some of its samples have labels */
	struct capture_runs labels;
	const char *problem;
};
/* left is then how many samples there are: at most as many as the payload has bytes. */
must_use struct error *capture_samples_begin(
	struct capture_samples_decoder *d, struct cursor *payload);
/* False at the end and at a bad sample. */
bool capture_samples_next(struct capture_samples_decoder *d, struct capture_sample *sample);
/* Samples in a row, column by column. */
enum { CAPTURE_SAMPLES_BLOCK = 256 };
struct capture_samples_block {
	size_t count;
	uint64_t time_ns[CAPTURE_SAMPLES_BLOCK];
	uint32_t thread[CAPTURE_SAMPLES_BLOCK], node[CAPTURE_SAMPLES_BLOCK];
	bool has_zones, has_labels; /* any of them has; else those are not set */
	uint32_t zone[CAPTURE_SAMPLES_BLOCK], labels[CAPTURE_SAMPLES_BLOCK];
	int64_t weight[CAPTURE_METRIC_MAX][CAPTURE_SAMPLES_BLOCK];
};
/* The next samples, all that there are up to a block; false if there is none. */
bool capture_samples_take(struct capture_samples_decoder *d, struct capture_samples_block *block);
/* One of a block; its weights are metric_count. */
void capture_samples_of_block(const struct capture_samples_block *block, size_t i,
	uint32_t metric_count, struct capture_sample *sample);
/* NULL if all samples so far were good. */
must_use struct error *capture_samples_error(const struct capture_samples_decoder *d);

#endif
