/* Options of stores, and the selections that stand in place of files. */
#include "cli/store_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/escape.h"
#include "cli/message.h"
#include "session/values.h"

const struct option_row store_place_rows[] = {
	{STORE_OPTION_STORE, 0, "store", VALUE_TEXT, "URL|DIR", {0},
		"profiles of many machines: clickhouse://HOST[,HOST]/DATABASE or a folder"},
	{0},
};

const struct option_row store_access_rows[] = {
	{STORE_OPTION_CREDENTIALS, 0, "credentials", VALUE_FILE, "FILE", {0},
		"USER:PASSWORD for the store, in a file that only its owner may read"},
	{STORE_OPTION_CA, 0, "ca", VALUE_FILE, "FILE", {0},
		"certificates to trust, PEM (default: the system's)"},
	{0},
};

const struct option_row store_whose_rows[] = {
	{STORE_OPTION_SERVICE, 0, "service", VALUE_TEXT, "NAME", {0},
		"only this service; with '!NAME', all but this one; may be given again"},
	{STORE_OPTION_HOST, 0, "host", VALUE_TEXT, "NAME", {0},
		"only this host; with '!NAME', all but this one; may be given again"},
	{0},
};

const struct option_row store_when_rows[] = {
	{STORE_OPTION_LAST, 0, "last", VALUE_TEXT, "T", {0}, "only the last T: 15min, 1h, 7d"},
	{STORE_OPTION_SINCE, 0, "since", VALUE_TEXT, "TIME", {0},
		"only from TIME on: 2026-11-27T09:30, in UTC, or -2h"},
	{STORE_OPTION_UNTIL, 0, "until", VALUE_TEXT, "TIME", {0}, "only before TIME"},
	{0},
};

/* NULL: not an option of stores. */
static const struct option_row *find_row(int id)
{
	static const struct option_row *const tables[] = {
		store_place_rows, store_access_rows, store_whose_rows, store_when_rows};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct option_row *row = tables[i]; option_row_exists(row); row++)
			if (row->id == id)
				return row;
	return NULL;
}

bool store_options_has(int id)
{
	return find_row(id) != NULL;
}

/* Clocks of hosts may be ahead of ours so far; what is later is not of the last hour. */
#define STORE_AHEAD_S 300

/* Sets the time that is so long before now; not before 1970. */
static struct error *set_before_now(const char *value, uint64_t *time_s)
{
	uint64_t now_ns = clock_unix_ns(), before_ns;
	struct error *err = value_time(value, &before_ns);

	if (err == NULL)
		*time_s = (now_ns > before_ns ? now_ns - before_ns : 0) / SECOND_NS;
	return err;
}

static struct error *set_last(struct store_query *q, const char *value)
{
	struct error *err = set_before_now(value, &q->since_s);

	if (err == NULL)
		q->until_s = clock_unix_ns() / SECOND_NS + STORE_AHEAD_S;
	return err;
}

/* A time in UTC, "-2h" before now, or "@SECONDS" since 1970. */
static struct error *set_time(const char *value, uint64_t *time_s)
{
	static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M",
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"};

	if (value[0] == '@')
		return value_count(value + 1, 0, UINT32_MAX, time_s);
	if (value[0] == '-')
		return set_before_now(value + 1, time_s);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm utc = {0};
		const char *end = strptime(value, forms[i], &utc);

		if (end == NULL || (*end && strcmp(end, "Z") != 0))
			continue;
		time_t seconds = timegm(&utc);
		if (seconds < 0 || seconds > UINT32_MAX)
			break;
		*time_s = (uint64_t)seconds;
		return NULL;
	}
	return error_new(ERROR_USAGE,
		"'%s' is not a time: expected 2026-11-27T09:30 in UTC, or -2h for two hours ago",
		value);
}

enum name_kind { NAME_SERVICE, NAME_HOST, NAME_LABEL };

/* Forgets which services or hosts the query asks for. */
static void forget_names(struct store_query *q, bool are_services)
{
	if (are_services)
		q->services.count = q->not_services.count = 0;
	else
		q->hosts.count = q->not_hosts.count = 0;
}

/* Adds "NAME", "!NAME", or "\!NAME" for a name that begins with "!".  Other keys are labels. */
static struct error *add_name(struct store_query *q, const char *key, const char *value)
{
	bool is_not = value[0] == '!';
	struct str name = str_from(value + (is_not || (value[0] == '\\' && value[1] == '!')));
	const struct store_label label = {str_from(key), name};
	bool is_service = strcmp(key, "service") == 0, is_host = strcmp(key, "host") == 0;

	if (is_not && name.size == 0)
		return error_new(ERROR_USAGE, "expected a name after '!'");
	if (is_service && is_not)
		vec_push(&q->not_services, name);
	else if (is_service)
		vec_push(&q->services, name);
	else if (is_host && is_not)
		vec_push(&q->not_hosts, name);
	else if (is_host)
		vec_push(&q->hosts, name);
	else if (is_not)
		vec_push(&q->not_labels, label);
	else
		vec_push(&q->labels, label);
	return NULL;
}

struct error *store_options_set(struct store_options *o, int id, const char *value)
{
	struct store_query *q = &o->query;

	o->has_query |= id >= STORE_OPTION_SERVICE;
	vec_push(&o->given, (struct store_option_given){id, value});
	switch (id) {
	case STORE_OPTION_STORE:
		o->address = value;
		break;
	case STORE_OPTION_CREDENTIALS:
		o->access.credentials = value;
		break;
	case STORE_OPTION_CA:
		o->access.ca_file = value;
		break;
	case STORE_OPTION_SERVICE:
		return add_name(q, "service", value);
	case STORE_OPTION_HOST:
		return add_name(q, "host", value);
	case STORE_OPTION_LAST:
		return set_last(q, value);
	case STORE_OPTION_SINCE:
		return set_time(value, &q->since_s);
	case STORE_OPTION_UNTIL:
		return set_time(value, &q->until_s);
	default:
		break;
	}
	return NULL;
}

void store_options_deinit(struct store_options *o)
{
	store_query_deinit(&o->query);
	vec_deinit(&o->given);
	store_close(o->store);
}

void store_options_put(const struct store_options *o, struct strbuf *out)
{
	for (size_t i = 0; i < o->given.count; i++) {
		strbuf_printf(out, " --%s ", find_row(o->given.data[i].id)->long_name);
		quote_shell(out, str_from(o->given.data[i].value));
	}
}

void store_options_warn(char *warning)
{
	if (warning)
		message_print("note: %s", warning);
	free(warning);
}

struct error *store_options_open(struct store_options *o, struct store **store)
{
	struct error *err = NULL;

	if (o->address == NULL)
		return error_new(ERROR_USAGE, "name the store with --store: a folder, or "
					      "clickhouse://HOST/DATABASE");
	if (o->store == NULL) {
		err = store_open(o->address, &o->access, &o->store);
		if (err == NULL)
			store_options_warn(store_warning(o->store));
	}
	*store = o->store;
	return err;
}

/* ---- selections ---- */

/* A service or host of a selection replaces those of the options, unless it excludes. */
static struct error *add_selected(struct store_query *q, const char *key, const char *value)
{
	bool is_service = strcmp(key, "service") == 0;

	if (value[0] != '!' && (is_service || strcmp(key, "host") == 0))
		forget_names(q, is_service);
	return add_name(q, key, value);
}

static struct error *add_selection(struct store_query *q, char *item)
{
	char *value = strchr(item, '=');
	struct error *err = NULL;

	if (strcmp(item, STORE_SELECT_ALL) == 0)
		return NULL;
	if (value == NULL)
		return error_new(ERROR_USAGE,
			"'%s': with --store, expected all, or KEY=VALUE[,KEY=VALUE] with since, "
			"until, last, service, host, or a label",
			item);
	*value++ = '\0';
	if (strcmp(item, "since") == 0)
		err = set_time(value, &q->since_s);
	else if (strcmp(item, "until") == 0)
		err = set_time(value, &q->until_s);
	else if (strcmp(item, "last") == 0)
		err = set_last(q, value);
	else
		err = add_selected(q, item, value);
	return err ? error_prefix(err, "%s", item) : NULL;
}

/* Copies a list of the query. */
#define COPY_LIST(to, from, list)                                                                  \
	do {                                                                                       \
		memset(&(to)->list, 0, sizeof((to)->list));                                        \
		for (size_t i = 0; i < (from)->list.count; i++)                                    \
			vec_push(&(to)->list, (from)->list.data[i]);                               \
	} while (0)

static void copy_query(const struct store_query *from, struct store_query *to)
{
	*to = *from;
	COPY_LIST(to, from, services);
	COPY_LIST(to, from, hosts);
	COPY_LIST(to, from, labels);
	COPY_LIST(to, from, not_services);
	COPY_LIST(to, from, not_hosts);
	COPY_LIST(to, from, not_labels);
	COPY_LIST(to, from, names);
}

static struct error *fetch(void *context, const char *selection, struct profile **profile)
{
	struct store_options *o = context;
	char *text = xstrdup(selection), *item, *rest = text, *source = NULL;
	struct store *store = NULL;
	struct store_query query;
	struct error *err = store_options_open(o, &store);

	copy_query(&o->query, &query);
	if (err == NULL && selection[0] && strcmp(selection, STORE_SELECT_ALL) != 0)
		source = xasprintf("%s %s", store_address_text(store), selection);
	query.source = source;
	while (err == NULL && (item = strsep(&rest, ",")))
		err = *item ? add_selection(&query, item) : NULL;
	if (err == NULL)
		err = store_fetch(store, &query, profile);
	store_query_deinit(&query);
	free(source);
	free(text);
	return err;
}

struct error *store_options_read_from(struct store_options *o, struct read_options *input)
{
	if (o->address == NULL && (o->has_query || o->access.credentials || o->access.ca_file))
		return error_new(ERROR_USAGE,
			"--service, --host, --last, --since, --until, --credentials and --ca go "
			"with --store");
	if (o->address == NULL)
		return NULL;
	input->fetch = fetch;
	input->fetch_context = o;
	return NULL;
}
