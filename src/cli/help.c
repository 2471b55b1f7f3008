/*
 * Help: one layout for every command, generated from its option rows, so that every option has its
 * line.  For 80 columns: a column of names, and a column of wrapped texts.
 */

#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/options.h"

#define LINE_WIDTH 80
/* A name wider than this has its text on the next line. */
#define NAMES_WIDTH 26

/*
 * Appends text word by word to the line so far, whose column is `at`; further lines begin at
 * indent.
 */
static size_t put_words(struct str text, size_t at, size_t indent)
{
	while (text.size) {
		const char *space = memchr(text.data, ' ', text.size);
		size_t size = space ? (size_t)(space - text.data) : text.size;

		if (at + 1 + size > LINE_WIDTH && at > indent) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		}
		if (at > indent)
			at += (size_t)printf(" ");
		at += (size_t)printf("%.*s", (int)size, text.data);
		size += space != NULL;
		text = (struct str){text.data + size, text.size - size};
	}
	return at;
}

/* Prints paragraphs, refilled; a line that begins with a blank stays unchanged. */
static void put_details(const char *text)
{
	size_t at = 0;

	while (*text) {
		struct str line = {text, strcspn(text, "\n")};
		bool is_verbatim = line.size == 0 || line.data[0] == ' ';

		if (is_verbatim && at)
			printf("\n");
		if (is_verbatim)
			printf("%.*s\n", STR_ARG(line));
		at = is_verbatim ? 0 : put_words(line, at, 0);
		text += line.size + (text[line.size] == '\n');
	}
	if (at)
		printf("\n");
}

static void put_option(const struct option_row *row)
{
	size_t indent = NAMES_WIDTH + 2;
	int width = printf("  ");

	if (row->short_name)
		width += printf("-%c%s", row->short_name, row->long_name ? ", " : "");
	else
		width += printf("    ");
	if (row->long_name)
		width += printf("--%s", row->long_name);
	if (row->value_name)
		width += printf(" %s", row->value_name);
	if (width > NAMES_WIDTH)
		printf("\n%*s", (int)indent, "");
	else
		printf("%*s", (int)indent - width, "");
	indent = put_words(str_from(row->help), NAMES_WIDTH + 2, NAMES_WIDTH + 2);
	for (size_t i = 0; choice_name(row->choices, i); i++) {
		char word[64];

		snprintf(word, sizeof(word), "%s%s%s", i == 0 ? "(" : "",
			choice_name(row->choices, i), choice_name(row->choices, i + 1) ? "," : ")");
		indent = put_words(str_from(word), indent, NAMES_WIDTH + 2);
	}
	printf("\n");
}

void help_command(const struct command *command)
{
	const struct option_group *group;
	const char *heading = NULL;

	printf("usage: sonde %s%s%s\n\n%s\n", command->name, command->usage[0] ? " " : "",
		command->usage, command->summary);
	if (command->details) {
		printf("\n");
		put_details(command->details);
	}
	for (size_t i = 0; (group = options_group(command, i)) != NULL; i++) {
		if (heading == NULL || strcmp(heading, group->heading) != 0)
			printf("\n%s:\n", group->heading);
		heading = group->heading;
		for (const struct option_row *row = group->rows; option_row_exists(row); row++)
			put_option(row);
	}
}

void help_topic_print(const struct help_topic *topic)
{
	put_details(topic->text);
}

void help_overview(void)
{
	printf("usage: sonde COMMAND [ARG...]\n\n"
	       "A profiler for native programs: records a program as it is, unchanged, and\n"
	       "reports where it spends its time, recursion included.\n\n");
	for (const struct command *const *c = commands; *c; c++)
		printf("  %-12s%s\n", (*c)->name, (*c)->summary);
	printf("\n");
	for (const struct help_topic *const *t = help_topics; *t; t++)
		printf("  help %-7s%s\n", (*t)->name, (*t)->summary);
	printf("\n"
	       "  sonde help COMMAND     what a command does, and its options\n"
	       "  sonde --version        the version of this program\n\n"
	       "Long options, and values that are one of a list, can be cut short as long as\n"
	       "no other begins so; such values can be in any case: --coll dir, --clock V.\n"
	       "So can each item of a list of metrics, columns or events: -e cyc,page.\n\n"
	       "To begin: sonde run ./your-program\n");
}
