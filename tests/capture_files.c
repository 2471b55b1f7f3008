/*
 * Capture files of the tests.  See capture_files.h.
 */
#include "capture_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "formats/readers.h"
#include "unit.h"

static char folder[] = "/tmp/sonde-capture-XXXXXX";
static pid_t folder_owner;

static void remove_folder(void)
{
	char *command;

	if (getpid() != folder_owner)
		return;
	command = xasprintf("rm -rf '%s'", folder);
	if (system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", folder);
	free(command);
}

char *capture_file_path(const char *name)
{
	if (folder_owner == 0) {
		assert_non_null(mkdtemp(folder));
		folder_owner = getpid();
		atexit(remove_folder);
	}
	return xasprintf("%s/%s", folder, name);
}

struct file_bytes capture_file_bytes(const char *path)
{
	struct file_bytes bytes;
	struct error *err = file_read(path, 0, &bytes);

	if (err)
		fail_msg("%s", err->message);
	return bytes;
}

struct profile *capture_read_bytes(const void *data, size_t size, char **message)
{
	struct reader_input input = {.name = "test.prof", .data = data, .size = size};
	struct builder *b = builder_create();
	struct profile *p = NULL;
	struct error *err = reader_capture.read(&input, b);

	*message = NULL;
	if (err)
		builder_destroy(b);
	else
		err = builder_finish(b, &p);
	if (err)
		*message = xstrdup(err->message);
	error_destroy(err);
	return p;
}

struct profile *capture_read_file(const char *path)
{
	char *message;
	struct file_bytes bytes = capture_file_bytes(path);
	struct profile *p = capture_read_bytes(bytes.data, bytes.size, &message);

	if (p == NULL)
		fail_msg("%s", message);
	file_bytes_deinit(&bytes);
	return p;
}

uint64_t capture_note_count(const struct profile *p, enum note_kind kind)
{
	uint64_t count = 0;

	for (size_t i = 0; i < p->note_count; i++)
		if (p->notes[i].kind == kind)
			count += p->notes[i].count;
	return count;
}

static void expect_frame(const struct random_capture *r, const struct profile *p, uint32_t frame,
	const struct random_node *node, bool names)
{
	const struct frame *f = &p->frames[frame];
	const struct function *function = &p->functions[f->function.i];
	char text[64];

	assert_int_equal(f->obj_addr, node->obj_addr);
	snprintf(text, sizeof(text), "/nowhere/lib%u.so", r->functions[node->function].object);
	assert_string_equal(p->strings[p->objects[function->object.i].path.i].data, text);
	snprintf(text, sizeof(text), "f%u", node->function);
	assert_string_equal(p->strings[function->name.i].data, names ? text : "[unknown]");
	if (!names)
		return;
	assert_int_equal(f->line, random_capture_line(r, node->function, node->obj_addr));
	assert_int_equal(function->line, node->function);
	assert_string_equal(p->strings[function->file.i].data, "f.c");
}

static void expect_stack(const struct random_capture *r, const struct profile *p, stack_id stack,
	uint32_t node, bool names)
{
	for (; node; node = r->nodes.data[node].parent, stack = profile_parent(p, stack)) {
		assert_int_not_equal(stack.i, 0);
		expect_frame(r, p, p->stack_frame[stack.i].i, &r->nodes.data[node], names);
	}
	assert_int_equal(stack.i, 0);
}

void capture_expect_equal(
	const struct random_capture *r, const struct profile *p, size_t samples, bool names)
{
	metric_id cpu_time, count;

	assert_true(profile_find_metric(p, STR("cpu-time"), &cpu_time));
	assert_true(profile_find_metric(p, STR("samples"), &count));
	assert_int_equal(p->default_metric.i, cpu_time.i);
	assert_int_equal(p->samples.count, samples);
	assert_int_equal(p->total[count.i], samples);
	for (size_t i = 0; i < samples; i++) {
		const struct random_sample *s = &r->samples.data[i];
		assert_int_equal(p->samples.time_ns[i], s->time_ns / 1000 * 1000);
		assert_int_equal(p->samples.weight[cpu_time.i][i], s->weight);
		assert_int_equal(p->threads[p->samples.thread[i].i].tid, 1000 + s->thread);
		expect_stack(r, p, p->samples.stack[i], s->node, names);
	}
}

char *capture_make_file(struct random_capture *r, const char *name, size_t samples, bool symbols)
{
	char *path = capture_file_path(name);
	struct capture_writer *w;

	assert_null(capture_writer_create(path, &w));
	random_capture_begin(r, w);
	random_capture_run(r, w, samples);
	if (symbols)
		random_capture_symbols(r, w);
	assert_null(capture_writer_finish(w, NULL));
	return path;
}
