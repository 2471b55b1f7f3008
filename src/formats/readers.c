/*
 * The table of readers, and the steps common to all: getting the bytes, decompression, choosing the
 * reader, finishing the profile.
 */
#include "formats/readers.h"

#include <sys/stat.h>

#include "base/decompress.h"
#include "base/file.h"
#include "base/jobs.h"

const struct reader *const readers[] = {
	&reader_capture,
	&reader_callgrind,
	&reader_dump,
	&reader_firefox,
	&reader_folded,
#ifndef SONDE_BYTES_ONLY
	&reader_gmon,
	&reader_gprofng,
#endif
	&reader_heaptrack,
	&reader_perf_script,
#ifndef SONDE_BYTES_ONLY
	&reader_uftrace,
#endif
	&reader_otlp,
	&reader_pprof,
	&reader_gperftools_cpu,
	&reader_heap_text,
	&reader_contention_text,
	&reader_stack_counts,
	&reader_speedscope,
	&reader_chrome,
	&reader_perfetto,
#ifndef SONDE_BYTES_ONLY
	&reader_perf_data,
	&reader_zones,
#endif
	NULL,
};

const struct reader *reader_find(const char *name)
{
	for (size_t i = 0; readers[i]; i++)
		if (strcmp(readers[i]->name, name) == 0)
			return readers[i];
	return NULL;
}

/* A bid of formats with a magic number or unmistakable first words. */
#define SURE_BID 90

/*
 * What kind of old pprof text this is, as Go's runtime, gperftools or Java wrote it, if no reader
 * here accepts it; NULL: none.  Each would otherwise pass as folded stacks.
 */
static const char *old_text_of(const struct reader_input *input)
{
	static const struct {
		const char *start, *what;
	} kinds[] = {
		{"--- heapz ", "a heap"},
		{"--- contentionz ", "waits for locks"},
		{"--- threadz ", "threads"},
		{"goroutine profile: total ", "goroutines"},
		{"threadcreate profile: total ", "threads"},
	};
	struct str text = {(const char *)input->data, input->size};

	for (size_t i = 0; input->data && i < ARRAY_SIZE(kinds); i++)
		if (str_starts_with(text, str_from(kinds[i].start)))
			return kinds[i].what;
	return NULL;
}

/* Whether it is Go's text of stacks, debug=2 or of a crash: "goroutine 1 [running]:". */
static bool is_goroutine_dump(const struct reader_input *input)
{
	struct str text = {(const char *)input->data, input->data ? input->size : 0};
	struct str line = str_trim(str_take_line(&text));

	return str_starts_with(line, STR("goroutine ")) && str_ends_with(line, STR("]:"));
}

/* The reader with the highest bid; the first of several. */
static const struct reader *highest_bid(const struct reader_input *input)
{
	const struct reader *best = NULL;
	int best_bid = 0;

	for (size_t i = 0; readers[i]; i++) {
		const struct reader *r = readers[i];
		int bid = 0;

		if (input->data && r->bid)
			bid = r->bid(input->data, input->size);
		else if (input->data == NULL && r->bid_folder)
			bid = r->bid_folder(input->path);
		if (bid > best_bid) {
			best_bid = bid;
			best = readers[i];
		}
	}
	return best_bid < SURE_BID && (old_text_of(input) || is_goroutine_dump(input)) ? NULL
										       : best;
}

/* elf(5): the e_type of a little-endian file that is not a program. */
static bool is_core_dump(const struct reader_input *input)
{
	return input->size > 64 && memcmp(input->data, "\177ELF", 4) == 0 && input->data[5] == 1 &&
	       input->data[16] == 4 && input->data[17] == 0;
}

static struct error *no_reader(const struct reader_input *input, const char *from)
{
	struct strbuf names = {0};
	struct error *err;

	for (size_t i = 0; readers[i]; i++)
		if (from ||
			(input->data ? readers[i]->bid != NULL : readers[i]->bid_folder != NULL))
			strbuf_printf(&names, "%s%s", names.size ? ", " : "", readers[i]->name);
	if (from)
		err = error_new(ERROR_USAGE, "unknown input format '%s'; known formats: %s", from,
			names.data);
	else if (is_core_dump(input))
		err = error_new(ERROR_INPUT,
			"%s: is a core dump; if its program had zones, 'sonde live %s --save FILE' "
			"takes them out",
			input->name, input->name);
	else if (old_text_of(input))
		err = error_new(ERROR_INPUT,
			"%s: is one of pprof's old texts, of %s, which sonde does not read; "
			"`go tool pprof -proto -output new.pb.gz FILE` makes a profile of it",
			input->name, old_text_of(input));
	else if (is_goroutine_dump(input))
		err = error_new(ERROR_INPUT,
			"%s: is a text of goroutines' stacks, which sonde does not read; "
			"/debug/pprof/goroutine without debug=2 is a profile of them",
			input->name);
	else if (input->data == NULL)
		err = error_new(ERROR_INPUT,
			"%s: is a folder, and none that sonde reads as a profile%s%s", input->name,
			names.size ? ": " : "", strbuf_str(&names).data);
	else
		err = error_new(ERROR_INPUT,
			"%s: in no format that sonde reads (%s); --from NAME insists on one",
			input->name, names.data);
	strbuf_deinit(&names);
	return err;
}

struct error *profile_read_bytes(
	const struct reader_input *input, const char *from, struct profile **profile)
{
	if (input->data && input->size == 0)
		return error_new(ERROR_INPUT, "%s: the file is empty", input->name);
	const struct reader *reader = from ? reader_find(from) : highest_bid(input);
	if (reader == NULL)
		return no_reader(input, from);
	if (input->data ? reader->bid == NULL : reader->bid_folder == NULL)
		return error_new(ERROR_INPUT, "%s: %s, and %s is the format of a %s", input->name,
			input->data ? "is a file" : "is a folder", reader->name,
			reader->bid ? "file" : "folder");
	if (input->exe && !reader->takes_exe)
		return error_new(ERROR_USAGE,
			"--exe is for gmon.out; %s is of format %s, which needs no program",
			input->name, reader->name);
	struct builder *b = builder_create();
	builder_answer_for(b, input->size);
	builder_header(b)->source = builder_string(b, str_from(input->name));
	builder_header(b)->format = builder_string(b, str_from(reader->name));
	struct error *err = reader->read(input, b);
	if (err) {
		builder_destroy(b);
		return input->is_cut ? error_prefix(err, "the compressed data are cut off") : err;
	}
	if (input->is_cut)
		builder_note(b, NOTE_INCOMPLETE, 1,
			"the compressed data are cut off; what is left of them was read");
	/* The builder checks the profile. */
	err = builder_finish(b, profile);
	return err ? error_prefix(err, "%s", input->name) : NULL;
}

/*
 * Whether the data ends in a text line that is more than half of it.  Its format shows only at its
 * end: the stack of a deep recursion is a folded line of megabytes.
 */
static bool ends_in_long_line(const uint8_t *data, size_t size)
{
	const uint8_t *newline = memrchr(data, '\n', size);
	size_t before = newline ? (size_t)(newline - data) + 1 : 0;

	return before < size / 2 && memchr(data + before, '\0', size - before) == NULL;
}

/* Whether a long input can be a profile, judging by its beginning. */
static struct error *look_at_beginning(const void *context, const uint8_t *data, size_t size)
{
	const struct reader_input input = {.name = context, .data = data, .size = size};

	if (is_compressed(&(struct file_bytes){data, size}) || highest_bid(&input))
		return NULL;
	if (ends_in_long_line(data, size))
		return NULL;
	return no_reader(&input, NULL);
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

struct error *profile_read_with(
	const char *path, const struct read_options *options, struct profile **profile)
{
	const char *from = options->from;
	struct file_bytes bytes;
	bool is_standard_input = strcmp(path, "-") == 0;
	const char *name = is_standard_input ? "standard input" : path;
	struct reader_input input = {.name = name,
		.path = is_standard_input ? NULL : path,
		.exe = options->exe,
		.threads = options->jobs ? options->jobs : jobs_processors()};

	if (options->fetch)
		return options->fetch(options->fetch_context, path, profile);
	if (is_folder(path))
		return profile_read_bytes(&input, from, profile);
	struct error *err = file_read_looking(
		path, from ? NULL : look_at_beginning, name, input.threads, &bytes);

	if (err)
		return err;
	err = decompress(name, 0, &bytes, &input.is_cut);
	if (err == NULL) {
		input.data = bytes.data;
		input.size = bytes.size;
		err = profile_read_bytes(&input, from, profile);
	}
	file_bytes_deinit(&bytes);
	return err;
}

struct error *profile_read(const char *path, const char *from, struct profile **profile)
{
	return profile_read_with(path, &(struct read_options){.from = from}, profile);
}
