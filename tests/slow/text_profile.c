/*
 * Profiles and call trees as text.  See text_profile.h.
 */
#include "text_profile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/builder.h"

static struct profile *finish(struct builder *b)
{
	struct profile *profile;
	struct error *err = builder_finish(b, &profile);

	if (err) {
		fprintf(stderr, "text_profile: %s\n", err->message);
		abort();
	}
	return profile;
}

static struct builder *start(void)
{
	struct builder *b = builder_create();

	(void)builder_metric(b, STR("samples"), STR("count"));
	return b;
}

static frame_id add_frame(struct builder *b, const char *word)
{
	const char *colon = strchr(word, ':');
	const char *name = colon ? colon + 1 : word;
	object_id object = {NO_ID};

	if (colon) {
		struct str path = {word, (size_t)(colon - word)};
		object = builder_object(b, path, STR(""), OBJECT_USER);
	}
	string_id none = builder_string(b, STR(""));
	string_id name_id = builder_string(b, str_from(name));
	function_id function = builder_function(b, name_id, object, none, 0);
	return builder_frame(b, function, none, 0, false, 0);
}

/* Splits the line at blanks; the last word is the weight. */
static void add_line(struct builder *b, char *line)
{
	stack_id stack = {0};
	char *rest, *word = strtok_r(line, " ", &rest), *next;

	if (word == NULL)
		return;
	for (; (next = strtok_r(NULL, " ", &rest)) != NULL; word = next)
		stack = builder_stack(b, stack, add_frame(b, word));
	int64_t weight = strtoll(word, NULL, 10);
	builder_weight(b, stack, &weight, 1);
}

struct profile *text_profile(const char *lines)
{
	struct builder *b = start();
	char *copy = xstrdup(lines), *rest;

	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		add_line(b, line);
	free(copy);
	return finish(b);
}

struct profile *chain_profile(
	const char *const *names, const uint32_t *chain, size_t depth, int64_t weight)
{
	struct builder *b = start();
	stack_id stack = {0};

	for (size_t i = 0; i < depth; i++)
		stack = builder_stack(b, stack, add_frame(b, names[chain[i]]));
	builder_weight(b, stack, &weight, 1);
	return finish(b);
}

static void add_node(struct strbuf *out, const struct calltree_row *r)
{
	strbuf_printf(out, " %" PRId64, r->direct);
	if (r->indirect != 0)
		strbuf_printf(out, "(%" PRId64 ")", r->indirect);
	strbuf_printf(out, " %" PRId64, r->in_only);
}

const char *text_calltree(const struct calltree *tree, struct strbuf *out)
{
	struct strbuf scratch = {0};

	strbuf_clear(out);
	strbuf_add(out, STR(""));
	for (size_t i = 0; i < tree->count; i++) {
		const struct calltree_row *r = &tree->rows[i];
		if (i > 0)
			strbuf_add(out, STR(" | "));
		for (uint32_t level = 1; level < r->level; level++)
			strbuf_add_char(out, '-');
		strbuf_add(out, entity_label(&tree->tree->entities[r->entity], &scratch));
		if (r->is_stub)
			strbuf_printf(out, "...>%u", r->target);
		else
			add_node(out, r);
	}
	strbuf_deinit(&scratch);
	return out->data;
}
