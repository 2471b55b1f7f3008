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

struct debuginfod_source {
	struct build_source base;
	void *library;
	struct client *client;
	void (*end)(struct client *);
	find_fn *find_debug, *find_code;
	unsigned int asked;
	int silence; /* the error of a server that did not answer, so no more is asked for; 0 */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* Asks a server; SIGINT ends only the request. */
static int ask(struct debuginfod_source *s, find_fn *find, struct str build_id, char **path)
{
	struct sigaction stop = {.sa_handler = on_interrupt}, before;
	char *id = xstrndup(build_id.data, build_id.size);

	interrupted = 0;
	sigaction(SIGINT, &stop, &before);
	/* Size 0: it is text. */
	int fd = find(s->client, (const unsigned char *)id, 0, path);
	sigaction(SIGINT, &before, NULL);
	s->base.is_interrupted = interrupted;
	free(id);
	return fd;
}

/* A server that says that it has no such file, or sends something else, has answered. */
static bool is_answer(int code)
{
	return code == ENOENT || code == EBADMSG || code == ENODATA || code == EFBIG;
}

static char *debuginfod_find(
	struct build_source *source, const struct build_wanted *wanted, char **problem)
{
	struct debuginfod_source *s = (struct debuginfod_source *)source;
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
	int fd = ask(s, wanted->part == BUILD_DEBUG ? s->find_debug : s->find_code,
		wanted->build_id, &path);
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
	if (begin && set_progress && s->end && s->find_debug && s->find_code)
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
