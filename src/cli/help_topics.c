/*
 * The table of help topics.
 */
#include "cli/help_topic.h"

#include <stddef.h>
#include <string.h>

const struct help_topic *const help_topics[] = {
	&help_topic_when,
	&help_topic_zones,
	NULL,
};

const struct help_topic *help_topic_find(const char *name)
{
	for (size_t i = 0; help_topics[i]; i++)
		if (strcmp(help_topics[i]->name, name) == 0)
			return help_topics[i];
	return NULL;
}
