/*
 * Reads gmon.out, which programs compiled with -pg write: ticks by address and call counts.
 * docs/formats/gmon.md describes it.
 *
 * The file has only addresses, so the program is needed.  Its functions are read as in gprof
 * (obj/function_symbols.h), so that figures equal gprof's.  There are no stacks: each location with
 * ticks is a stack of one frame; arcs have the calls.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "base/sort.h"
#include "obj/debugfile.h"
#include "obj/demangle.h"
#include "obj/function_symbols.h"
#include "obj/objfile.h"
#include "formats/common/importer.h"
#include "formats/gprof/gmon_file.h"
#include "symbolize/symbolize.h"

struct gmon {
	const struct reader_input *input;
	struct builder *builder;
	struct objfile *program, *debug;
	struct function_symbols *symbols;
	struct demangler *demangler;
	char *program_path;
	struct gmon_file file;
	struct gmon_ticks ticks;
	bool is_time; /* ticks are time, not counts of something else */
	object_id object;
	/* Addresses that need lines, ascending, and the results. */
	VEC(uint64_t) addrs;
	struct arena *arena;
	struct symbol_place *lines; /* [addrs.count] */
	function_id *functions;	    /* [symbol]; NO_ID: not made yet */
};

static struct error *open_program(struct gmon *g)
{
	const char *exe = g->input->exe;

	if (exe == NULL)
		return error_new(ERROR_INPUT,
			"%s: gmon.out names no functions, its program does: add --exe PROGRAM",
			g->input->name);
	struct error *err = objfile_open_any(exe, &g->program);
	if (err)
		return error_prefix(err, "--exe");
	g->program_path = realpath(exe, NULL);
	if (g->program_path == NULL)
		g->program_path = xstrdup(exe);
	char *problem = NULL;
	g->debug = debugfile_open(g->program,
		&(struct debugfile_places){.object_path = str_from(g->program_path),
			.debug_directory = "/usr/lib/debug"},
		&problem);
	free(problem);
	err = function_symbols_create(g->program, g->debug, &g->symbols);
	return err ? error_prefix(err, "--exe") : NULL;
}

/* Whether any of a histogram's addresses belong to a function. */
static bool histogram_fits(const struct gmon *g, const struct gmon_histogram *h)
{
	size_t first = function_symbols_from(g->symbols, h->low);

	return first < function_symbols_count(g->symbols) &&
	       function_symbols_at(g->symbols, first).low < h->high;
}

/* Checks, as far as possible, that the file is from this program. */
static struct error *check_fit(const struct gmon *g)
{
	const struct gmon_file *f = &g->file;

	if (f->histograms.count == 0 && f->arcs.count == 0)
		return error_new(
			ERROR_INPUT, "%s: it contains no ticks and no calls", g->input->name);
	for (size_t i = 0; i < f->histograms.count; i++) {
		const struct gmon_histogram *h = &f->histograms.data[i];
		if (!str_equal(h->dimension, f->histograms.data[0].dimension))
			return error_new(ERROR_INPUT, "%s: counts %.*s and %.*s in one file",
				g->input->name, STR_ARG(f->histograms.data[0].dimension),
				STR_ARG(h->dimension));
		if (histogram_fits(g, h))
			continue;
		return error_new(ERROR_INPUT,
			"%s: counts ticks from 0x%llx to 0x%llx, where %s has no functions; is it "
			"the program that wrote the file?",
			g->input->name, (unsigned long long)h->low, (unsigned long long)h->high,
			g->input->exe);
	}
	return NULL;
}

static void add_metric(struct gmon *g)
{
	struct builder_header *header = builder_header(g->builder);
	const struct gmon_file *f = &g->file;

	g->is_time = f->histograms.count == 0 ||
		     str_equal(f->histograms.data[0].dimension, STR("seconds"));
	if (g->is_time)
		(void)builder_metric(g->builder, STR("cpu-time"), STR("ns"));
	else
		(void)builder_metric(g->builder, STR("samples"), STR("count"));
	header->has_stacks = false;
	header->stats.foreign = g->ticks.outside;
	if (g->is_time && f->histograms.count)
		header->stats.interval_ns = 1000000000u / f->histograms.data[0].rate;
	g->object = builder_object(
		g->builder, str_from(g->program_path), objfile_build_id(g->program), OBJECT_USER);
}

static int addr_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

/* Sorts the wanted addresses and removes duplicates. */
static void sort_addrs(struct gmon *g)
{
	size_t distinct = 0;

	if (g->addrs.count)
		qsort(g->addrs.data, g->addrs.count, sizeof(*g->addrs.data), addr_compare);
	for (size_t i = 0; i < g->addrs.count; i++)
		if (distinct == 0 || g->addrs.data[distinct - 1] != g->addrs.data[i])
			g->addrs.data[distinct++] = g->addrs.data[i];
	g->addrs.count = distinct;
}

static void want_function(struct gmon *g, uint64_t addr)
{
	size_t i;

	if (function_symbols_find(g->symbols, addr, &i))
		vec_push(&g->addrs, function_symbols_at(g->symbols, i).low);
}

/* Finds the source lines of all places and functions at once. */
static void find_lines(struct gmon *g)
{
	struct symbolize_options options = {.no_inline = true};
	struct symbolize_object object = {.path = str_from(g->program_path),
		.build_id = objfile_build_id(g->program),
		.kind = OBJECT_USER};
	struct symbolize_status status;

	for (size_t i = 0; i < g->ticks.places.count; i++) {
		vec_push(&g->addrs, g->ticks.places.data[i].addr);
		want_function(g, g->ticks.places.data[i].addr);
	}
	for (size_t i = 0; i < g->file.arcs.count; i++) {
		want_function(g, g->file.arcs.data[i].from);
		want_function(g, g->file.arcs.data[i].self);
	}
	sort_addrs(g);
	g->lines = ARENA_ARRAY(g->arena, struct symbol_place, g->addrs.count);
	struct symbolizer *symbolizer = symbolizer_create(&options);
	symbolize_addresses(
		symbolizer, &object, g->addrs.data, g->addrs.count, g->arena, g->lines, &status);
	symbolizer_destroy(symbolizer);
}

/* The result for a requested address; an empty frame if unknown. */
static struct symbol_frame line_at(const struct gmon *g, uint64_t addr)
{
	const uint64_t *found =
		bsearch(&addr, g->addrs.data, g->addrs.count, sizeof(*g->addrs.data), addr_compare);
	const struct symbol_place *place = found ? &g->lines[found - g->addrs.data] : NULL;

	return place && place->count ? place->frames[0] : (struct symbol_frame){0};
}

static function_id function_at(struct gmon *g, uint32_t symbol)
{
	function_id *id = &g->functions[symbol];

	if (id->i != NO_ID)
		return *id;
	struct function_symbol f = function_symbols_at(g->symbols, symbol);
	struct symbol_frame line = line_at(g, f.low);
	string_id file = builder_string(g->builder, line.function_file);

	*id = builder_function(g->builder,
		builder_string(g->builder, demangle(g->demangler, f.name)), g->object, file,
		line.function_line);
	return *id;
}

/* The function of ticks outside all functions of the program. */
static function_id function_unknown(struct gmon *g)
{
	return builder_function(g->builder, builder_string(g->builder, STR("[unknown]")), g->object,
		(string_id){0}, 0);
}

static void add_place(struct gmon *g, const struct gmon_place *place)
{
	function_id function = place->function == UINT32_MAX ? function_unknown(g)
							     : function_at(g, place->function);
	struct symbol_frame line = line_at(g, place->addr);
	int64_t weight = (int64_t)(g->is_time ? place->time_ns : place->ticks);
	frame_id frame = builder_frame(g->builder, function, builder_string(g->builder, line.file),
		line.line, false, place->addr);

	builder_weight(
		g->builder, builder_stack(g->builder, (stack_id){0}, frame), &weight, place->ticks);
}

/* A call from an unknown function is <spontaneous>; a call to one is dropped. */
static void add_arcs(struct gmon *g)
{
	uint64_t nowhere = 0;

	for (size_t i = 0; i < g->file.arcs.count; i++) {
		const struct gmon_arc *arc = &g->file.arcs.data[i];
		function_id caller = {NO_ID};
		size_t from, self;

		if (!function_symbols_find(g->symbols, arc->self, &self)) {
			nowhere++;
			continue;
		}
		if (function_symbols_find(g->symbols, arc->from, &from))
			caller = function_at(g, (uint32_t)from);
		builder_arc(g->builder, caller, function_at(g, (uint32_t)self), arc->calls);
	}
	if (nowhere)
		builder_note(g->builder, NOTE_BAD_RECORD, nowhere,
			"%s to addresses outside of all functions, left out",
			nowhere == 1 ? "count of calls is" : "counts of calls are");
}

static void add_notes(struct gmon *g)
{
	const struct gmon_file *f = &g->file;

	if (f->problem)
		early_end_note(g->builder, f->problem_offset, f->problem);
	if (f->histograms_over)
		builder_note(g->builder, NOTE_BAD_RECORD, f->histograms_over,
			"histograms beyond the first %u were left out", GMON_HISTOGRAMS_MAX);
	if (f->block_count)
		builder_note(g->builder, NOTE_INFO, f->block_count,
			"counts of %llu basic blocks are in the file, and not shown",
			(unsigned long long)f->block_count);
	if (g->ticks.outside)
		builder_note(g->builder, NOTE_NO_SYMBOLS, g->ticks.outside,
			"%llu of %llu ticks are outside of all functions",
			(unsigned long long)g->ticks.outside, (unsigned long long)g->ticks.total);
	builder_note(g->builder, NOTE_GUESSED, 1,
		"gmon.out has no stacks: inclusive figures are estimated from counts of calls");
}

static void build(struct gmon *g)
{
	size_t count = function_symbols_count(g->symbols);

	gmon_ticks_init(&g->ticks, &g->file, g->symbols);
	add_metric(g);
	find_lines(g);
	g->functions = ARENA_ARRAY(g->arena, function_id, count);
	for (size_t i = 0; i < count; i++)
		g->functions[i].i = NO_ID;
	for (size_t i = 0; i < g->ticks.places.count; i++)
		add_place(g, &g->ticks.places.data[i]);
	add_arcs(g);
	add_notes(g);
}

static struct error *gmon_read(const struct reader_input *input, struct builder *builder)
{
	struct gmon g = {.input = input, .builder = builder};
	struct error *err = open_program(&g);

	if (err == NULL) {
		struct gmon_words words = {.size = objfile_is_64bit(g.program) ? 8 : 4,
			.is_big_endian = objfile_is_big_endian(g.program)};
		err = gmon_file_read(&g.file, input->data, input->size, words, input->name);
	}
	if (err == NULL)
		err = check_fit(&g);
	if (err == NULL) {
		g.arena = arena_create();
		g.demangler = demangler_create();
		build(&g);
		demangler_destroy(g.demangler);
		arena_destroy(g.arena);
	}
	vec_deinit(&g.addrs);
	gmon_ticks_deinit(&g.ticks);
	gmon_file_deinit(&g.file);
	function_symbols_destroy(g.symbols);
	objfile_close(g.debug);
	objfile_close(g.program);
	free(g.program_path);
	return err;
}

static int gmon_bid(const uint8_t *data, size_t size)
{
	struct str start = {(const char *)data, size};

	return str_starts_with(start, STR("gmon")) && size >= 8 && (data[4] == 0 || data[4] == 1)
		       ? 100
		       : 0;
}

const struct reader reader_gmon = {
	.name = "gmon",
	.summary = "gmon.out of programs compiled with -pg; needs the program: --exe",
	.takes_exe = true,
	.bid = gmon_bid,
	.read = gmon_read,
};
