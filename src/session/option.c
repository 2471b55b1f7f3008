/*
 * Names of choices, and the check of a text against them.
 */
#include "session/option.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"

const char *choice_name(struct choices choices, size_t i)
{
	const void *row = choices.rows ? (const char *)choices.rows + i * choices.step : NULL;

	if (row && choices.are_pointers)
		row = *(const void *const *)row;
	return row ? *(const char *const *)row : NULL;
}

bool choice_is(const char *text, const char *choice)
{
	size_t size = strlen(choice);

	if (size && choice[size - 1] == ':')
		return strncmp(text, choice, size) == 0 && text[size];
	return strcmp(text, choice) == 0;
}

int choice_find(const char *text, struct choices choices)
{
	size_t i = 0;
	const char *name;

	while ((name = choice_name(choices, i)) != NULL && !choice_is(text, name))
		i++;
	assert(name);
	return (int)i;
}

/* Whether a choice begins with the text, in any case. */
static bool choice_begins(const char *choice, const char *text)
{
	size_t size = strlen(text);

	return size && strncasecmp(choice, text, size) == 0;
}

const char *choice_named(struct choices choices, const char *text, bool *several)
{
	const char *name, *same = NULL, *longer = NULL;

	*several = false;
	for (size_t i = 0; (name = choice_name(choices, i)) != NULL; i++) {
		if (choice_is(text, name))
			return name;
		if (strcasecmp(name, text) == 0)
			same = name;
		if (!choice_begins(name, text) || name[strlen(name) - 1] == ':')
			continue;
		*several |= longer != NULL;
		longer = name;
	}
	if (same)
		*several = false;
	return same ? same : *several ? NULL : longer;
}

/* Adds ", NAME" to a list. */
static void list_add(struct strbuf *list, const char *name)
{
	strbuf_printf(list, "%s%s", list->size ? ", " : "", name);
}

static struct error *invalid_choice(struct choices choices, const char *value, bool is_ambiguous)
{
	struct strbuf all = {0};
	struct error *err;
	struct nearest n;
	const char *name;

	nearest_init(&n, str_from(value));
	for (size_t i = 0; (name = choice_name(choices, i)) != NULL; i++) {
		nearest_offer(&n, str_from(name));
		if (!is_ambiguous || choice_begins(name, value))
			list_add(&all, name);
	}
	if (is_ambiguous)
		err = error_new(ERROR_USAGE, "ambiguous value '%s': it may be %s", value, all.data);
	else if (n.best.size)
		err = error_new(ERROR_USAGE,
			"invalid value '%s': expected one of %s; did you mean '%.*s'?", value,
			all.data, STR_ARG(n.best));
	else
		err = error_new(
			ERROR_USAGE, "invalid value '%s': expected one of %s", value, all.data);
	strbuf_deinit(&all);
	return err;
}

struct error *option_check(const struct option_row *row, const char **value)
{
	bool is_ambiguous;
	const char *name;

	if (row->value != VALUE_CHOICE)
		return NULL;
	name = choice_named(row->choices, *value, &is_ambiguous);
	if (name == NULL)
		return invalid_choice(row->choices, *value, is_ambiguous);
	/* What follows a colon belongs to the value. */
	if (name[strlen(name) - 1] != ':')
		*value = name;
	return NULL;
}

bool option_is_of(const struct option_row *rows, int id)
{
	for (const struct option_row *row = rows; option_row_exists(row); row++)
		if (row->id == id)
			return true;
	return false;
}
