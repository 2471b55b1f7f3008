/*
 * Writes the text of `perf script`, as read by formats/perf/script_reader.c and other tools:
 * stackcollapse-perf.pl, inferno, speedscope, the Firefox Profiler, Perfetto.  Each parses a
 * slightly different grammar, so the output is what all of them understand;
 * docs/formats/perf-script.md has the details.
 *
 * Samples are written one after the other, in one metric; in a profile without samples, each stack
 * counts as one.  Recurring parts, the names of frames and threads, are formatted once.
 */
#include "formats/writers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"

/* A part of the text in `names`. */
struct piece {
	size_t start, size;
};

struct perf_writer {
	const struct profile *profile;
	struct sink *sink;
	struct strbuf names;
	struct piece *functions; /* " NAME (" of each */
	struct piece *objects;	 /* "LOAD OBJECT)\n" of each, and one for frames without */
	struct piece *threads;	 /* "COMM PID/TID " of each, and one for samples without */
	struct piece event;	 /* " METRIC: \n" */
};

/* The text added to names since it had `start` bytes. */
static struct piece piece_from(const struct perf_writer *w, size_t start)
{
	return (struct piece){.start = start, .size = w->names.size - start};
}

static void add_piece(struct perf_writer *w, struct piece piece)
{
	strbuf_add(&w->sink->text, (struct str){w->names.data + piece.start, piece.size});
}

/* Adds s as a single word, with each blank replaced by `blank`. */
static void add_word(struct strbuf *out, struct str s, const char *blank)
{
	struct strbuf text = {0};

	escape_text(&text, s);
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] == ' ')
			strbuf_add(out, str_from(blank));
		else
			strbuf_add_char(out, text.data[i]);
	}
	strbuf_deinit(&text);
}

static bool is_blank(struct str s)
{
	for (size_t i = 0; i < s.size; i++)
		if (s.data[i] != ' ' && s.data[i] != '\t')
			return false;
	return true;
}

/*
 * Some readers treat everything after the last '+' as an offset, so a name with a '+' gets an
 * offset.
 */
static struct piece function_piece(struct perf_writer *w, struct str name)
{
	size_t start = w->names.size;

	strbuf_add_char(&w->names, ' ');
	if (is_blank(name))
		name = STR("[unknown]");
	escape_text(&w->names, name);
	if (memchr(name.data, '+', name.size))
		strbuf_add(&w->names, STR("+0x0"));
	strbuf_add(&w->names, STR(" ("));
	return piece_from(w, start);
}

/* Some readers skip frames whose load object's path contains blanks. */
static struct piece object_piece(struct perf_writer *w, struct str path)
{
	size_t start = w->names.size;

	add_word(&w->names, is_blank(path) ? STR("[unknown]") : path, "\\x20");
	strbuf_add(&w->names, STR(")\n"));
	return piece_from(w, start);
}

/*
 * Some readers end the comm before its first number, some need two letters.  So blanks before
 * digits become '_', and ids are padded to seven columns, as in perf.  A '#' would begin a comment,
 * a '{' would look like JSON, and a blank like a frame.
 */
static void add_comm(struct strbuf *out, struct str comm)
{
	char first = comm.data[0];

	if (first == '#' || first == '{' || first == ' ') {
		strbuf_printf(out, "\\x%02x", (unsigned int)first);
		comm.data++;
		comm.size--;
	}
	size_t start = out->size;
	escape_text(out, comm);
	for (size_t i = start; i + 1 < out->size; i++)
		if (out->data[i] == ' ' && out->data[i + 1] >= '0' && out->data[i + 1] <= '9')
			out->data[i] = '_';
}

static struct piece thread_piece(struct perf_writer *w, const struct thread *thread)
{
	struct str comm = profile_string(w->profile, thread->name);
	int64_t pid = w->profile->processes[thread->process.i].pid;
	long long tid = thread->tid < 0 ? 0 : thread->tid;
	size_t start = w->names.size;

	if (is_blank(comm))
		strbuf_printf(&w->names, ":%lld", tid);
	else
		add_comm(&w->names, comm);
	if (pid < 0)
		strbuf_printf(&w->names, " %7lld ", tid);
	else
		strbuf_printf(&w->names, " %7lld/%-7lld ", (long long)pid, tid);
	return piece_from(w, start);
}

/* Replaces the thread of samples without one; sonde's reader recognizes it. */
static struct piece no_thread_piece(struct perf_writer *w)
{
	size_t start = w->names.size;

	strbuf_add(&w->names, STR("[unknown]       0 "));
	return piece_from(w, start);
}

static void make_pieces(struct perf_writer *w, metric_id metric)
{
	const struct profile *p = w->profile;
	size_t start;

	w->functions = xcalloc(p->function_count, sizeof(*w->functions));
	w->objects = xcalloc(p->object_count + 1, sizeof(*w->objects));
	w->threads = xcalloc(p->thread_count + 1, sizeof(*w->threads));
	for (size_t i = 0; i < p->function_count; i++)
		w->functions[i] = function_piece(w, profile_string(p, p->functions[i].name));
	for (size_t i = 0; i < p->object_count; i++)
		w->objects[i] = object_piece(w, profile_string(p, p->objects[i].path));
	w->objects[p->object_count] = object_piece(w, STR(""));
	for (size_t i = 0; i < p->thread_count; i++)
		w->threads[i] = thread_piece(w, &p->threads[i]);
	w->threads[p->thread_count] = no_thread_piece(w);
	start = w->names.size;
	strbuf_add_char(&w->names, ' ');
	add_word(&w->names, profile_string(p, p->metrics[metric.i].name), "_");
	strbuf_add(&w->names, STR(": \n"));
	w->event = piece_from(w, start);
}

/* Writes an address in hexadecimal, in sixteen columns. */
static void add_address(struct strbuf *out, uint64_t address)
{
	char text[16];
	size_t i = sizeof(text);

	do {
		text[--i] = "0123456789abcdef"[address & 15];
		address >>= 4;
	} while (address);
	memset(text, ' ', i);
	strbuf_add(out, (struct str){text, sizeof(text)});
}

static void write_frame(struct perf_writer *w, const struct frame *frame, bool is_caller)
{
	const struct profile *p = w->profile;
	const struct function *function = &p->functions[frame->function.i];
	object_id object = function->object;
	uint64_t address = frame->obj_addr;

	strbuf_add_char(&w->sink->text, '\t');
	add_address(&w->sink->text,
		is_caller && address && address < UINT64_MAX ? address + 1 : address);
	add_piece(w, w->functions[frame->function.i]);
	if (frame->is_inline)
		strbuf_add(&w->sink->text, STR("inlined)\n"));
	else
		add_piece(w, w->objects[object.i == NO_ID ? p->object_count : object.i]);
}

/* A caller's address is that of its call; perf prints return addresses. */
static void write_stack(struct perf_writer *w, stack_id stack)
{
	const struct profile *p = w->profile;
	bool is_caller = false;

	if (stack.i == 0)
		strbuf_add(&w->sink->text, STR("\t               0 [unknown] ([unknown])\n"));
	while (stack.i) {
		const struct frame *frame = &p->frames[p->stack_frame[stack.i].i];

		stack = profile_parent(p, stack);
		write_frame(w, frame, is_caller);
		is_caller |= !frame->is_inline;
	}
	strbuf_add_char(&w->sink->text, '\n');
}

/* thread: NO_ID: unknown. */
static bool write_sample(
	struct perf_writer *w, stack_id stack, thread_id thread, uint64_t time_ns, int64_t weight)
{
	size_t row = thread.i == NO_ID ? w->profile->thread_count : thread.i;

	if (weight == 0)
		return true;
	add_piece(w, w->threads[row]);
	strbuf_printf(&w->sink->text, "%5llu.%09llu: %10lld",
		(unsigned long long)(time_ns / 1000000000),
		(unsigned long long)(time_ns % 1000000000), (long long)weight);
	add_piece(w, w->event);
	write_stack(w, stack);
	return sink_settle(w->sink);
}

static void write_samples(struct perf_writer *w, metric_id metric)
{
	const struct samples *s = &w->profile->samples;

	for (size_t i = 0; i < s->count; i++)
		if (!write_sample(w, s->stack[i], s->thread ? s->thread[i] : (thread_id){NO_ID},
			    s->time_ns ? s->time_ns[i] : 0, s->weight[metric.i][i]))
			break;
}

static void write_totals(struct perf_writer *w, metric_id metric)
{
	for (uint32_t i = 0; i < w->profile->stack_count; i++)
		if (!write_sample(w, (stack_id){i}, (thread_id){NO_ID}, 0,
			    profile_weight(w->profile, metric.i, i)))
			break;
}

/* A period cannot be negative, so differences cannot be written. */
static struct error *check_weights(const struct profile *p, metric_id metric)
{
	if (!writer_has_negative(p, metric))
		return NULL;
	return error_new(ERROR_UNSUPPORTED,
		"perf script's text has no weights below zero, as this difference has");
}

static struct error *perf_script_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct perf_writer w = {.profile = profile, .sink = sink};
	struct error *err = check_weights(profile, options->metric);

	if (err)
		return err;
	make_pieces(&w, options->metric);
	if (profile->samples.count)
		write_samples(&w, options->metric);
	else
		write_totals(&w, options->metric);
	free(w.functions);
	free(w.objects);
	free(w.threads);
	strbuf_deinit(&w.names);
	return NULL;
}

const struct writer writer_perf_script = {
	.name = "perf-script",
	.extension = ".perf.txt",
	.summary = "the text of perf script; one metric",
	.write = perf_script_write,
};
