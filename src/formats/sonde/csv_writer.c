/*
 * A profile's stacks as CSV (RFC 4180), for spreadsheets and data frames: a row per stack, a column
 * per metric.  docs/formats/csv.md defines the columns.
 *
 * A stack is one field, its frames separated by ';' as in folded text.
 */
#include "formats/writers.h"

#include <inttypes.h>

#include "base/escape.h"
#include "base/vec.h"

struct csv_writer {
	const struct profile *profile;
	struct sink *sink;
	bool with_modules;
	bool with_samples; /* sample counts are known but not a metric */
	struct strbuf path;
	VEC(uint32_t) frames; /* of one stack, leaf first */
};

static void write_header(struct csv_writer *w)
{
	const struct profile *p = w->profile;
	struct strbuf name = {0};

	strbuf_add(&w->sink->text, STR("stack,depth"));
	for (size_t m = 0; m < p->metric_count; m++) {
		struct str unit = profile_string(p, p->metrics[m].unit);

		strbuf_clear(&name);
		strbuf_add(&name, profile_string(p, p->metrics[m].name));
		if (unit.size && !str_equal(unit, STR("count")))
			strbuf_printf(&name, " (%.*s)", STR_ARG(unit));
		strbuf_add_char(&w->sink->text, ',');
		escape_csv(&w->sink->text, strbuf_str(&name));
	}
	if (w->with_samples)
		strbuf_add(&w->sink->text, STR(",samples"));
	strbuf_add(&w->sink->text, STR("\r\n"));
	strbuf_deinit(&name);
}

static bool counts_samples(const struct profile *p)
{
	for (size_t m = 0; m < p->metric_count; m++)
		if (metric_counts_samples(profile_string(p, p->metrics[m].name),
			    profile_string(p, p->metrics[m].unit)))
			return false;
	return p->row_samples != NULL;
}

static bool has_weight(const struct profile *p, uint32_t stack)
{
	bool has = p->row_samples && profile_samples(p, stack);

	for (size_t m = 0; m < p->metric_count && !has; m++)
		has = profile_weight(p, m, stack) != 0;
	return has;
}

/* Root first, as in folded text. */
static void make_path(struct csv_writer *w, uint32_t stack)
{
	const struct profile *p = w->profile;

	w->frames.count = 0;
	strbuf_clear(&w->path);
	for (; stack; stack = profile_stack_parent(p, stack))
		vec_push(&w->frames, p->stack_frame[stack].i);
	for (size_t i = w->frames.count; i-- > 0;) {
		const struct function *f = &p->functions[p->frames[w->frames.data[i]].function.i];

		if (w->path.size)
			strbuf_add_char(&w->path, ';');
		escape_folded(&w->path, profile_string(p, f->name), profile_module(p, f->object),
			w->with_modules);
	}
}

static void write_row(struct csv_writer *w, uint32_t stack)
{
	const struct profile *p = w->profile;
	struct strbuf *out = &w->sink->text;

	make_path(w, stack);
	escape_csv(out, strbuf_str(&w->path));
	strbuf_printf(out, ",%zu", w->frames.count);
	for (size_t m = 0; m < p->metric_count; m++)
		strbuf_printf(out, ",%" PRId64, profile_weight(p, m, stack));
	if (w->with_samples)
		strbuf_printf(out, ",%" PRIu64, profile_samples(p, stack));
	strbuf_add(out, STR("\r\n"));
}

static struct error *csv_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct csv_writer w = {.profile = profile,
		.sink = sink,
		.with_modules = options->with_modules,
		.with_samples = counts_samples(profile)};

	write_header(&w);
	for (uint32_t i = 0; i < profile->stack_count && sink_settle(sink); i++)
		if (has_weight(profile, i))
			write_row(&w, i);
	strbuf_deinit(&w.path);
	vec_deinit(&w.frames);
	return NULL;
}

const struct writer writer_csv = {
	.name = "csv",
	.extension = ".csv",
	.summary = "a row a stack, all metrics; sonde report --format csv has the views",
	.holds_metrics = true,
	.write = csv_write,
};
