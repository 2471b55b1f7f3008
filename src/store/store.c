/* A store, which is either a folder or servers: passes calls to one or the other. */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "store/exposure.h"
#include "store/fetch.h"
#include "store/folder.h"
#include "store/glance.h"
#include "store/manage.h"
#include "store/send.h"
#include "store/symbols.h"

struct store {
	struct store_address address;
	struct clickhouse *clickhouse; /* NULL: a folder */
	char *text;
	bool has_password;
};

struct error *store_open(
	const char *address, const struct clickhouse_options *options, struct store **store)
{
	struct store *s = xalloc(sizeof(*s));
	struct error *err = store_address_parse(address, &s->address);

	s->text = xstrdup(address);
	s->has_password = options->credentials != NULL;
	if (err == NULL && s->address.folder == NULL)
		err = clickhouse_open(&s->address, options, &s->clickhouse);
	if (err) {
		store_close(s);
		return err;
	}
	*store = s;
	return NULL;
}

void store_close(struct store *store)
{
	if (store == NULL)
		return;
	clickhouse_close(store->clickhouse);
	store_address_deinit(&store->address);
	free(store->text);
	free(store);
}

char *store_warning(const struct store *store)
{
	const char *exposed = store_address_exposed(&store->address);

	if (exposed == NULL || !store->has_password)
		return NULL;
	return exposure_note(
		"the password", str_from(exposed), "add secure=true to the store's address");
}

bool store_is_folder(const struct store *store)
{
	return store->clickhouse == NULL;
}

const char *store_address_text(const struct store *store)
{
	return store->text;
}

const char *store_place_of(const struct store *store, struct str host)
{
	if (store->clickhouse == NULL)
		return store->address.folder;
	return clickhouse_shard_name(
		store->clickhouse, clickhouse_shard_of(store->clickhouse, host));
}

bool store_birth(struct store *store, struct str host, uint32_t *birth_s)
{
	struct strbuf answer = {0};
	struct error *err;
	struct cursor c;

	if (store->clickhouse == NULL)
		return false;
	/* One row: the tables are made once.  `fleet init` on tables that exist adds none. */
	err = clickhouse_ask_one(store->clickhouse, clickhouse_shard_of(store->clickhouse, host),
		STR("SELECT toUInt32(max(made)) FROM schema FORMAT RowBinary"), &answer);
	cursor_init(&c, answer.data, answer.size, "schema", 0);
	if (err == NULL)
		*birth_s = cursor_u32(&c);
	bool is_known = err == NULL && cursor_ok(&c);

	error_destroy(err);
	strbuf_deinit(&answer);
	return is_known;
}

struct error *store_send(struct store *store, const struct profile *profile,
	const struct store_rows_options *options, struct store_sent *sent)
{
	struct store_rows rows;
	struct error *err;

	*sent = (struct store_sent){0};
	if (store->clickhouse == NULL)
		return folder_store_send(store->address.folder, profile, options, sent);
	err = store_rows_make(profile, options, &rows);
	sent->is_refused = err != NULL;
	if (err == NULL)
		err = send_clickhouse(store->clickhouse, strbuf_str(&rows.host), &rows, sent);
	sent->profiles = rows.profile_count;
	sent->pairs = rows.pair_count;
	sent->stacks = rows.stack_count;
	sent->frames = rows.frame_count;
	sent->left_threads = rows.left_threads;
	sent->left_ticks = rows.left_ticks;
	sent->left_calls = rows.left_calls;
	sent->left_labels = rows.left_labels;
	rows.left_labels = (struct strbuf){0};
	memcpy(&sent->hashes, &rows.sent, sizeof(sent->hashes));
	memset(&rows.sent, 0, sizeof(rows.sent));
	store_rows_deinit(&rows);
	return err;
}

void store_sent_deinit(struct store_sent *sent)
{
	free(sent->where);
	strbuf_deinit(&sent->left_labels);
	vec_deinit(&sent->hashes);
}

void store_query_deinit(struct store_query *query)
{
	vec_deinit(&query->services);
	vec_deinit(&query->hosts);
	vec_deinit(&query->labels);
	vec_deinit(&query->not_services);
	vec_deinit(&query->not_hosts);
	vec_deinit(&query->not_labels);
	vec_deinit(&query->names);
}

struct error *store_fetch(
	struct store *store, const struct store_query *query, struct profile **profile)
{
	const char *source = query->source ? query->source : store->text;

	if (store->clickhouse == NULL)
		return folder_store_fetch(store->address.folder, query, source, profile);
	return fetch_clickhouse(store->clickhouse, query, source, profile);
}

struct error *store_glance(struct store *store, const struct store_query *query, uint64_t known,
	struct store_glance *glance)
{
	*glance = (struct store_glance){0};
	if (store->clickhouse == NULL)
		return folder_store_glance(store->address.folder, query, known, glance);
	return glance_clickhouse(store->clickhouse, query, glance);
}

void store_glance_deinit(struct store_glance *glance)
{
	for (size_t i = 0; i < glance->hosts.count; i++)
		free(glance->hosts.data[i].name);
	for (size_t i = 0; i < glance->silent.count; i++)
		free(glance->silent.data[i]);
	vec_deinit(&glance->hosts);
	vec_deinit(&glance->silent);
}

struct error *store_init(
	struct store *store, const struct store_retention *retention, struct store_made *made)
{
	if (store->clickhouse == NULL)
		return folder_store_init(store->address.folder, made);
	return manage_init(store->clickhouse, store->address.database, retention, made);
}

static int compare_rows(const void *a, const void *b)
{
	const struct store_status_row *x = a, *y = b;
	int order = strcmp(x->service, y->service);

	order = order ? order : strcmp(x->host, y->host);
	return order ? order : strcmp(x->shard, y->shard);
}

static int compare_losses(const void *a, const void *b)
{
	const struct store_loss_row *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	order = order ? order : strcmp(x->service, y->service);
	order = order ? order : strcmp(x->kind, y->kind);
	order = order ? order : (x->count < y->count) - (x->count > y->count);
	order = order ? order : strcmp(x->shard, y->shard);
	return order ? order : strcmp(x->text, y->text);
}

struct error *store_status(
	struct store *store, uint64_t since_s, uint64_t until_s, struct store_status *status)
{
	const struct store_query range = {.since_s = since_s, .until_s = until_s};
	struct error *err;

	*status = (struct store_status){0};
	if (store->clickhouse == NULL)
		err = folder_store_status(store->address.folder, &range, status);
	else
		err = manage_status(store->clickhouse, &range, status);
	if (status->rows.count)
		qsort(status->rows.data, status->rows.count, sizeof(*status->rows.data),
			compare_rows);
	if (status->losses.count)
		qsort(status->losses.data, status->losses.count, sizeof(*status->losses.data),
			compare_losses);
	return err;
}

void store_status_deinit(struct store_status *status)
{
	for (size_t i = 0; i < status->rows.count; i++) {
		free(status->rows.data[i].shard);
		free(status->rows.data[i].service);
		free(status->rows.data[i].host);
	}
	for (size_t i = 0; i < status->losses.count; i++) {
		free(status->losses.data[i].shard);
		free(status->losses.data[i].host);
		free(status->losses.data[i].service);
		free(status->losses.data[i].kind);
		free(status->losses.data[i].text);
	}
	for (size_t i = 0; i < status->tables.count; i++) {
		free(status->tables.data[i].shard);
		free(status->tables.data[i].table);
	}
	for (size_t i = 0; i < status->errors.count; i++)
		error_destroy(status->errors.data[i]);
	vec_deinit(&status->rows);
	vec_deinit(&status->losses);
	vec_deinit(&status->tables);
	vec_deinit(&status->errors);
}

struct error *store_retain(struct store *store, const struct store_retention *retention,
	uint64_t now_s, size_t *dropped)
{
	if (store->clickhouse == NULL)
		return folder_store_retain(store->address.folder, retention, now_s, dropped);
	return manage_retain(store->clickhouse, retention, now_s, dropped);
}

struct error *store_roll_up(
	struct store *store, uint64_t since_s, uint64_t until_s, size_t *hours, size_t *kept)
{
	*hours = *kept = 0;
	if (store->clickhouse == NULL)
		return NULL;
	return manage_roll_up(store->clickhouse, since_s, until_s, hours, kept);
}

struct error *store_nameless(struct store *store, size_t shard, struct store_nameless_list *list)
{
	*list = (struct store_nameless_list){0};
	if (store->clickhouse == NULL)
		return error_new(ERROR_UNSUPPORTED,
			"%s is a folder; name its recordings with sonde symbolize", store->text);
	return symbols_read(store->clickhouse, shard, list);
}

struct error *store_add_names(struct store *store, size_t shard, struct str rows)
{
	bool refused;

	return clickhouse_insert(store->clickhouse, shard, "frames", rows, &refused);
}

size_t store_shard_count(const struct store *store)
{
	return store->clickhouse ? clickhouse_shard_count(store->clickhouse) : 1;
}

const char *store_shard_name(const struct store *store, size_t shard)
{
	return store->clickhouse ? clickhouse_shard_name(store->clickhouse, shard) : store->text;
}
