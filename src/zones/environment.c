/*
 * What the environment says: SONDE_ZONES, a list of words with commas between them.  A program
 * with more rights than its caller (set-user-ID) does not listen to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zones/runtime.h"

struct zones_environment zones_env;

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
	} else if (size > file_size && !memcmp(word, file, file_size) &&
		   size - file_size < sizeof(zones_env.path)) {
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
