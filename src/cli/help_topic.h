#ifndef SONDE_CLI_HELP_TOPIC_H
#define SONDE_CLI_HELP_TOPIC_H

/*
 * The topics that `sonde help NAME` explains in addition to commands.
 *
 * To add one: a file help_NAME.c that ends in one `const struct help_topic`, a row in
 * help_topics.c; completion and the overview follow. tests/e2e/cli_help.py compares its examples
 * with sonde's output.
 */

struct help_topic {
	const char *name;
	const char *summary; /* one line for `sonde help` */
	const char *text;    /* like command.details */
};

extern const struct help_topic help_topic_when, help_topic_zones;

extern const struct help_topic *const help_topics[]; /* NULL-terminated */

/* NULL if there is no topic with that name. */
const struct help_topic *help_topic_find(const char *name);

#endif
