#ifndef SONDE_CLI_HELP_TOPIC_H
#define SONDE_CLI_HELP_TOPIC_H

/*
 * What `sonde help NAME` explains beside commands.
 *
 * To add one: a file help_NAME.c that ends in one `const struct help_topic`, a row in
 * help_topics.c; completion and the overview follow.  What its examples print is compared with what
 * sonde prints, by tests/e2e/cli_help.py.
 */

struct help_topic {
	const char *name;
	const char *summary; /* one line for `sonde help` */
	const char *text;    /* as command.details */
};

extern const struct help_topic help_topic_when, help_topic_zones;

extern const struct help_topic *const help_topics[]; /* NULL-terminated */

/* NULL if there is none of that name. */
const struct help_topic *help_topic_find(const char *name);

#endif
