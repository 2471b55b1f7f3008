/* sonde fleet init|status|retain|rollup: the store of many machines itself. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/store_options.h"
#include "session/values.h"
#include "store/store.h"
#include "view/text/units.h"

enum { OPTION_KEEP, OPTION_KEEP_STACKS, OPTION_KEEP_HOURS, OPTION_FORMAT };

static const char *const format_names[] = {"text", "json", NULL};

struct fleet_command {
	struct store_options store;
	struct store_retention retention;
	bool is_json;
};

static const struct option_row fleet_rows[] = {
	{OPTION_KEEP, 0, "keep", VALUE_NUMBER, "DAYS", {0},
		"how long profiles are kept (default 14; 0: forever)"},
	{OPTION_KEEP_STACKS, 0, "keep-stacks", VALUE_NUMBER, "DAYS", {0},
		"how long stacks are kept after they were last sent (default 90)"},
	{OPTION_KEEP_HOURS, 0, "keep-hours", VALUE_NUMBER, "DAYS", {0},
		"how long sums of hours are kept (default 400)"},
	{STORE_OPTION_SINCE, 0, "since", VALUE_TEXT, "TIME", {0},
		"status, rollup: only from TIME on (rollup: default -2d)"},
	{STORE_OPTION_UNTIL, 0, "until", VALUE_TEXT, "TIME", {0},
		"status, rollup: only before TIME"},
	{OPTION_FORMAT, 0, "format", VALUE_CHOICE, "FORMAT", CHOICES(format_names),
		"format of the status (default text)"},
	{0},
};

static struct error *set_days(const char *value, unsigned *days)
{
	uint64_t count;
	struct error *err = value_count(value, 0, 36500, &count);

	if (err == NULL)
		*days = (unsigned)count;
	return err;
}

static struct error *fleet_set(void *context, int id, const char *value)
{
	struct fleet_command *c = context;

	switch (id) {
	case OPTION_KEEP:
		return set_days(value, &c->retention.profile_days);
	case OPTION_KEEP_STACKS:
		return set_days(value, &c->retention.stack_days);
	case OPTION_KEEP_HOURS:
		return set_days(value, &c->retention.hour_days);
	case OPTION_FORMAT:
		c->is_json = CHOICE_OF(value, format_names) == 1;
		return NULL;
	default:
		return store_options_set(&c->store, id, value);
	}
}

/* ---- init ---- */

static bool is_limited(unsigned days)
{
	return days != STORE_KEEP_AS_IS && days != 0;
}

/* Whether it was said how long something is kept. */
static bool has_retention(const struct store_retention *r)
{
	return is_limited(r->profile_days) || is_limited(r->stack_days) || is_limited(r->hour_days);
}

static struct error *init(struct fleet_command *c, struct store *store)
{
	const char *address = store_address_text(store);
	bool is_folder = store_is_folder(store);
	struct store_made made;
	struct error *err = store_init(store, &c->retention, &made);

	if (err)
		return err;
	if (made.shards && is_folder)
		message_print("%s: made the folder", address);
	else if (made.shards)
		message_print("%s: made the tables of %zu shard%s", address, made.shards,
			made.shards == 1 ? "" : "s");
	if (made.tables)
		message_print("%s: changed how long %zu table%s rows", address, made.tables,
			made.tables == 1 ? " keeps its" : "s keep their");
	if (made.shards == 0 && made.tables == 0)
		message_print("%s: %s already, and stays as it is", address,
			is_folder ? "the folder exists" : "all is there");
	if (made.manual && has_retention(&c->retention))
		message_print("%s: nothing is dropped here by itself; run sonde fleet retain with "
			      "the same --keep options once a day",
			address);
	return NULL;
}

/* ---- status ---- */

static void put_time(struct strbuf *b, uint64_t time_s)
{
	time_t seconds = (time_t)time_s;
	struct tm utc;
	char text[32];

	gmtime_r(&seconds, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	strbuf_add(b, str_from(text));
}

static void put_field(struct json_writer *w, const char *key, const char *text)
{
	json_put_key(w, key);
	json_put_string(w, str_from(text));
}

static void put_number(struct json_writer *w, const char *key, uint64_t number)
{
	json_put_key(w, key);
	json_put_unsigned(w, number);
}

/* UINT64_MAX: not known. */
static void put_figure(struct json_writer *w, const char *key, uint64_t number)
{
	json_put_key(w, key);
	if (number == UINT64_MAX)
		json_put_null(w);
	else
		json_put_unsigned(w, number);
}

static void put_loss_json(struct json_writer *w, const struct store_loss_row *r)
{
	json_put_object(w);
	put_field(w, "host", r->host);
	json_put_key(w, "service");
	if (r->service[0])
		json_put_string(w, str_from(r->service));
	else
		json_put_null(w);
	put_field(w, "shard", r->shard);
	put_field(w, "kind", r->kind);
	put_number(w, "count", r->count);
	put_number(w, "recordings", r->recordings);
	put_number(w, "last", r->last_s);
	put_field(w, "text", r->text);
	json_put_end(w);
}

static void put_status_json(const struct store_status *status, struct strbuf *out)
{
	struct json_writer w = json_writer(out);

	json_put_object(&w);
	json_put_key(&w, "services");
	json_put_array(&w);
	for (size_t i = 0; i < status->rows.count; i++) {
		const struct store_status_row *r = &status->rows.data[i];

		json_put_object(&w);
		put_field(&w, "service", r->service);
		put_field(&w, "host", r->host);
		put_field(&w, "shard", r->shard);
		put_number(&w, "first", r->first_s);
		put_number(&w, "last", r->last_s);
		put_number(&w, "received", r->received_s);
		put_number(&w, "profiles", r->profiles);
		put_number(&w, "weights", r->pairs);
		put_figure(&w, "lost", r->lost);
		put_figure(&w, "truncated", r->truncated);
		put_figure(&w, "unresolved", r->unresolved);
		json_put_end(&w);
	}
	json_put_end(&w);
	json_put_key(&w, "losses");
	json_put_array(&w);
	for (size_t i = 0; i < status->losses.count; i++)
		put_loss_json(&w, &status->losses.data[i]);
	json_put_end(&w);
	json_put_key(&w, "tables");
	json_put_array(&w);
	for (size_t i = 0; i < status->tables.count; i++) {
		const struct store_table_row *r = &status->tables.data[i];

		json_put_object(&w);
		put_field(&w, "shard", r->shard);
		put_field(&w, "table", r->table);
		put_number(&w, "rows", r->rows);
		put_number(&w, "bytes", r->bytes);
		json_put_end(&w);
	}
	json_put_end(&w);
	json_put_key(&w, "errors");
	json_put_array(&w);
	for (size_t i = 0; i < status->errors.count; i++)
		json_put_string(&w, str_from(status->errors.data[i]->message));
	json_put_end(&w);
	json_put_end(&w);
	strbuf_add_char(out, '\n');
}

/* Columns of names are as wide as their longest, in bytes of what is printed. */
static void widen(int *width, const char *text)
{
	struct strbuf shown = {0};

	escape_text(&shown, str_from(text));
	*width = (int)shown.size > *width ? (int)shown.size : *width;
	strbuf_deinit(&shown);
}

static void put_column(struct strbuf *out, const char *text, int width)
{
	struct strbuf shown = {0};

	escape_text(&shown, str_from(text));
	strbuf_printf(out, "%-*s  ", width, shown.data ? shown.data : "");
	strbuf_deinit(&shown);
}

static void put_known(struct strbuf *out, uint64_t number, int width)
{
	if (number == UINT64_MAX)
		strbuf_printf(out, "  %*s", width, "-");
	else
		strbuf_printf(out, "  %*" PRIu64, width, number);
}

static void put_services_text(const struct store_status *status, bool is_folder, struct strbuf *out)
{
	int service = (int)strlen("service"), host = (int)strlen("host");

	for (size_t i = 0; i < status->rows.count; i++) {
		widen(&service, status->rows.data[i].service);
		widen(&host, status->rows.data[i].host);
	}
	strbuf_printf(out, "%-*s  %-*s  %-20s  %-20s  %10s  %12s  %8s  %9s  %10s  %s\n", service,
		"service", host, "host", "first", "last", "profiles", "weights", "lost",
		"truncated", "unresolved", is_folder ? "folder" : "shard");
	for (size_t i = 0; i < status->rows.count; i++) {
		const struct store_status_row *r = &status->rows.data[i];

		put_column(out, r->service, service);
		put_column(out, r->host, host);
		put_time(out, r->first_s);
		strbuf_add(out, STR("  "));
		put_time(out, r->last_s);
		strbuf_printf(out, "  %10" PRIu64 "  %12" PRIu64, r->profiles, r->pairs);
		put_known(out, r->lost, 8);
		put_known(out, r->truncated, 9);
		put_known(out, r->unresolved, 10);
		strbuf_printf(out, "  %s\n", r->shard);
	}
}

#define ALL_SERVICES "(several)"

static void put_losses_text(const struct store_status *status, struct strbuf *out)
{
	int host = (int)strlen("host"), service = (int)strlen(ALL_SERVICES);

	if (status->losses.count == 0)
		return;
	for (size_t i = 0; i < status->losses.count; i++) {
		widen(&host, status->losses.data[i].host);
		widen(&service, status->losses.data[i].service);
	}
	strbuf_printf(out, "\n%-*s  %-*s  %-10s  %10s  %10s  %-20s  %s\n", service, "service", host,
		"host", "kind", "count", "recordings", "last", "note");
	for (size_t i = 0; i < status->losses.count; i++) {
		const struct store_loss_row *r = &status->losses.data[i];

		put_column(out, r->service[0] ? r->service : ALL_SERVICES, service);
		put_column(out, r->host, host);
		strbuf_printf(out, "%-10s  %10" PRIu64 "  %10" PRIu64 "  ", r->kind, r->count,
			r->recordings);
		put_time(out, r->last_s);
		strbuf_add(out, STR("  "));
		escape_text(out, str_from(r->text));
		strbuf_add_char(out, '\n');
	}
}

static void put_tables_text(const struct store_status *status, bool is_folder, struct strbuf *out)
{
	for (size_t i = 0; i < status->tables.count; i++) {
		const struct store_table_row *r = &status->tables.data[i];
		const char *s = r->rows == 1 ? "" : "s";

		strbuf_printf(out, i ? "%s: " : "\n%s: ", r->shard);
		if (is_folder)
			strbuf_printf(out, "%" PRIu64 " recording%s", r->rows, s);
		else
			strbuf_printf(out, "%s has %" PRIu64 " row%s", r->table, r->rows, s);
		if (r->bytes) {
			strbuf_add(out, STR(" in "));
			scale_put_size(out, scale_for(STR("bytes"), r->bytes), r->bytes);
		}
		strbuf_add_char(out, '\n');
	}
}

static void put_status_text(const struct store_status *status, bool is_folder, struct strbuf *out)
{
	put_services_text(status, is_folder, out);
	put_losses_text(status, out);
	put_tables_text(status, is_folder, out);
}

/* A host that has sent something of the future has a clock that is ahead of ours. */
#define AHEAD_S 300

static void name_clocks_ahead(const struct store_status *status, uint64_t now_s)
{
	for (size_t i = 0; i < status->rows.count; i++) {
		const struct store_status_row *r = &status->rows.data[i];
		struct strbuf host = {0}, time = {0};

		if (r->last_s <= now_s + AHEAD_S)
			continue;
		escape_text(&host, str_from(r->host));
		put_time(&time, r->last_s);
		message_print("%.*s: its clock was ahead: it sent profiles of service %s of %.*s",
			STR_ARG(strbuf_str(&host)), r->service, STR_ARG(strbuf_str(&time)));
		strbuf_deinit(&host);
		strbuf_deinit(&time);
	}
}

/* What did not answer is an error, after what did. */
static struct error *status(struct fleet_command *c, struct store *store)
{
	struct store_status status;
	struct strbuf out = {0};
	struct error *err =
		store_status(store, c->store.query.since_s, c->store.query.until_s, &status);

	if (err == NULL && c->is_json)
		put_status_json(&status, &out);
	else if (err == NULL)
		put_status_text(&status, store_is_folder(store), &out);
	fwrite(out.data, 1, out.size, stdout);
	strbuf_deinit(&out);
	name_clocks_ahead(&status, clock_unix_ns() / SECOND_NS);
	for (size_t i = 0; i < status.errors.count && err == NULL; i++) {
		if (i + 1 < status.errors.count) {
			message_print("%s", status.errors.data[i]->message);
			continue;
		}
		err = status.errors.data[i];
		status.errors.count--;
	}
	store_status_deinit(&status);
	return err;
}

/* ---- retain, rollup ---- */

static struct error *retain(struct fleet_command *c, struct store *store)
{
	const struct store_retention retention = store_retention_settled(&c->retention);
	size_t dropped;
	struct error *err = store_retain(store, &retention, clock_unix_ns() / SECOND_NS, &dropped);

	if (err == NULL)
		message_print("%s: dropped %zu %s%s", store_address_text(store), dropped,
			store_is_folder(store) ? "recording" : "partition",
			dropped == 1 ? "" : "s");
	return err;
}

/* What came within that time may still be on its way. */
#define LATE_S	     900
#define ROLL_UP_DAYS 2

static struct error *roll_up(struct fleet_command *c, struct store *store)
{
	uint64_t now_s = clock_unix_ns() / SECOND_NS;
	uint64_t since_s =
		c->store.query.since_s ? c->store.query.since_s : now_s - ROLL_UP_DAYS * 86400;
	uint64_t until_s = c->store.query.until_s ? c->store.query.until_s : now_s - LATE_S;
	size_t hours, kept;

	if (store_is_folder(store)) {
		message_print("%s: a folder has no sums of hours; reports read its recordings",
			store_address_text(store));
		return NULL;
	}
	struct error *err = store_roll_up(store, since_s, until_s, &hours, &kept);

	if (err)
		return err;
	message_print("%s: summed %zu hour%s of services", store_address_text(store), hours,
		hours == 1 ? "" : "s");
	if (kept)
		message_print("%s: %zu more have something late, but no longer all of their "
			      "profiles; their sums stay as they were",
			store_address_text(store), kept);
	return NULL;
}

/* ---- the command ---- */

static const struct {
	const char *name;
	struct error *(*run)(struct fleet_command *c, struct store *store);
} actions[] = {{"init", init}, {"status", status}, {"retain", retain}, {"rollup", roll_up}};

static int fleet_run(const struct command *self, int argc, char **argv)
{
	struct fleet_command c = {.retention = STORE_RETENTION_AS_IS};
	struct operands operands;
	struct store *store;
	int exit_status = EXIT_SUCCESS, action = -1;

	if (!options_parse(self, argc, argv, fleet_set, &c, &operands, &exit_status))
		return exit_status;
	for (size_t i = 0; i < ARRAY_SIZE(actions) && operands.count == 1; i++) {
		if (strcmp(actions[i].name, operands.items[0]) == 0)
			action = (int)i;
	}
	if (action < 0)
		return options_usage_error(self, "expected one of init, status, retain and rollup");
	struct error *err = store_options_open(&c.store, &store);

	if (err == NULL)
		err = actions[action].run(&c, store);
	store_options_deinit(&c.store);
	return err ? options_failure(self, err) : exit_status;
}

static const struct option_group groups[] = {
	{"Store", store_place_rows},
	{"Store", store_access_rows},
	{"What is kept", fleet_rows},
	{0},
};

const struct command cmd_fleet = {
	.name = "fleet",
	.summary = "set up and maintain a store of many machines",
	.usage = "init|status|retain|rollup --store URL|DIR [OPTIONS]",
	.details =
		"init creates the tables that are missing in each shard, or the folder; running it "
		"again changes only how long tables keep their rows, if --keep is given. status "
		"lists what each host sent of each service and when, what was lost, and the size "
		"of the tables or recordings. retain drops what is older than --keep allows; "
		"current servers do that themselves, after the times that init set. rollup sums "
		"whole hours, for questions about many days: of the last two days, or from --since "
		"to --until. Run it each hour; it sums an hour again if it got more profiles "
		"since.",
	.groups = groups,
	.operand = OPERAND_NONE,
	.run = fleet_run,
};
