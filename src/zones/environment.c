/*
 * Reads SONDE_ZONES from the environment, a comma-separated list of words.  A program with more
 * privileges than its caller (set-user-ID) ignores it.
 *
 * The runtime prints only one message ever: that a requested file cannot be created, because the
 * user who set the variable waits for that file.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "zones/runtime.h"

struct zones_environment zones_env;

/* Prints to stderr.  It may be a pipe without a reader, so SIGPIPE must not reach the program. */
static void print(const char *text, size_t size)
{
	const struct timespec at_once = {0, 0};
	sigset_t pipe, old, pending;
	bool was_pending;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	if (pthread_sigmask(SIG_BLOCK, &pipe, &old))
		return;
	was_pending = !sigpending(&pending) && sigismember(&pending, SIGPIPE);
	if (write(STDERR_FILENO, text, size) < 0 && !was_pending)
		(void)sigtimedwait(&pipe, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void zones_environment_refused(const char *path, const char *why)
{
	char line[ZONES_PATH_BYTES + 256];
	int i, size = snprintf(line, sizeof(line),
		       "sonde: %s=file=%.*s: %s; zones are kept in memory alone\n",
		       ZONEWIRE_VARIABLE, ZONES_PATH_BYTES, path, why);

	if (size <= 0 || (size_t)size >= sizeof(line))
		return;
	for (i = 0; i < size - 1; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 127)
			line[i] = '?';
	print(line, (size_t)size);
}

static void environment_word(const char *word, size_t size)
{
	static const char notify[] = "notify=", file[] = "file=";
	size_t notify_size = sizeof(notify) - 1, file_size = sizeof(file) - 1;

	if (size == 6 && !memcmp(word, "events", 6)) {
		zones_env.events = true;
	} else if (size == 3 && !memcmp(word, "off", 3)) {
		zones_env.off = true;
	} else if (size > notify_size && !memcmp(word, notify, notify_size) &&
		   size - notify_size < sizeof(zones_env.notify)) {
		memcpy(zones_env.notify, word + notify_size, size - notify_size);
		zones_env.notify[size - notify_size] = '\0';
	} else if (size > file_size && !memcmp(word, file, file_size)) {
		if (size - file_size >= sizeof(zones_env.path)) {
			zones_environment_refused(word + file_size, "the path is too long");
			return;
		}
		memcpy(zones_env.path, word + file_size, size - file_size);
		zones_env.path[size - file_size] = '\0';
		zones_env.path_has_pid = strstr(zones_env.path, "%p") != NULL;
	}
}

void zones_environment_read(void)
{
	const char *word = secure_getenv(ZONEWIRE_VARIABLE);

	if (zones_env.is_read)
		return;
	zones_env.is_read = true;
	while (word && *word) {
		size_t size = strcspn(word, ",");

		environment_word(word, size);
		word += size + (word[size] == ',');
	}
}
