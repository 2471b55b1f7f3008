/*
 * Answers in a child process.  What it writes into a pipe begins with one byte, for an answer or a
 * refusal; what follows is text up to the end.  Without that byte, or with another exit status than
 * 0, it failed.
 */
#include "serve/answering.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTE_ANSWER  'A'
#define BYTE_REFUSAL 'R'
/* Bytes read at a time. */
#define READ_BYTES 65536u

static void begin_answer(struct sink *sink)
{
	strbuf_add_char(&sink->text, BYTE_ANSWER);
}

/* The terminal, or an agent's connection, is not the child's. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
}

static int answer(void *context, int fd)
{
	struct request *request = context;
	struct sink sink;

	leave_terminal();
	sink_init(&sink, fd, "the answer");
	struct error *err = request_answer(request, &sink, begin_answer);

	if (err) {
		strbuf_add_char(&sink.text, BYTE_REFUSAL);
		strbuf_add(&sink.text, str_from(err->message));
		if (err->detail) {
			strbuf_add_char(&sink.text, '\n');
			strbuf_add(&sink.text, str_from(err->detail));
		}
	}
	err = sink_finish(&sink);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

struct error *answering_start(struct answering *a, struct request *request, size_t most)
{
	const struct limited_work work = {.cpu_seconds = ANSWERING_SECONDS,
		.memory_bytes = ANSWERING_BYTES,
		.kept_fd = source_root_fd(request->served->root),
		.run = answer,
		.context = request};

	*a = (struct answering){.most = most};
	struct error *err = limited_child_start(&a->child, &work);

	if (err == NULL)
		fcntl(a->child.fd, F_SETFL, O_NONBLOCK);
	return err;
}

static enum answering_state fail(struct answering *a, const char *why)
{
	limited_child_kill(&a->child);
	strbuf_clear(&a->text);
	strbuf_add(&a->text, str_from(why));
	return ANSWERING_FAILED;
}

/* All has been read. */
static enum answering_state finish(struct answering *a)
{
	static const char *const whys[] = {
		[LIMITED_BY_TIME] =
			"the answer takes too long; filters and --limit make it shorter",
		[LIMITED_BY_MEMORY] =
			"the answer takes too much memory; filters and --limit make it "
			"smaller",
		[LIMITED_FAILED] = "the answer failed; this is an error in sonde",
	};
	enum limited_end end = limited_child_end(&a->child);
	char first = a->text.size ? a->text.data[0] : '\0';

	if (end == LIMITED_DONE && first != BYTE_ANSWER && first != BYTE_REFUSAL)
		end = LIMITED_FAILED;
	if (end != LIMITED_DONE)
		return fail(a, whys[end]);
	memmove(a->text.data, a->text.data + 1, a->text.size);
	a->text.size--;
	return first == BYTE_ANSWER ? ANSWERING_DONE : ANSWERING_REFUSED;
}

enum answering_state answering_read(struct answering *a)
{
	char bytes[READ_BYTES];
	ssize_t size = read(a->child.fd, bytes, sizeof(bytes));

	if (size < 0)
		return errno == EAGAIN || errno == EINTR ? ANSWERING_RUNS
							 : fail(a, "cannot read the answer");
	if (size == 0)
		return finish(a);
	if (a->text.size + (size_t)size > a->most + 1)
		return fail(a, "the answer is too large; --limit makes it shorter");
	strbuf_add(&a->text, (struct str){bytes, (size_t)size});
	return ANSWERING_RUNS;
}

void answering_deinit(struct answering *a)
{
	limited_child_kill(&a->child);
	strbuf_deinit(&a->text);
}
