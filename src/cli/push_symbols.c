/* sonde push --symbols: each build's nameless frames are looked up together, once in each shard. */
#include "cli/push_symbols.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "cli/message.h"
#include "store/symbols.h"
#include "symbolize/build_source.h"
#include "symbolize/symbolize.h"

/* Inlined calls at one address; a chain is rarely longer than ten. */
enum { CHAIN_MAX = 64 };

/* Names for a shard's frames. */
struct naming {
	struct symbolizer *symbolizer;
	struct strbuf rows;
	uint32_t version;
	size_t named;
};

static void put_place(
	struct naming *n, const struct store_nameless *frame, const struct symbol_place *place)
{
	struct store_name names[CHAIN_MAX];
	size_t count = 0;

	if (place->count == 0 || place->count > CHAIN_MAX ||
		place->frames[place->count - 1].is_nameless)
		return;
	for (uint32_t i = place->count; i > 0; i--) {
		const struct symbol_frame *f = &place->frames[i - 1];

		names[count++] = (struct store_name){.function = f->function,
			.aliases = f->aliases,
			.defined_in = f->function_file,
			.defined_at = f->function_line,
			.file = f->file,
			.line = f->line,
			.is_inline = f->is_inline};
	}
	store_names_put(&n->rows, frame, names, count, n->version);
	n->named++;
}

/* Frames of one load object, by address; some have the same one. */
static void name_object(struct naming *n, const struct store_nameless *frames, size_t count)
{
	struct arena *arena = arena_create();
	uint64_t *addresses = ARENA_ARRAY(arena, uint64_t, count);
	struct symbol_place *places = ARENA_ARRAY(arena, struct symbol_place, count);
	const struct symbolize_object object = {
		.path = frames[0].module, .build_id = frames[0].build_id, .kind = OBJECT_USER};
	struct symbolize_status status;
	size_t distinct = 0;

	for (size_t i = 0; i < count; i++) {
		if (distinct == 0 || addresses[distinct - 1] != frames[i].address)
			addresses[distinct++] = frames[i].address;
	}
	symbolize_addresses(n->symbolizer, &object, addresses, distinct, arena, places, &status);
	for (size_t i = 0, at = 0; i < count; i++) {
		at += addresses[at] != frames[i].address;
		put_place(n, &frames[i], &places[at]);
	}
	arena_destroy(arena);
}

static void name_all(struct naming *n, const struct store_nameless_list *list)
{
	size_t begin = 0;

	for (size_t i = 1; i <= list->rows.count; i++) {
		const struct store_nameless *first = &list->rows.data[begin];

		if (i < list->rows.count &&
			str_equal(list->rows.data[i].build_id, first->build_id) &&
			str_equal(list->rows.data[i].module, first->module))
			continue;
		name_object(n, first, i - begin);
		begin = i;
	}
}

static struct error *name_shard(
	struct store *store, size_t shard, struct symbolizer *symbolizer, bool quiet)
{
	struct naming n = {
		.symbolizer = symbolizer, .version = (uint32_t)(clock_unix_ns() / SECOND_NS)};
	struct store_nameless_list list;
	struct error *err = store_nameless(store, shard, &list);

	if (err == NULL) {
		name_all(&n, &list);
		if (n.rows.size)
			err = store_add_names(store, shard, strbuf_str(&n.rows));
	}
	if (err == NULL && !quiet)
		message_print("%s: found names for %zu of %zu frames that had none",
			store_shard_name(store, shard), n.named, list.rows.count);
	store_nameless_deinit(&list);
	strbuf_deinit(&n.rows);
	return err;
}

struct error *push_symbols(struct store *store, const char *from, bool quiet)
{
	struct build_source *source;
	struct error *err = strcmp(from, "debuginfod") == 0 ? build_source_debuginfod(0, &source)
							    : build_source_folder(from, &source);

	if (err)
		return err;
	const struct symbolize_options options = {.source = source};
	struct symbolizer *symbolizer = symbolizer_create(&options);

	for (size_t i = 0; i < store_shard_count(store) && err == NULL; i++)
		err = name_shard(store, i, symbolizer, quiet);
	symbolizer_destroy(symbolizer);
	build_source_destroy(source);
	return err;
}
