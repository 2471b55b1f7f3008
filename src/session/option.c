/*
 * Names of choices, and the check of a text against them.
 */
#include "session/option.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

struct error *option_check(const struct option_row *row, const char *value)
{
	struct strbuf all = {0};
	struct error *err;
	struct nearest n;
	const char *name;

	if (row->value != VALUE_CHOICE)
		return NULL;
	nearest_init(&n, str_from(value));
	for (size_t i = 0; (name = choice_name(row->choices, i)) != NULL; i++) {
		if (choice_is(value, name)) {
			strbuf_deinit(&all);
			return NULL;
		}
		nearest_offer(&n, str_from(name));
		strbuf_printf(&all, "%s%s", i ? ", " : "", name);
	}
	if (n.best.size)
		err = error_new(ERROR_USAGE,
			"invalid value '%s': expected one of %s; did you mean '%.*s'?", value,
			all.data, STR_ARG(n.best));
	else
		err = error_new(
			ERROR_USAGE, "invalid value '%s': expected one of %s", value, all.data);
	strbuf_deinit(&all);
	return err;
}

bool option_is_of(const struct option_row *rows, int id)
{
	for (const struct option_row *row = rows; option_row_exists(row); row++)
		if (row->id == id)
			return true;
	return false;
}
