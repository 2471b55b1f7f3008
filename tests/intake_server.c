/*
 * An intake without an agent, for tests: keeps each profile as a file in a folder, and prints where
 * it is from.
 *
 *	intake_server ADDRESS FOLDER [token=FILE] [body-max=BYTES] [seconds=N] [fail=HOW]
 *
 * HOW: "system" or "input", with such an error; "time", "memory" or "crash": in a way that no
 * profile may.
 *
 * The first line is the address; then comes a line of JSON for each profile, until SIGTERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "formats/writers.h"
#include "intake/intake.h"

struct server {
	const char *folder, *fail;
};

static struct error *write_profile(const struct profile *profile, const char *path)
{
	const struct writer_options options = {.metric = profile->default_metric};
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct sink sink;

	if (fd < 0)
		return error_system(errno, "%s", path);
	sink_init(&sink, fd, path);
	struct error *err = writer_dump.write(&sink, profile, &options);
	struct error *failed = sink_finish(&sink);

	close(fd);
	if (err == NULL)
		return failed;
	error_destroy(failed);
	return err;
}

static void print_origin(const struct intake_origin *origin, const char *path)
{
	struct strbuf line = {0};
	struct json_writer w = json_writer(&line);

	json_put_object(&w);
	json_put_key(&w, "file"), json_put_string(&w, str_from(path));
	json_put_key(&w, "protocol"), json_put_string(&w, str_from(origin->protocol));
	json_put_key(&w, "service"), json_put_string(&w, origin->service);
	json_put_key(&w, "host"), json_put_string(&w, origin->host);
	json_put_key(&w, "start"), json_put_unsigned(&w, origin->start_unix_ns);
	json_put_key(&w, "end"), json_put_unsigned(&w, origin->end_unix_ns);
	json_put_key(&w, "interval"), json_put_unsigned(&w, origin->interval_ns);
	json_put_key(&w, "digest"), json_put_unsigned(&w, origin->digest);
	json_put_key(&w, "labels"), json_put_object(&w);
	for (size_t i = 0; i < origin->label_count; i++) {
		json_put_key_str(&w, origin->labels[i].key);
		json_put_string(&w, origin->labels[i].value);
	}
	json_put_end(&w), json_put_end(&w);
	/* Without a buffer, as a child that is forked meanwhile would have a copy of it. */
	dprintf(STDOUT_FILENO, "%.*s\n", STR_ARG(strbuf_str(&line)));
	strbuf_deinit(&line);
}

/* Does what a profile must not do to the server. */
static void misbehave(const char *how)
{
	while (strcmp(how, "time") == 0)
		(void)clock_monotonic_ns();
	while (strcmp(how, "memory") == 0)
		memset(xalloc(1 << 20), 1, 1 << 20);
	if (strcmp(how, "crash") == 0)
		abort();
}

static struct error *keep(
	void *context, struct profile *profile, const struct intake_origin *origin)
{
	struct server *server = context;
	struct error *err = NULL;

	if (server->fail)
		misbehave(server->fail);
	if (server->fail && strcmp(server->fail, "system") == 0) {
		err = error_system(ENOSPC, "the spool is full");
	} else if (server->fail) {
		err = error_new(ERROR_INPUT, "this service is not wanted");
	} else {
		/* Each profile is kept by a process of its own. */
		char *path = xasprintf(
			"%s/%llu.dump", server->folder, (unsigned long long)clock_monotonic_ns());

		err = write_profile(profile, path);
		if (err == NULL)
			print_origin(origin, path);
		free(path);
	}
	profile_destroy(profile);
	return err;
}

static void put_metrics(void *context, struct strbuf *out)
{
	(void)context;
	strbuf_add(out, STR("# TYPE server_up gauge\nserver_up 1\n"));
}

int main(int argc, char **argv)
{
	struct server server = {0};
	struct intake_options options = {.keep = keep, .metrics = put_metrics, .context = &server};
	struct intake *intake;
	sigset_t wanted;
	int number;

	if (argc < 3)
		return 2;
	options.address = argv[1];
	server.folder = argv[2];
	for (int i = 3; i < argc; i++) {
		if (strncmp(argv[i], "token=", 6) == 0)
			options.token_file = argv[i] + 6;
		else if (strncmp(argv[i], "body-max=", 9) == 0)
			options.body_max = strtoul(argv[i] + 9, NULL, 10);
		else if (strncmp(argv[i], "seconds=", 8) == 0)
			options.reading_seconds = (unsigned)strtoul(argv[i] + 8, NULL, 10);
		else if (strncmp(argv[i], "fail=", 5) == 0)
			server.fail = argv[i] + 5;
		else
			return 2;
	}
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &wanted, NULL);
	struct error *err = intake_start(&options, &intake);

	if (err) {
		fprintf(stderr, "%s\n", err->message);
		error_destroy(err);
		return 1;
	}
	dprintf(STDOUT_FILENO, "%s\n", intake_address(intake));
	sigwait(&wanted, &number);
	intake_stop(intake);
	return 0;
}
