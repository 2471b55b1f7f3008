/*
 * Heap profiles in text: those of gperftools (HEAPPROFILE, docs/heapprofile.html there), of
 * tcmalloc's growth and fragmentation, of Go's runtime (/debug/pprof/heap?debug=1), of jemalloc
 * (MALLOC_CONF=prof:true).  Their meaning follows pprof (profile/legacy_profile.go there) and, for
 * jemalloc, jeprof.
 *
 * 	heap profile:   4000:  2648000 [  6013: 10905528] @ heapprofile
 * 	  2000:  2048000 [  2000:  2048000] @ 0x55f4e445d1d8 0x55f4e445d1f6
 * 	MAPPED_LIBRARIES:
 *
 * The figures in brackets are everything ever allocated.  Kinds with a rate (heap_v2/524288) hold
 * samples, one per that many bytes on average, so a row of n objects of s bytes each represents n /
 * (1 - e^(-s/rate)) objects. jemalloc's header is "heap_v2/524288", and its rows follow their
 * stacks: one for all threads ("t*:") and one for each.
 */
#include "formats/readers.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/address_stacks.h"
#include "formats/common/importer.h"
#include "formats/common/text_field.h"
#include "formats/common/text_input.h"

#define LOOK_BYTES 4096

struct heap_row {
	int64_t objects, bytes, all_objects, all_bytes;
};

struct heap_text {
	struct builder *builder;
	struct address_stacks stacks;
	struct bad_lines bad;
	bool is_jemalloc;
	bool has_all;  /* in the header, the figures in brackets differ from those before them */
	uint64_t rate; /* average bytes per sample; 0 or 1: every allocation is recorded */
	uint64_t line_number;
	uint64_t good, rows;
};

/* ---- numbers ---- */

static bool take_figure(struct str *rest, int64_t *figure)
{
	uint64_t number;

	text_skip_blanks(rest);
	bool is_negative = text_take(rest, STR("-"));
	if (!text_take_number(rest, &number) || number > INT64_MAX)
		return false;
	*figure = is_negative ? -(int64_t)number : (int64_t)number;
	text_skip_blanks(rest);
	return true;
}

/* Takes "2000:  2048000 [  2000:  2048000]". */
static bool take_row(struct str *rest, struct heap_row *row)
{
	return take_figure(rest, &row->objects) && text_take(rest, STR(":")) &&
	       take_figure(rest, &row->bytes) && text_take(rest, STR("[")) &&
	       take_figure(rest, &row->all_objects) && text_take(rest, STR(":")) &&
	       take_figure(rest, &row->all_bytes) && text_take(rest, STR("]"));
}

/* ---- the header ---- */

static bool take_kind(struct heap_text *h, struct str kind)
{
	bool is_heap = false;

	if (str_starts_with(kind, STR("growth")) || str_starts_with(kind, STR("fragmentation")) ||
		text_take(&kind, STR("heapprofile")))
		return true;
	/* "heap" states twice the rate. */
	if (!text_take(&kind, STR("heapz_v2")) && !text_take(&kind, STR("heap_v2")) &&
		!(is_heap = text_take(&kind, STR("heap"))))
		return false;
	if (text_take(&kind, STR("/")) && !text_take_number(&kind, &h->rate))
		return false;
	h->rate /= is_heap ? 2 : 1;
	return true;
}

static bool take_header(struct heap_text *h, struct str line)
{
	struct heap_row sum;

	line = str_trim(line);
	if (text_take(&line, STR("heap_v2/"))) {
		h->is_jemalloc = true;
		return text_take_number(&line, &h->rate) && line.size == 0;
	}
	if (!text_take(&line, STR("heap profile:")) || !take_row(&line, &sum))
		return false;
	text_skip_blanks(&line);
	if (!text_take(&line, STR("@")))
		return false;
	text_skip_blanks(&line);
	h->has_all = (sum.all_objects != sum.objects && sum.all_objects) ||
		     (sum.all_bytes != sum.bytes && sum.all_bytes);
	return take_kind(h, line);
}

static int heap_bid(const uint8_t *data, size_t size)
{
	struct strbuf buffer = {0};
	struct str text = text_input_start(data, size, LOOK_BYTES, &buffer);
	struct heap_text h = {0};
	bool is_heap = take_header(&h, str_take_line(&text));

	strbuf_deinit(&buffer);
	return is_heap ? 100 : 0;
}

/* ---- rows ---- */

/* Scales a row of samples to what it represents; as in pprof, fractions are truncated. */
static void unsample(const struct heap_text *h, int64_t *objects, int64_t *bytes)
{
	if (h->rate <= 1 || *objects <= 0 || *bytes <= 0)
		return;
	double mean = (double)*bytes / (double)*objects;
	double scale = 1 / (1 - exp(-mean / (double)h->rate));
	double scaled_objects = (double)*objects * scale, scaled_bytes = (double)*bytes * scale;
	/* The builder rejects such a sum. */
	*objects = scaled_objects < 0x1p62 ? (int64_t)scaled_objects : INT64_MAX;
	*bytes = scaled_bytes < 0x1p62 ? (int64_t)scaled_bytes : INT64_MAX;
}

/* Adds pprof's label "bytes": the mean size of the row's objects. */
static void label_size(struct heap_text *h, const struct heap_row *row)
{
	int64_t objects = row->objects ? row->objects : row->all_objects;
	int64_t bytes = row->objects ? row->bytes : row->all_bytes;
	struct label label = {.key = builder_string(h->builder, STR("bytes")),
		.number = objects ? bytes / objects : 0,
		.unit = builder_string(h->builder, STR("bytes"))};

	builder_sample_labels(h->builder, builder_label_set(h->builder, &label, 1));
}

static void add_row(struct heap_text *h, struct heap_row row)
{
	struct heap_row raw = row;

	unsample(h, &row.objects, &row.bytes);
	unsample(h, &row.all_objects, &row.all_bytes);
	int64_t weights[] = {row.all_objects, row.all_bytes, row.objects, row.bytes};
	stack_id stack = address_stacks_stack(&h->stacks);

	builder_sample(h->builder, stack, (thread_id){NO_ID}, UINT64_MAX,
		h->has_all ? weights : weights + 2);
	label_size(h, &raw);
}

static bool is_sum(const struct heap_row *row)
{
	return (row->objects || row->bytes == 0) && (row->all_objects || row->all_bytes == 0);
}

/*
 * Reads a line "2: 20 [3: 30] @ 0x1 0x2", or jemalloc's "  t*: 2: 20 [3: 30]"; false: not such a
 * line.
 */
static bool read_line(struct heap_text *h, struct str line, bool is_first_pass)
{
	struct heap_row row;

	if (h->is_jemalloc && text_take(&line, STR("@"))) {
		address_stacks_take(&h->stacks, line);
		if (is_first_pass)
			address_stacks_want(&h->stacks);
		return true;
	}
	/*
	 * Totals come before the first stack.  Rows of single threads are included in the rows of
	 * all.
	 */
	if (h->is_jemalloc && (!text_take(&line, STR("t*:")) || h->stacks.vas.count == 0))
		return str_starts_with(line, STR("t")) || h->stacks.vas.count == 0;
	if (!take_row(&line, &row) || !is_sum(&row))
		return false;
	text_skip_blanks(&line);
	if (!h->is_jemalloc && !text_take(&line, STR("@")))
		return false;
	if (!h->is_jemalloc)
		address_stacks_take(&h->stacks, line);
	h->rows += is_first_pass;
	if (!is_first_pass)
		add_row(h, row);
	else if (!h->is_jemalloc)
		address_stacks_want(&h->stacks);
	return true;
}

static void read_lines(struct heap_text *h, struct str text, bool is_first_pass)
{
	h->line_number = 1;
	h->stacks.vas.count = 0;
	while (text.size) {
		struct str line = str_trim(str_take_line(&text));

		h->line_number++;
		if (address_stacks_is_end(line))
			return;
		if (line.size == 0 || line.data[0] == '#')
			continue;
		bool is_good = read_line(h, line, is_first_pass);
		if (is_first_pass && is_good)
			h->good++;
		else if (is_first_pass)
			bad_lines_add(&h->bad, h->line_number);
	}
}

/* jemalloc's header does not state whether it counted everything ever allocated. */
static bool jemalloc_has_all(struct str text)
{
	struct heap_row row;

	while (text.size) {
		struct str line = str_trim(str_take_line(&text));

		if (text_take(&line, STR("t*:")) && take_row(&line, &row) && row.all_objects)
			return true;
	}
	return false;
}

/* ---- the file ---- */

static void add_metrics(struct heap_text *h)
{
	struct builder *b = h->builder;

	if (h->has_all) {
		(void)builder_metric(b, STR("alloc_objects"), STR("count"));
		(void)builder_metric(b, STR("alloc_space"), STR("bytes"));
	}
	(void)builder_metric(b, h->has_all ? STR("inuse_objects") : STR("objects"), STR("count"));
	builder_header(b)->default_metric =
		builder_metric(b, h->has_all ? STR("inuse_space") : STR("space"), STR("bytes"));
}

static struct error *read_all(
	struct heap_text *h, const struct reader_input *input, struct str text)
{
	if (!take_header(h, str_take_line(&text)))
		return error_input(input->name, 0,
			"does not begin with \"heap profile:\" or jemalloc's \"heap_v2/\"");
	if (h->is_jemalloc)
		h->has_all = jemalloc_has_all(text);
	add_metrics(h);
	address_stacks_init(&h->stacks, h->builder, h->has_all ? 4 : 2, input->size);
	address_stacks_maps(&h->stacks, text);
	read_lines(h, text, true);
	address_stacks_resolve(&h->stacks);
	read_lines(h, text, false);
	address_stacks_finish(&h->stacks);
	bad_lines_note(&h->bad, h->builder);
	if (h->rate > 1)
		builder_note(h->builder, NOTE_INFO, 1,
			"figures are estimated: of what is allocated every %llu bytes on average "
			"drew a sample",
			(unsigned long long)h->rate);
	if (h->rows == 0 && h->bad.count)
		return error_input(input->name, 0, "it has no line about allocations");
	return bad_lines_refuse(&h->bad, h->good, input->name, "a heap profile");
}

static struct error *heap_read(const struct reader_input *input, struct builder *builder)
{
	struct heap_text h = {.builder = builder};
	struct strbuf buffer = {0};
	struct error *err = read_all(&h, input, text_input(input->data, input->size, &buffer));

	strbuf_deinit(&buffer);
	return err;
}

const struct reader reader_heap_text = {
	.name = "heap-text",
	.summary = "heap profiles in text, of gperftools, jemalloc and Go",
	.bid = heap_bid,
	.read = heap_read,
};
