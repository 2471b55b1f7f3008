/*
 * Options parser over the commands' tables.
 *
 * One pass over argv.  Operands are moved to its front in place, which is safe because the write
 * position is never after the read position.  getopt_long(3) is not used: its tables have no help
 * texts and values, and its messages suggest no nearest name.  As with it, a long option may be cut
 * short as long as no other begins so.
 */

#include "cli/options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/str.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/perf_habits.h"
#include "formats/readers.h"
#include "formats/writers.h"
#include "session/values.h"
#include "view/formats.h"

/* From common_rows; a command's own ids are passed only to its set function. */
enum { OPTION_HELP };

static const struct option_row common_rows[] = {
	{OPTION_HELP, 'h', "help", VALUE_NONE, NULL, {0}, "show this help"},
	{0},
};

static const struct option_group common_group = {"Other", common_rows};

struct parser {
	const struct command *command;
	int argc, at, kept; /* argv[at] is next; argv[1..kept] are operands */
	char **argv;
	struct error *(*set)(void *context, int id, const char *value);
	void *context;
	bool wants_help;
};

const struct option_group *options_group(const struct command *self, size_t i)
{
	for (const struct option_group *g = self->groups; g && g->rows; g++) {
		if (i-- == 0)
			return g;
	}
	return i == 0 ? &common_group : NULL;
}

static const struct option_row *row_find(
	const struct command *self, char short_name, struct str long_name)
{
	const struct option_group *g;

	for (size_t i = 0; (g = options_group(self, i)) != NULL; i++) {
		for (const struct option_row *row = g->rows; option_row_exists(row); row++) {
			if (short_name && row->short_name == short_name)
				return row;
			if (long_name.size && str_equal(str_from(row->long_name), long_name))
				return row;
		}
	}
	return NULL;
}

/* The only option that begins with the name; NULL: none, or several, which are then in *names. */
static const struct option_row *row_begun(
	const struct command *self, struct str name, struct strbuf *names)
{
	const struct option_row *found = NULL;
	const struct option_group *g;
	size_t count = 0;

	for (size_t i = 0; name.size && (g = options_group(self, i)) != NULL; i++) {
		for (const struct option_row *row = g->rows; option_row_exists(row); row++) {
			if (!str_starts_with(str_from(row->long_name), name))
				continue;
			strbuf_printf(names, "%s--%s", count++ ? ", " : "", row->long_name);
			found = row;
		}
	}
	if (count < 2)
		strbuf_clear(names);
	return count == 1 ? found : NULL;
}

static struct error *unknown_long(const struct command *self, struct str name)
{
	const struct option_group *g;
	const char *habit = perf_habit(self->name, 0, name);
	struct nearest n;

	if (habit)
		return error_new(ERROR_USAGE, "--%.*s is perf's option: %s", STR_ARG(name), habit);
	nearest_init(&n, name);
	for (size_t i = 0; (g = options_group(self, i)) != NULL; i++) {
		for (const struct option_row *row = g->rows; option_row_exists(row); row++)
			nearest_offer(&n, str_from(row->long_name));
	}
	if (n.best.size)
		return error_new(ERROR_USAGE, "unknown option '--%.*s'; did you mean '--%.*s'?",
			STR_ARG(name), STR_ARG(n.best));
	return error_new(ERROR_USAGE, "unknown option '--%.*s'; see 'sonde help %s'", STR_ARG(name),
		self->name);
}

/* Finds the option of that name, or of that beginning.  What perf calls so is not begun here. */
static struct error *find_long(
	const struct command *self, struct str name, const struct option_row **row)
{
	struct strbuf names = {0};
	struct error *err = NULL;

	*row = row_find(self, 0, name);
	if (*row)
		return NULL;
	if (perf_habit(self->name, 0, name) == NULL)
		*row = row_begun(self, name, &names);
	if (*row == NULL && names.size)
		err = error_new(ERROR_USAGE, "ambiguous option '--%.*s': it may be %s",
			STR_ARG(name), names.data);
	else if (*row == NULL)
		err = unknown_long(self, name);
	strbuf_deinit(&names);
	return err;
}

static struct error *unknown_short(const struct command *self, char letter, const char *argument)
{
	const char *habit = perf_habit(self->name, letter, (struct str){0});

	if (habit)
		return error_new(ERROR_USAGE, "-%c is perf's option: %s", letter, habit);
	return error_new(ERROR_USAGE, "unknown option '-%c' in '%s'; see 'sonde help %s'", letter,
		argument, self->name);
}

static bool is_other_case(const char *name, const char *text)
{
	return name && strcasecmp(name, text) == 0;
}

/*
 * The name of the format that is meant, of those that views write, too, if it is written; or the
 * text itself, which the command then refuses.
 */
static const char *format_named(enum option_value kind, const char *text)
{
	const struct choices tables[] = {CHOICES_POINTERS(readers), CHOICES_POINTERS(writers)};
	bool is_written = kind == VALUE_WRITER, several, also_several = false;
	const char *name = choice_named(tables[is_written], text, &several), *drawn = NULL;

	if (is_written)
		drawn = choice_named((struct choices)CHOICES(formats), text, &also_several);
	if (is_other_case(name, text))
		return name;
	if (is_other_case(drawn, text))
		return drawn;
	if (several || also_several || (name && drawn && strcmp(name, drawn) != 0))
		return text;
	return name ? name : drawn ? drawn : text;
}

/* value is NULL for flags; name is the option as typed, for messages. */
static struct error *apply(
	struct parser *p, const struct option_row *row, const char *name, const char *value)
{
	struct error *err = NULL;

	if (row == &common_rows[OPTION_HELP]) {
		p->wants_help = true;
		return NULL;
	}
	if (row->value == VALUE_CHOICE)
		err = option_check(row, &value);
	if (row->value == VALUE_READER || row->value == VALUE_WRITER)
		value = format_named(row->value, value);
	if (!err)
		err = p->set(p->context, row->id, value);
	return err ? error_prefix(err, "%s", name) : NULL;
}

/* For an option without a value in the same argument, takes the next argument. */
static struct error *next_value(
	struct parser *p, const struct option_row *row, const char *name, const char **value)
{
	if (p->at == p->argc)
		return error_new(ERROR_USAGE, "%s needs a value: %s", name, row->value_name);
	*value = p->argv[p->at++];
	return NULL;
}

static bool is_option(const char *argument)
{
	return argument[0] == '-' && argument[1];
}

/* Takes the values after the first one of an option with several. */
static struct error *further_values(
	struct parser *p, const struct option_row *row, const char *name)
{
	struct error *err = NULL;

	while (row->value == VALUE_FILES && err == NULL && p->at < p->argc &&
		!is_option(p->argv[p->at]))
		err = apply(p, row, name, p->argv[p->at++]);
	return err;
}

static struct error *parse_long(struct parser *p, const char *argument)
{
	const char *equals = strchr(argument, '=');
	size_t size = equals ? (size_t)(equals - argument) : strlen(argument);
	struct str name = {argument + 2, size - 2};
	const struct option_row *row;
	const char *value = equals ? equals + 1 : NULL;
	struct error *err = find_long(p->command, name, &row);
	char *spelled;

	if (err)
		return err;
	spelled = xstrndup(argument, size);
	if (row->value == VALUE_NONE && value)
		err = error_new(ERROR_USAGE, "%s takes no value", spelled);
	else if (row->value != VALUE_NONE && !value)
		err = next_value(p, row, spelled, &value);
	if (!err)
		err = apply(p, row, spelled, value);
	if (!err)
		err = further_values(p, row, spelled);
	free(spelled);
	return err;
}

/* Parses -abc VALUE, -abcVALUE: flags, up to one that takes a value, which takes the rest. */
static struct error *parse_short(struct parser *p, const char *argument)
{
	for (const char *letter = argument + 1; *letter && !p->wants_help; letter++) {
		const struct option_row *row = row_find(p->command, *letter, (struct str){0});
		const char spelled[] = {'-', *letter, 0};
		const char *value = NULL;
		struct error *err = NULL;

		if (!row)
			return unknown_short(p->command, *letter, argument);
		if (row->value != VALUE_NONE && letter[1])
			value = letter + 1;
		else if (row->value != VALUE_NONE)
			err = next_value(p, row, spelled, &value);
		if (!err)
			err = apply(p, row, spelled, value);
		if (!err)
			err = further_values(p, row, spelled);
		if (err || value)
			return err;
	}
	return NULL;
}

static void keep_operand(struct parser *p, char *argument)
{
	p->argv[++p->kept] = argument;
}

static struct error *parse_all(struct parser *p)
{
	bool only_operands = false;

	while (p->at < p->argc && !p->wants_help) {
		char *argument = p->argv[p->at++];
		struct error *err = NULL;

		if (only_operands || !is_option(argument)) {
			keep_operand(p, argument);
			only_operands |= p->command->stops_at_operand;
		} else if (strcmp(argument, "--") == 0) {
			only_operands = true;
		} else if (argument[1] == '-') {
			err = parse_long(p, argument);
		} else {
			err = parse_short(p, argument);
		}
		if (err)
			return err;
	}
	return NULL;
}

bool options_parse(const struct command *self, int argc, char **argv,
	struct error *(*set)(void *context, int id, const char *value), void *context,
	struct operands *operands, int *status)
{
	struct parser p = {self, argc, 1, 0, argv, set, context, false};
	struct error *err = parse_all(&p);

	if (err) {
		message_error(error_prefix(err, "%s", self->name));
		*status = options_usage_status(self);
		return false;
	}
	if (p.wants_help) {
		help_command(self);
		*status = EXIT_SUCCESS;
		return false;
	}
	argv[p.kept + 1] = NULL;
	*operands = (struct operands){p.kept, argv + 1};
	return true;
}

int options_usage_status(const struct command *self)
{
	/* Commands that stop at an operand also run it. */
	return self->stops_at_operand ? EXIT_OWN_FAILURE : EXIT_USAGE;
}

/* Prints the error and where help is, unless the message already suggests something. */
static int usage_error(const struct command *self, struct error *err)
{
	bool says = str_ends_with(str_from(err->message), STR("?")) ||
		    strstr(err->message, "; see 'sonde help ");
	struct error *said = error_new(ERROR_USAGE, "%s: %s%s%s%s", self->name, err->message,
		says ? "" : "; see 'sonde help ", says ? "" : self->name, says ? "" : "'");

	if (err->detail)
		said = error_detail(said, "%s", err->detail);
	error_destroy(err);
	message_error(said);
	return options_usage_status(self);
}

int options_failure(const struct command *self, struct error *err)
{
	if (err->kind == ERROR_USAGE)
		return usage_error(self, err);
	message_error(err);
	return EXIT_FAILURE;
}

int options_usage_error(const struct command *self, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	struct error *err = error_new(ERROR_USAGE, "%s", text);

	free(text);
	return usage_error(self, err);
}
