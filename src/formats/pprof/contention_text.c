/*
 * Profiles of contention in text: /contentionz of gperftools' kind, and Go's /debug/pprof/mutex and
 * /debug/pprof/block with debug=1. Their meaning follows pprof (profile/legacy_profile.go there).
 *
 *	--- contention:
 *	cycles/second=2494000000
 *	sampling period=100
 *	4245160 12 @ 0x46e7d1 0x49e2f0
 *
 * A row has the cycles waited, the number of waits, and the stack that waited (block) or released
 * (mutex); only one wait per sampling period is recorded.
 */
#include "formats/readers.h"

#include "formats/common/address_stacks.h"
#include "formats/common/importer.h"
#include "formats/common/text_field.h"
#include "formats/common/text_input.h"

#define LOOK_BYTES 4096

struct contention {
	struct builder *builder;
	struct address_stacks stacks;
	struct bad_lines bad;
	uint64_t cycles_a_second; /* 0: delays are in ns */
	uint64_t period;
	uint64_t rows;
};

static bool is_header(struct str line)
{
	return str_starts_with(line, STR("--- contentionz ")) ||
	       str_starts_with(line, STR("--- mutex:")) ||
	       str_starts_with(line, STR("--- contention:"));
}

/* Reads "sampling period = 100"; false: not such a line, or one of Java's profiles. */
static bool read_attribute(struct contention *c, struct str line)
{
	struct str value;
	uint64_t number;

	if (!text_find(line, STR("="), &value))
		return false;
	struct str key = str_trim((struct str){line.data, (size_t)(value.data - line.data) - 1});
	value = str_trim(value);
	bool has_number = text_take_number(&value, &number) && value.size == 0;
	if (str_equal(key, STR("cycles/second")) && has_number)
		c->cycles_a_second = number;
	else if (str_equal(key, STR("sampling period")) && has_number)
		c->period = number;
	else if (str_equal(key, STR("ms since reset")) && has_number)
		builder_header(c->builder)->stats.duration_ns =
			number < UINT64_MAX / 1000000 ? number * 1000000 : UINT64_MAX;
	else
		return str_equal(key, STR("discarded samples"));
	return true;
}

static bool is_java(struct str text)
{
	(void)str_take_line(&text);
	while (text.size) {
		struct str line = str_trim(str_take_line(&text)), value;

		if (!text_find(line, STR("="), &value))
			return false;
		if (str_starts_with(line, STR("format")) ||
			str_starts_with(line, STR("resolution")))
			return true;
	}
	return false;
}

static int contention_bid(const uint8_t *data, size_t size)
{
	struct strbuf buffer = {0};
	struct str text = text_input_start(data, size, LOOK_BYTES, &buffer), line = text;
	bool is_one = is_header(str_take_line(&line)) && !is_java(text);

	strbuf_deinit(&buffer);
	return is_one ? 95 : 0;
}

/* number × factor as in pprof: fractions are truncated; more than 63 bits is rejected. */
static int64_t scaled(uint64_t number, double factor)
{
	double result = (double)number * factor;

	return result < 0x1p62 ? (int64_t)result : INT64_MAX;
}

static void add_row(struct contention *c, uint64_t delay, uint64_t count)
{
	double ns = c->period ? (double)c->period : 1;

	/* Multiply in this order, to round as pprof does. */
	int64_t delay_ns =
		c->period && c->cycles_a_second
			? scaled(1, (double)delay * ns / ((double)c->cycles_a_second / 1e9))
			: scaled(delay, 1);
	int64_t weights[] = {scaled(count, ns), delay_ns};

	builder_weight(c->builder, address_stacks_stack(&c->stacks), weights, UINT64_MAX);
}

static bool read_row(struct contention *c, struct str line, bool is_first_pass)
{
	uint64_t delay, count;

	if (!text_take_number(&line, &delay))
		return false;
	line = str_trim(line);
	if (!text_take_number(&line, &count))
		return false;
	line = str_trim(line);
	if (!text_take(&line, STR("@")) || delay > INT64_MAX || count > INT64_MAX)
		return false;
	address_stacks_take(&c->stacks, line);
	c->rows += is_first_pass;
	if (is_first_pass)
		address_stacks_want(&c->stacks);
	else
		add_row(c, delay, count);
	return true;
}

static void read_lines(struct contention *c, struct str text, bool is_first_pass)
{
	bool in_head = true;

	for (uint64_t number = 2; text.size; number++) {
		struct str line = str_trim(str_take_line(&text));

		if (str_starts_with(line, STR("---")) || address_stacks_is_end(line))
			return;
		if (line.size == 0 || line.data[0] == '#')
			continue;
		in_head = in_head && read_attribute(c, line);
		if (!in_head && !read_row(c, line, is_first_pass) && is_first_pass)
			bad_lines_add(&c->bad, number);
	}
}

static struct error *read_all(
	struct contention *c, const struct reader_input *input, struct str text)
{
	if (!is_header(str_take_line(&text)))
		return error_input(
			input->name, 0, "does not begin with \"--- contention\" or \"--- mutex:\"");
	(void)builder_metric(c->builder, STR("contentions"), STR("count"));
	builder_header(c->builder)->default_metric =
		builder_metric(c->builder, STR("delay"), STR("ns"));
	address_stacks_init(&c->stacks, c->builder, 2, input->size);
	address_stacks_maps(&c->stacks, text);
	read_lines(c, text, true);
	address_stacks_resolve(&c->stacks);
	read_lines(c, text, false);
	address_stacks_finish(&c->stacks);
	bad_lines_note(&c->bad, c->builder);
	if (c->cycles_a_second == 0)
		builder_note(c->builder, NOTE_INFO, 1,
			"the profile does not say how many cycles a second has: delays are taken "
			"for ns");
	if (c->rows == 0 && c->bad.count)
		return error_input(input->name, 0, "it has no line about waiting");
	return bad_lines_refuse(&c->bad, c->rows, input->name, "a contention profile");
}

static struct error *contention_read(const struct reader_input *input, struct builder *builder)
{
	struct contention c = {.builder = builder, .period = 1};
	struct strbuf buffer = {0};
	struct error *err = read_all(&c, input, text_input(input->data, input->size, &buffer));

	strbuf_deinit(&buffer);
	return err;
}

const struct reader reader_contention_text = {
	.name = "contention-text",
	.summary = "contention profiles in text, of gperftools and Go",
	.bid = contention_bid,
	.read = contention_read,
};
