/*
 * A count before a text is the sum, and the text is that of the greatest count, which is in the
 * plural if any is.  If all are about a single thing, "a sample was lost", no count can be put
 * before them, so the note gives the number of profiles instead.
 */
#include "model/common_notes.h"

#include "base/saturate.h"
#include "model/builder.h"
#include "model/note_key.h"

void common_notes_init(struct common_notes *n)
{
	*n = (struct common_notes){.arena = arena_create()};
	str_table_init(&n->keys, n->arena);
}

void common_notes_deinit(struct common_notes *n)
{
	map_deinit(&n->place_of);
	str_table_deinit(&n->keys);
	vec_deinit(&n->rows);
	arena_destroy(n->arena);
}

/* Whether the count decides about the singular and plural, and nothing else in the text differs. */
static bool has_key(enum note_kind kind, struct str text)
{
	const struct note note = {.kind = kind, .count = 2};

	if (!note_shows_count(&note))
		return false;
	for (size_t i = 0; i < text.size; i++)
		if (char_is_digit(text.data[i]))
			return false;
	return true;
}

static uint32_t key_of(struct common_notes *n, enum note_kind kind, struct str text)
{
	struct strbuf key = {0};

	if (has_key(kind, text))
		note_key_put(text, &key);
	else
		strbuf_add(&key, text);
	uint32_t number = str_table_intern(&n->keys, strbuf_str(&key));

	strbuf_deinit(&key);
	return number;
}

void common_notes_add(struct common_notes *n, enum note_kind kind, uint64_t count, struct str text)
{
	bool is_new;
	uint32_t place = *map_at(
		&n->place_of, key_of(n, kind, text), kind, (uint32_t)n->rows.count, &is_new);

	if (is_new)
		vec_push(&n->rows,
			(struct common_note){.kind = kind, .text = arena_str(n->arena, text)});
	struct common_note *row = &n->rows.data[place];

	add_saturating(&row->sum, count);
	if (count > row->most) {
		row->most = count;
		row->text = is_new ? row->text : arena_str(n->arena, text);
	}
	row->times++;
}

static void put(const struct common_note *row, struct builder *b, const char *whole)
{
	struct note one = {.kind = row->kind, .count = row->most};
	struct note sum = {.kind = row->kind, .count = row->sum};

	if (!note_shows_count(&sum))
		builder_note(b, row->kind, row->most, "%.*s", STR_ARG(row->text));
	else if (note_shows_count(&one))
		builder_note(b, row->kind, row->sum, "%.*s", STR_ARG(row->text));
	else
		builder_note(b, row->kind, 1, "in %zu of the %s: %.*s", row->times, whole,
			STR_ARG(row->text));
}

void common_notes_put(const struct common_notes *n, struct builder *b, const char *whole)
{
	for (size_t i = 0; i < n->rows.count; i++)
		put(&n->rows.data[i], b, whole);
}
