/*
 * Names of choices, and the check of a text against them.
 */
#include "session/option.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/abbreviation.h"
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

/* Whether text follows the choice. */
static bool choice_has_text(const char *choice)
{
	return choice[strlen(choice) - 1] == ':';
}

/* The choice that is meant; NULL: none, or one of those in *a, which the caller deinits. */
static const char *choice_offer_all(
	struct choices choices, const char *text, struct abbreviation *a)
{
	const char *name, *best = NULL;

	abbreviation_init(a, str_from(text));
	for (size_t i = 0; (name = choice_name(choices, i)) != NULL; i++) {
		if (choice_is(text, name))
			return name;
		if (!choice_has_text(name) && abbreviation_offer(a, str_from(name)))
			best = name;
	}
	return abbreviation_found(a) ? best : NULL;
}

const char *choice_named(struct choices choices, const char *text, bool *several)
{
	struct abbreviation a;
	const char *name = choice_offer_all(choices, text, &a);

	*several = name == NULL && abbreviation_is_ambiguous(&a);
	abbreviation_deinit(&a);
	return name;
}

static struct error *invalid_choice(struct choices choices, const char *value)
{
	struct strbuf all = {0};
	struct error *err;
	struct nearest n;
	const char *name;
	bool needs_text = false;

	nearest_init(&n, str_from(value));
	for (size_t i = 0; (name = choice_name(choices, i)) != NULL; i++) {
		nearest_offer(&n, str_from(name));
		needs_text |= strcmp(name, value) == 0;
		strbuf_printf(&all, "%s%s", all.size ? ", " : "", name);
	}
	if (needs_text)
		err = error_new(ERROR_USAGE, "expected text after '%s'", value);
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
	struct abbreviation a;
	struct error *err = NULL;

	if (row->value != VALUE_CHOICE)
		return NULL;
	const char *name = choice_offer_all(row->choices, *value, &a);
	if (name == NULL && abbreviation_is_ambiguous(&a))
		err = error_new(
			ERROR_USAGE, "ambiguous value '%s': it may be %s", *value, a.names.data);
	else if (name == NULL)
		err = invalid_choice(row->choices, *value);
	else if (!choice_has_text(name))
		*value = name;
	abbreviation_deinit(&a);
	return err;
}

bool option_is_of(const struct option_row *rows, int id)
{
	for (const struct option_row *row = rows; option_row_exists(row); row++)
		if (row->id == id)
			return true;
	return false;
}
