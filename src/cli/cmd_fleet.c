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
		"how long profiles are kept (default 14; 0: for ever)"},
	{OPTION_KEEP_STACKS, 0, "keep-stacks", VALUE_NUMBER, "DAYS", {0},
		"how long stacks are kept that nobody sent again (default 90)"},
	{OPTION_KEEP_HOURS, 0, "keep-hours", VALUE_NUMBER, "DAYS", {0},
		"how long sums of hours are kept (default 400)"},
	{STORE_OPTION_SINCE, 0, "since", VALUE_TEXT, "TIME", {0},
		"rollup: only from TIME on (default -2d)"},
	{STORE_OPTION_UNTIL, 0, "until", VALUE_TEXT, "TIME", {0}, "rollup: only before TIME"},
	{OPTION_FORMAT, 0, "format", VALUE_CHOICE, "FORMAT", CHOICES(format_names),
		"of the status (default text)"},
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

static struct error *init(struct fleet_command *c, struct store *store)
{
	size_t changed;
	struct error *err = store_init(store, &c->retention, &changed);

	if (err)
		return err;
	if (changed)
		message_print("%s: made the tables of %zu shard%s", store_address_text(store),
			changed, changed == 1 ? "" : "s");
	else
		message_print(
			"%s: all is there already, and stays as it is", store_address_text(store));
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
		json_put_end(&w);
	}
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

/* The longest of a column's texts, in bytes of what is printed. */
static int column_width(const struct store_status *status, size_t offset, const char *title)
{
	size_t width = strlen(title);

	for (size_t i = 0; i < status->rows.count; i++) {
		const char *text = *(char *const *)((const char *)&status->rows.data[i] + offset);
		struct strbuf shown = {0};

		escape_text(&shown, str_from(text));
		width = shown.size > width ? shown.size : width;
		strbuf_deinit(&shown);
	}
	return (int)width;
}

static void put_column(struct strbuf *out, const char *text, int width)
{
	struct strbuf shown = {0};

	escape_text(&shown, str_from(text));
	strbuf_printf(out, "%-*s  ", width, shown.data ? shown.data : "");
	strbuf_deinit(&shown);
}

static void put_status_text(const struct store_status *status, struct strbuf *out)
{
	int service = column_width(status, offsetof(struct store_status_row, service), "service"),
	    host = column_width(status, offsetof(struct store_status_row, host), "host");

	strbuf_printf(out, "%-*s  %-*s  %-20s  %-20s  %10s  %14s  %s\n", service, "service", host,
		"host", "first", "last", "profiles", "weights", "shard");
	for (size_t i = 0; i < status->rows.count; i++) {
		const struct store_status_row *r = &status->rows.data[i];

		put_column(out, r->service, service);
		put_column(out, r->host, host);
		put_time(out, r->first_s);
		strbuf_add(out, STR("  "));
		put_time(out, r->last_s);
		strbuf_printf(out, "  %10" PRIu64 "  %14" PRIu64 "  %s\n", r->profiles, r->pairs,
			r->shard);
	}
	for (size_t i = 0; i < status->tables.count; i++) {
		const struct store_table_row *r = &status->tables.data[i];
		const struct scale *scale = scale_for(STR("bytes"), r->bytes);

		strbuf_printf(out, "%s%s: %s has %" PRIu64 " row%s in ", i ? "" : "\n", r->shard,
			r->table, r->rows, r->rows == 1 ? "" : "s");
		scale_put_size(out, scale, r->bytes);
		strbuf_add_char(out, '\n');
	}
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
	struct error *err = store_status(store, &status);

	if (err == NULL && c->is_json)
		put_status_json(&status, &out);
	else if (err == NULL)
		put_status_text(&status, &out);
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
	size_t dropped;
	struct error *err =
		store_retain(store, &c->retention, clock_unix_ns() / SECOND_NS, &dropped);

	if (err == NULL)
		message_print("%s: dropped %zu part%s", store_address_text(store), dropped,
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
	struct fleet_command c = {.retention = STORE_RETENTION_DEFAULT};
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
	{"Store", store_place_rows}, {"What is kept", fleet_rows}, {0}};

const struct command cmd_fleet = {
	.name = "fleet",
	.summary = "set up and look after a store of many machines",
	.usage = "init|status|retain|rollup --store URL|DIR [OPTIONS]",
	.details =
		"init makes the tables in each shard, where they are missing; running it again "
		"changes nothing. status lists what each host sent of each service, when, and "
		"what the tables take. retain drops what is older than it is to be kept; current "
		"servers do that themselves, as init told them. rollup sums whole hours, for "
		"questions about many days: of the last two days, or from --since to --until. "
		"Run it each hour; it does again what something came late for.",
	.groups = groups,
	.operand = OPERAND_NONE,
	.run = fleet_run,
};
