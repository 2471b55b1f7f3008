/*
 * debuginfod servers (elfutils) as a source of files by build ID, through elfutils' client, which
 * keeps what it was sent, and what servers do not have, in its own cache.
 *
 * The client pulls in an HTTP client and much else, so it is loaded only when a user asks for it.
 * Its usual patience, 90 s and two more tries for each file, would look like a hang: sonde waits
 * 5 s, tries once, and asks for nothing more after a server did not answer.  The environment's
 * settings come first.
 */
#include "symbolize/build_source.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SONDE_STATIC
#include <dlfcn.h>
#endif

#include "base/alloc.h"

/* elfutils' DEBUGINFOD_SONAME; the names and signatures below are those of its <debuginfod.h>. */
#define LIBRARY		"libdebuginfod.so.1"
#define TIMEOUT_SECONDS 5
/* Requests at most, whatever the input. */
#define ASKED_MAX 128

struct client;
typedef int find_fn(struct client *, const unsigned char *build_id, int size, char **path);
typedef int find_text_fn(
	struct client *, const unsigned char *build_id, int size, const char *source, char **path);

struct debuginfod_source {
	struct build_source base;
	void *library;
	struct client *client;
	void (*end)(struct client *);
	find_fn *find_debug, *find_code;
	find_text_fn *find_text;
	unsigned int asked;
	int silence; /* the error of a server that did not answer, so no more is asked for; 0 */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* What a server is asked for. */
struct question {
	struct str build_id;
	enum build_part part;
	struct str text; /* path of a source file; empty: ask for the part */
};

/* Asks a server; SIGINT ends only the request. */
static int ask(struct debuginfod_source *s, const struct question *question, char **path)
{
	struct sigaction stop = {.sa_handler = on_interrupt}, before;
	char *id = xstrndup(question->build_id.data, question->build_id.size);
	char *text = xstrndup(question->text.data, question->text.size);
	/* Size 0: it is text. */
	const unsigned char *bytes = (const unsigned char *)id;
	find_fn *find = question->part == BUILD_DEBUG ? s->find_debug : s->find_code;

	interrupted = 0;
	sigaction(SIGINT, &stop, &before);
	int fd = text[0] ? s->find_text(s->client, bytes, 0, text, path)
			 : find(s->client, bytes, 0, path);
	sigaction(SIGINT, &before, NULL);
	s->base.is_interrupted = interrupted;
	free(text);
	free(id);
	return fd;
}

/* A server that says that it has no such file, or sends something else, has answered. */
static bool is_answer(int code)
{
	return code == ENOENT || code == EBADMSG || code == ENODATA || code == EFBIG;
}

/* The path of the file that a server sent; NULL: none did. */
static char *fetch(struct debuginfod_source *s, const struct question *question, char **problem)
{
	struct build_source *source = &s->base;
	char *path = NULL, *copy;

	if (s->silence || source->is_interrupted) {
		if (*problem == NULL)
			*problem = xasprintf("not asked for: %s",
				source->is_interrupted ? "interrupted"
						       : "the server did not answer");
		return NULL;
	}
	if (s->asked++ >= ASKED_MAX) {
		if (*problem == NULL)
			*problem = xasprintf("not asked for, after %d other files", ASKED_MAX);
		return NULL;
	}
	int fd = ask(s, question, &path);
	if (fd >= 0) {
		close(fd);
		copy = xstrdup(path);
		free(path);
		return copy;
	}
	if (source->is_interrupted || is_answer(-fd))
		return NULL;
	s->silence = -fd;
	if (*problem == NULL)
		*problem = xasprintf("the debuginfod server did not send it: %s", strerror(-fd));
	return NULL;
}

static char *debuginfod_find(
	struct build_source *source, const struct build_wanted *wanted, char **problem)
{
	return fetch((struct debuginfod_source *)source,
		&(struct question){
			.build_id = wanted->build_id, .part = wanted->part, .text = STR("")},
		problem);
}

static char *debuginfod_find_text(
	struct build_source *source, struct str build_id, struct str path, char **problem)
{
	return fetch((struct debuginfod_source *)source,
		&(struct question){.build_id = build_id, .text = path}, problem);
}

static void debuginfod_destroy(struct build_source *source)
{
	struct debuginfod_source *s = (struct debuginfod_source *)source;

	/* The library stays loaded: its HTTP client has handlers for the end of the process. */
	if (s->client)
		s->end(s->client);
	free(s->base.name);
	free(s);
}

/* Sets a variable that the client reads; one that is set stays, unless `replaces`. */
static void set_number(const char *name, uint64_t value, bool replaces)
{
	char *text = xasprintf("%llu", (unsigned long long)value);

	setenv(name, text, replaces);
	free(text);
}

static bool has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " \t\n")];
}

#ifdef SONDE_STATIC

static struct error *load(struct debuginfod_source *s)
{
	(void)s;
	return error_new(ERROR_UNSUPPORTED,
		"this sonde is a static program, which cannot load " LIBRARY
		"; fetch the files with debuginfod-find, and name their folder");
}

#else

/* The client calls it often; not 0: it gives up. */
static int on_progress(struct client *client, long done, long all)
{
	(void)client;
	(void)done;
	(void)all;
	return interrupted;
}

static struct error *load(struct debuginfod_source *s)
{
	s->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (s->library == NULL)
		return error_new(ERROR_UNSUPPORTED,
			LIBRARY " cannot be loaded; install it (Debian: libdebuginfod1)");
	struct client *(*begin)(void) =
		(struct client * (*)(void)) dlsym(s->library, "debuginfod_begin");
	void (*set_progress)(struct client *, int (*)(struct client *, long, long)) =
		(void (*)(struct client *, int (*)(struct client *, long, long)))dlsym(
			s->library, "debuginfod_set_progressfn");

	s->end = (void (*)(struct client *))dlsym(s->library, "debuginfod_end");
	s->find_debug = (find_fn *)dlsym(s->library, "debuginfod_find_debuginfo");
	s->find_code = (find_fn *)dlsym(s->library, "debuginfod_find_executable");
	s->find_text = (find_text_fn *)dlsym(s->library, "debuginfod_find_source");
	if (begin && set_progress && s->end && s->find_debug && s->find_code && s->find_text)
		s->client = begin();
	if (s->client == NULL)
		return error_new(
			ERROR_UNSUPPORTED, LIBRARY " cannot be used: it is another version");
	set_progress(s->client, on_progress);
	return NULL;
}

#endif

struct error *build_source_debuginfod(uint64_t timeout_ns, struct build_source **source)
{
	if (!has_servers())
		return error_new(ERROR_USAGE, "DEBUGINFOD_URLS names no server; for example: "
					      "DEBUGINFOD_URLS=https://debuginfod.elfutils.org");
	uint64_t seconds = (timeout_ns + 999999999) / 1000000000;

	set_number("DEBUGINFOD_TIMEOUT", seconds ? seconds : TIMEOUT_SECONDS, seconds != 0);
	set_number("DEBUGINFOD_RETRY_LIMIT", 0, false);
	struct debuginfod_source *s = xalloc(sizeof(*s));

	s->base = (struct build_source){.find = debuginfod_find,
		.find_text = debuginfod_find_text,
		.destroy = debuginfod_destroy,
		.name = xstrdup("debuginfod"),
		.is_network = true};
	struct error *err = load(s);
	if (err)
		debuginfod_destroy(&s->base);
	else
		*source = &s->base;
	return err;
}
