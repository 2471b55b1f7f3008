/*
 * CPU profiles of gperftools (docs/cpuprofile-fileformat.html there; pprof's "legacy" format):
 * words of the machine that wrote it, of 4 or 8 bytes and either byte order.  A header of five
 * words, 0 3 0 PERIOD 0; then for each stack its count, its depth and its addresses, leaf first; at
 * the end 0 1 0. /proc/self/maps follows, for resolving names.
 *
 * Addresses after the first are return addresses: the call is one byte before.  As in pprof, the
 * frame that the signal handler left after the leaf, the same in (almost) all stacks, is removed,
 * and a duplicate leaf is kept once.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "formats/common/address_stacks.h"
#include "formats/common/importer.h"

#define HEADER_WORDS 5
/* The maximum number of signal handler frames that pprof removes. */
#define HANDLERS_MAX 2

struct words {
	const uint8_t *data;
	size_t count; /* whole words */
	unsigned int width;
	bool is_big;
};

struct cpu_file {
	const struct reader_input *input;
	struct builder *builder;
	struct address_stacks addresses;
	struct words words;
	uint64_t period_us;
	size_t end; /* index of the word after the stacks */
	size_t stacks;
	bool is_cut; /* the end mark is missing */
	uint64_t handlers[HANDLERS_MAX];
	size_t handler_count;
};

static uint64_t word(const struct words *w, size_t i)
{
	const uint8_t *p = w->data + i * w->width;
	uint64_t value = 0;

	for (unsigned int k = 0; k < w->width; k++)
		value = value << 8 | p[w->is_big ? k : w->width - 1 - k];
	return value;
}

/* The words of a file, in the only encoding in which it has a valid header; count 0: none. */
static struct words find_words(const uint8_t *data, size_t size)
{
	for (unsigned int k = 0; k < 4; k++) {
		struct words w = {.data = data, .width = k < 2 ? 8 : 4, .is_big = k & 1};

		w.count = size / w.width;
		if (w.count > HEADER_WORDS && word(&w, 0) == 0 && word(&w, 1) == 3 &&
			word(&w, 2) == 0 && word(&w, 3) && word(&w, 3) <= UINT32_MAX &&
			word(&w, 4) == 0)
			return w;
	}
	return (struct words){0};
}

static int cpu_bid(const uint8_t *data, size_t size)
{
	return find_words(data, size).count ? 90 : 0;
}

/* ---- stacks, as runs of words ---- */

struct run {
	uint64_t count;
	size_t first, depth;
};

/* The stack at word *at; false at the end mark, or if the data ends. */
static bool next_run(struct cpu_file *f, size_t *at, struct run *run)
{
	const struct words *w = &f->words;

	if (w->count - *at < 2) {
		f->is_cut = true;
		return false;
	}
	*run = (struct run){.count = word(w, *at), .first = *at + 2};
	uint64_t depth = word(w, *at + 1);
	if (depth > w->count - run->first) {
		f->is_cut = true;
		return false;
	}
	run->depth = (size_t)depth;
	*at = run->first + run->depth;
	return !(run->count == 0 && depth == 1 && word(w, run->first) == 0);
}

/* How many of a run's words after its leaf belong to the handler. */
static size_t handler_words(const struct cpu_file *f, const struct run *run)
{
	size_t found = 0;

	for (size_t i = 0; i < f->handler_count; i++)
		if (run->depth > found + 1 &&
			word(&f->words, run->first + 1 + found) == f->handlers[i])
			found++;
	return found;
}

/* How many of a run's words after its leaf are not frames: the handler's, and a duplicate leaf. */
static size_t words_to_skip(const struct cpu_file *f, const struct run *run)
{
	size_t skipped = handler_words(f, run);

	if (run->depth > 1 + skipped &&
		word(&f->words, run->first) == word(&f->words, run->first + 1 + skipped))
		skipped++;
	return skipped;
}

/* An address that comes second in at least 31 of 32 stacks is the handler's. */
static bool find_handler(struct cpu_file *f)
{
	struct map counts = {0};
	size_t at = HEADER_WORDS, most = 0;
	uint64_t handler = 0;
	struct run run;

	while (next_run(f, &at, &run)) {
		size_t second = 1 + handler_words(f, &run);
		bool added;

		if (run.depth <= second)
			continue;
		uint64_t addr = word(&f->words, run.first + second);
		uint32_t *count = map_at(&counts, addr, 0, 0, &added);
		if (++*count > most) {
			most = *count;
			handler = addr;
		}
	}
	map_deinit(&counts);
	if (most == 0 || most < f->stacks - f->stacks / 32)
		return false;
	f->handlers[f->handler_count++] = handler;
	return true;
}

/* ---- frames ---- */

/* Takes a run's addresses; those of callers become the address of the call. */
static void take_run(struct cpu_file *f, const struct run *run)
{
	size_t end = run->first + run->depth;

	f->addresses.vas.count = 0;
	if (run->depth)
		vec_push(&f->addresses.vas, word(&f->words, run->first));
	for (size_t i = run->first + 1 + words_to_skip(f, run); i < end; i++)
		vec_push(&f->addresses.vas, word(&f->words, i) - 1);
}

static void want_all(struct cpu_file *f)
{
	size_t at = HEADER_WORDS;
	struct run run;

	while (next_run(f, &at, &run)) {
		take_run(f, &run);
		address_stacks_want(&f->addresses);
	}
	address_stacks_resolve(&f->addresses);
}

static void add_all(struct cpu_file *f)
{
	size_t at = HEADER_WORDS;
	struct run run;

	while (next_run(f, &at, &run)) {
		uint64_t time_ns;
		/* The builder rejects more than 63 bits. */
		if (run.count > INT64_MAX ||
			__builtin_mul_overflow(run.count, f->period_us * 1000, &time_ns) ||
			time_ns > INT64_MAX)
			time_ns = INT64_MAX;
		int64_t weight[] = {
			run.count > INT64_MAX ? INT64_MAX : (int64_t)run.count, (int64_t)time_ns};

		take_run(f, &run);
		builder_weight(f->builder, address_stacks_stack(&f->addresses), weight,
			(uint64_t)weight[0]);
	}
}

/* ---- the file ---- */

static void find_end(struct cpu_file *f)
{
	struct run run;

	f->end = HEADER_WORDS;
	while (next_run(f, &f->end, &run))
		f->stacks++;
}

/* text: the offset of the mappings. */
static void read_stacks(struct cpu_file *f, size_t text)
{
	const struct reader_input *input = f->input;
	struct str mappings = {(const char *)input->data + text, input->size - text};

	address_stacks_init(&f->addresses, f->builder, 2, input->size);
	maps_text_read(&f->addresses.maps, mappings, f->addresses.code);
	want_all(f);
	add_all(f);
	address_stacks_finish(&f->addresses);
}

static struct error *read_all(struct cpu_file *f)
{
	struct builder_header *header = builder_header(f->builder);
	const struct reader_input *input = f->input;

	f->words = find_words(input->data, input->size);
	if (f->words.count == 0)
		return error_input(input->name, 0,
			"does not begin with the words 0 3 0 PERIOD 0 of gperftools' CPU profiles");
	f->period_us = word(&f->words, 3);
	(void)builder_metric(f->builder, STR("samples"), STR("count"));
	header->default_metric = builder_metric(f->builder, STR("cpu"), STR("ns"));
	header->stats.interval_ns = header->stats.interval_asked_ns = f->period_us * 1000;
	find_end(f);
	if (f->stacks == 0 && f->is_cut)
		return error_input(
			input->name, f->end * f->words.width, "is cut off before the first stack");
	while (f->handler_count < HANDLERS_MAX && find_handler(f))
		;
	read_stacks(f, f->is_cut ? input->size : f->end * f->words.width);
	if (f->is_cut)
		early_end_note(f->builder, f->end * f->words.width, "it has no end marker");
	return NULL;
}

static struct error *cpu_read(const struct reader_input *input, struct builder *builder)
{
	struct cpu_file f = {.input = input, .builder = builder};

	return read_all(&f);
}

const struct reader reader_gperftools_cpu = {
	.name = "gperftools-cpu",
	.summary = "CPU profiles of gperftools (CPUPROFILE), which pprof calls legacy",
	.bid = cpu_bid,
	.read = cpu_read,
};
