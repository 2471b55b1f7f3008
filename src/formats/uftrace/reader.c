/*
 * A folder that uftrace recorded: each call of each thread, with its times. docs/formats/uftrace.md
 * says what becomes of what.
 *
 * There is no written specification; this is by uftrace.h, utils/data-file.c, utils/fstack.c,
 * utils/session.c, utils/symbol.c and cmds/info.c of uftrace as of July 2026, versions 3 and 4 of
 * the format.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "formats/common/text_field.h"
#include "formats/common/traced_stack.h"
#include "formats/uftrace/records.h"
#include "formats/uftrace/threads.h"

#define MAGIC	    "Ftrace!"
#define HEADER_SIZE 40u

enum { FEATURE_KERNEL = 1 << 2, FEATURE_MAX_STACK = 1 << 6 };
enum { STACK_DEFAULT = 1024, CLASS_LSB = 1 };

struct uftrace {
	const struct reader_input *input;
	struct builder *builder;
	struct folder *folder;
	struct file_bytes info, task;
	struct str text; /* of the info file: its lines */
	uint64_t features;
	uint32_t max_stack;
};

static struct error *read_header(struct uftrace *u)
{
	struct cursor c;
	const char *name = folder_path(u->folder);

	cursor_init(&c, u->info.data, u->info.size, name, 0);
	const uint8_t *magic = cursor_bytes(&c, 8);
	uint32_t version = cursor_u32(&c);
	uint16_t header_size = cursor_u16(&c);
	uint8_t byte_order = cursor_u8(&c);
	(void)cursor_u8(&c); /* 32 or 64 bits: all numbers are as long in both */
	u->features = cursor_u64(&c);
	(void)cursor_u64(&c); /* which lines there are; they say so themselves */
	u->max_stack = cursor_u16(&c);
	if (!cursor_ok(&c) || memcmp(magic, MAGIC, sizeof(MAGIC)) != 0)
		return error_input(name, 0, "its file 'info' is not one of uftrace");
	if (byte_order != CLASS_LSB)
		return error_new(ERROR_UNSUPPORTED,
			"%s: recorded on a machine of the other byte order", name);
	if (version < 3 || version > 4)
		return error_new(ERROR_UNSUPPORTED,
			"%s: a uftrace folder of version %u, not of 3 or 4", name, version);
	if (!(u->features & FEATURE_MAX_STACK))
		u->max_stack = STACK_DEFAULT;
	if (header_size < HEADER_SIZE || header_size > u->info.size)
		header_size = HEADER_SIZE;
	if (u->info.size > header_size)
		u->text = (struct str){
			(const char *)u->info.data + header_size, u->info.size - header_size};
	return NULL;
}

/* "KEY:VALUE" in a line of its own. */
static struct str info_line(const struct uftrace *u, struct str key)
{
	struct str text = u->text;

	while (text.size) {
		struct str line = str_take_line(&text);
		if (text_take(&line, key))
			return line;
	}
	return STR("");
}

/* Without the profiler and its options, which cannot be told from the program's own. */
static void add_header(struct uftrace *u)
{
	struct builder_header *header = builder_header(u->builder);
	uint64_t user_ns, system_ns;

	traced_stack_metrics(u->builder);
	header->command = builder_string(u->builder, info_line(u, STR("cmdline:")));
	header->host = builder_string(u->builder, info_line(u, STR("osinfo:hostname=")));
	(void)text_seconds(info_line(u, STR("elapsed_time:")), STR(""), &header->stats.duration_ns);
	if (text_seconds(info_line(u, STR("usageinfo:usrtime=")), STR(""), &user_ns) &&
		text_seconds(info_line(u, STR("usageinfo:systime=")), STR(""), &system_ns))
		header->stats.cpu_ns = user_ns + system_ns;
}

static void note_kernel(struct uftrace *u)
{
	if (u->features & FEATURE_KERNEL)
		builder_note(u->builder, NOTE_INFO, 1,
			"functions of the kernel were recorded, too; they are not read");
}

static void add_notes(struct uftrace *u, const struct uftrace_play *play,
	const struct uftrace_tasks *tasks, const struct uftrace_switches *switches)
{
	struct builder *b = u->builder;

	note_kernel(u);
	builder_header(b)->stats.lost = play->lost;
	if (play->lost)
		builder_note(b, NOTE_LOST, play->lost,
			"record%s lost; the time between them is nobody's",
			play->lost == 1 ? " was" : "s were");
	if (play->unfinished)
		builder_note(b, NOTE_INFO, play->unfinished,
			"%llu call%s not returned when the recording ended",
			(unsigned long long)play->unfinished,
			play->unfinished == 1 ? " had" : "s had");
	if (tasks->bad)
		builder_note(b, NOTE_BAD_RECORD, tasks->bad, "lines of task.txt make no sense");
	if (switches->bad)
		builder_note(b, NOTE_BAD_RECORD, switches->bad,
			"files of events (perf-cpu*.dat) could not be read to their end");
	uftrace_names_note(play->names);
}

/* When the first program began. */
static uint64_t start_of(const struct uftrace_tasks *tasks)
{
	uint64_t start_ns = UINT64_MAX;

	for (size_t i = 0; i < tasks->sessions.count; i++)
		if (tasks->sessions.data[i].start_ns < start_ns)
			start_ns = tasks->sessions.data[i].start_ns;
	return start_ns == UINT64_MAX ? 0 : start_ns;
}

static struct error *play(struct uftrace *u, const struct uftrace_tasks *tasks)
{
	struct uftrace_play p = {.folder = u->folder,
		.builder = u->builder,
		.tasks = tasks,
		.max_stack = u->max_stack,
		.start_ns = start_of(tasks)};
	struct uftrace_switches switches;
	struct error *err = uftrace_names_create(u->folder, u->builder, tasks, &p.names);

	if (err)
		return err;
	uftrace_switches_init(&switches, u->folder);
	p.switches = &switches;
	err = uftrace_threads_play(&p);
	if (err == NULL && p.records == 0)
		err = error_new(ERROR_INPUT, "%s: there are no records of calls in it",
			folder_path(u->folder));
	if (err == NULL)
		add_notes(u, &p, tasks, &switches);
	uftrace_switches_deinit(&switches);
	uftrace_names_destroy(p.names);
	return err;
}

static struct error *read_folder(struct uftrace *u)
{
	struct uftrace_tasks tasks;

	struct error *err = folder_read(u->folder, "info", 0, &u->info);
	if (err == NULL)
		err = read_header(u);
	if (err)
		return err;
	add_header(u);
	err = folder_read(u->folder, "task.txt", 0, &u->task);
	if (err)
		return err;
	uftrace_tasks_init(&tasks, (struct str){(const char *)u->task.data, u->task.size});
	if (tasks.sessions.count == 0)
		err = error_new(ERROR_INPUT, "%s: its task.txt tells of no program",
			folder_path(u->folder));
	else
		err = play(u, &tasks);
	uftrace_tasks_deinit(&tasks);
	return err;
}

/* The folder, also where its file `info` was named. */
static struct error *open_folder(struct uftrace *u)
{
	const char *path = u->input->path;

	if (u->input->data == NULL)
		return folder_open(path, &u->folder);
	if (path == NULL)
		return error_new(ERROR_INPUT,
			"%s: is one file of a uftrace folder; name the folder", u->input->name);
	const char *slash = strrchr(path, '/');
	char *parent = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	struct error *err = folder_open(parent, &u->folder);
	free(parent);
	return err;
}

static struct error *uftrace_read(const struct reader_input *input, struct builder *builder)
{
	struct uftrace u = {.input = input, .builder = builder};
	struct error *err = open_folder(&u);

	if (err == NULL)
		err = read_folder(&u);
	file_bytes_deinit(&u.info);
	file_bytes_deinit(&u.task);
	folder_close(u.folder);
	return err;
}

static int uftrace_bid(const uint8_t *data, size_t size)
{
	return size >= sizeof(MAGIC) && memcmp(data, MAGIC, sizeof(MAGIC)) == 0 ? 100 : 0;
}

static int uftrace_bid_folder(const char *path)
{
	return folder_bid(path, "info", uftrace_bid);
}

const struct reader reader_uftrace = {
	.name = "uftrace",
	.summary = "a folder of uftrace record (uftrace.data)",
	.bid = uftrace_bid,
	.bid_folder = uftrace_bid_folder,
	.read = uftrace_read,
};
