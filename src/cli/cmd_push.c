/* sonde push --store URL|DIR FILE...: profiles of any format into a store of many machines. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/secret.h"
#include "cli/command.h"
#include "cli/input_options.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/push_symbols.h"
#include "cli/store_options.h"
#include "session/values.h"
#include "store/otlp_send.h"
#include "store/store.h"
#include "view/text/units.h"

#define EVERY_DEFAULT_S 60

enum {
	OPTION_SERVICE,
	OPTION_HOST,
	OPTION_LABEL,
	OPTION_EVERY,
	OPTION_ALL_LABELS,
	OPTION_SYMBOLS,
	OPTION_OTLP,
	OPTION_QUIET
};

struct push_command {
	struct store_options store;
	struct store_rows_options rows;
	VEC(struct store_label) labels;
	struct read_options input;
	const char *symbols; /* a folder, or "debuginfod"; NULL: profiles are sent */
	const char *otlp;    /* a URL in place of the store; NULL: none */
	bool quiet;
};

static const struct option_row push_rows[] = {
	{OPTION_SERVICE, 0, "service", VALUE_TEXT, "NAME", {0},
		"the service that was profiled (default: the samples' label service, or the "
		"command)"},
	{OPTION_HOST, 0, "host", VALUE_TEXT, "NAME", {0},
		"where it was recorded (default: as the file says, or this machine)"},
	{OPTION_LABEL, 0, "label", VALUE_TEXT, "KEY=VALUE", {0},
		"a label for the whole profile, such as version=1.4; may be given again"},
	{OPTION_EVERY, 0, "every", VALUE_TEXT, "T", {0},
		"sum up weights over intervals of T (default 60s)"},
	{OPTION_ALL_LABELS, 0, "all-labels", VALUE_NONE, NULL, {0},
		"keep every label of samples, not only service, unit, container and command"},
	{OPTION_SYMBOLS, 0, "symbols", VALUE_TEXT, "DIR|debuginfod", {0},
		"instead of FILEs: send names for functions that were sent without one"},
	{OPTION_OTLP, 0, "otlp", VALUE_TEXT, "URL", {0},
		"instead of --store: send to a server of OTLP, such as http://HOST:4318; "
		"--credentials then names a file with a bearer token"},
	{OPTION_QUIET, 'q', "quiet", VALUE_NONE, NULL, {0}, "print only errors"},
	{0},
};

static struct error *add_label(struct push_command *c, const char *value)
{
	struct str key = {value, strcspn(value, "=")};

	if (key.size == 0 || value[key.size] == '\0')
		return error_new(ERROR_USAGE, "expected KEY=VALUE, not '%s'", value);
	if (str_equal(key, STR("service")) || str_equal(key, STR("host")))
		return error_new(ERROR_USAGE, "use --%.*s in place of that label", STR_ARG(key));
	vec_push(&c->labels, (struct store_label){key, str_from(value + key.size + 1)});
	return NULL;
}

static struct error *set_every(struct push_command *c, const char *value)
{
	uint64_t every_ns;
	struct error *err = value_time(value, &every_ns);

	if (err == NULL && (every_ns < SECOND_NS || every_ns > 3600 * SECOND_NS))
		err = error_new(ERROR_USAGE, "expected 1s to 1h, found '%s'", value);
	if (err == NULL)
		c->rows.every_s = (uint32_t)(every_ns / SECOND_NS);
	return err;
}

static struct error *push_set(void *context, int id, const char *value)
{
	struct push_command *c = context;

	switch (id) {
	case OPTION_SERVICE:
		c->rows.service = str_from(value);
		return NULL;
	case OPTION_HOST:
		c->rows.host = str_from(value);
		return NULL;
	case OPTION_LABEL:
		return add_label(c, value);
	case OPTION_EVERY:
		return set_every(c, value);
	case OPTION_ALL_LABELS:
		c->rows.all_labels = true;
		return NULL;
	case OPTION_SYMBOLS:
		c->symbols = value;
		return NULL;
	case OPTION_OTLP:
		c->otlp = value;
		return NULL;
	case OPTION_QUIET:
		c->quiet = true;
		return NULL;
	case INPUT_OPTION_FROM:
	case INPUT_OPTION_EXE:
	case INPUT_OPTION_JOBS:
		return input_options_set(&c->input, id, value);
	default:
		return store_options_set(&c->store, id, value);
	}
}

static void print_sent(const char *path, const struct store_sent *sent)
{
	struct strbuf line = {0};
	struct str labels = strbuf_str(&sent->left_labels);
	bool has_several = labels.size && memchr(labels.data, ',', labels.size);

	number_put(&line, sent->pairs);
	message_print("%s: sent %llu profile%s, %.*s weights of %llu stacks, %llu bytes to %s",
		path, (unsigned long long)sent->profiles, sent->profiles == 1 ? "" : "s",
		STR_ARG(strbuf_str(&line)), (unsigned long long)sent->stacks,
		(unsigned long long)sent->bytes, sent->where);
	strbuf_deinit(&line);
	if (labels.size)
		message_print(has_several ? "%s: left out the labels %.*s; --all-labels keeps them"
					  : "%s: left out the label %.*s; --all-labels keeps it",
			path, STR_ARG(labels));
	if (sent->left_threads || sent->left_ticks || sent->left_calls)
		message_print("%s: left out%s%s%s, which a store does not keep", path,
			sent->left_threads ? " threads" : "", sent->left_ticks ? " ticks" : "",
			sent->left_calls ? " counts of calls" : "");
}

/* A file that does not state its time is taken to be written when it was recorded. */
static uint64_t file_time_s(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 ? (uint64_t)info.st_mtim.tv_sec : clock_unix_ns() / SECOND_NS;
}

static struct error *push_profile(struct push_command *c, struct store *store,
	const struct profile *profile, const char *path)
{
	struct store_sent sent;
	struct error *err;

	c->rows.time_s = file_time_s(path);
	c->rows.received_s = clock_unix_ns() / SECOND_NS;
	err = store_send(store, profile, &c->rows, &sent);
	if (err == NULL && !c->quiet)
		print_sent(path, &sent);
	store_sent_deinit(&sent);
	return err;
}

/* Sends to a server of OTLP; a profile that it does not accept whole is an error. */
static struct error *push_otlp(
	struct push_command *c, const struct profile *profile, const char *path)
{
	VEC(struct writer_attribute) attributes = {0};
	struct strbuf token = {0};
	struct otlp_sent sent = {0};
	struct error *err = NULL;

	if (c->rows.service.size)
		vec_push(&attributes,
			(struct writer_attribute){STR("service.name"), c->rows.service});
	if (c->rows.host.size)
		vec_push(&attributes, (struct writer_attribute){STR("host.name"), c->rows.host});
	for (size_t i = 0; i < c->labels.count; i++)
		vec_push(&attributes,
			(struct writer_attribute){c->labels.data[i].key, c->labels.data[i].value});
	if (c->store.access.credentials)
		err = secret_read(c->store.access.credentials, &token);
	const struct otlp_send_options options = {.attributes = attributes.data,
		.attribute_count = attributes.count,
		.token = token.data,
		.ca_file = c->store.access.ca_file};

	if (err == NULL)
		err = otlp_send(profile, c->otlp, &options, &sent);
	if (err == NULL && sent.rejected)
		err = error_new(ERROR_INPUT,
			"%s accepted the request, but not all of the profile: %.*s", c->otlp,
			STR_ARG(strbuf_str(&sent.message)));
	if (err == NULL && !c->quiet)
		message_print("%s: sent %llu bytes to %s%s%.*s", path,
			(unsigned long long)sent.bytes, c->otlp, sent.message.size ? ": " : "",
			STR_ARG(strbuf_str(&sent.message)));
	otlp_sent_deinit(&sent);
	strbuf_deinit(&token);
	vec_deinit(&attributes);
	return err;
}

static struct error *push_file(struct push_command *c, struct store *store, const char *path)
{
	struct profile *profile;
	struct error *err = profile_read_with(path, &c->input, &profile);

	if (err)
		return err;
	err = c->otlp ? push_otlp(c, profile, path) : push_profile(c, store, profile, path);
	profile_destroy(profile);
	return err ? error_prefix(err, "%s", path) : NULL;
}

static int push_run(const struct command *self, int argc, char **argv)
{
	struct push_command c = {.rows.every_s = EVERY_DEFAULT_S};
	struct operands operands;
	struct store *store = NULL;
	struct error *err = NULL;
	int status;

	if (!options_parse(self, argc, argv, push_set, &c, &operands, &status))
		return status;
	if (operands.count && c.symbols)
		return options_usage_error(self, "--symbols takes no files");
	if (operands.count == 0 && c.symbols == NULL)
		return options_usage_error(self, "name the files to send");
	c.rows.labels = c.labels.data;
	c.rows.label_count = c.labels.count;
	if (c.otlp && (c.store.address || c.symbols))
		return options_usage_error(self, "--otlp cannot be used with --store or --symbols");
	if (c.otlp == NULL)
		err = store_options_open(&c.store, &store);
	else if (c.store.access.credentials)
		store_options_warn(otlp_send_warning(c.otlp));
	if (err == NULL && c.symbols)
		err = push_symbols(store, c.symbols, c.quiet);
	for (int i = 0; i < operands.count && err == NULL; i++)
		err = push_file(&c, store, operands.items[i]);
	store_options_deinit(&c.store);
	vec_deinit(&c.labels);
	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

static const struct option_group groups[] = {
	{"Store", store_place_rows},
	{"Store", store_access_rows},
	{"What it is", push_rows},
	{"Input", input_rows},
	{0},
};

const struct command cmd_push = {
	.name = "push",
	.summary = "send profiles to a store of many machines",
	.usage = "--store URL|DIR FILE...|--symbols DIR [OPTIONS]",
	.details = "Adds each FILE, a recording or a profile in any format that sonde reads, to a "
		   "store, where `sonde report --store` finds it by service, host, label and time. "
		   "Sending a file again changes nothing, so a send that was interrupted can be "
		   "repeated.\n\nA store keeps stacks with all their metrics, in intervals of a "
		   "minute. It does not keep single samples, threads or ticks.\n\nMachines without "
		   "debug information send addresses. --symbols looks these up once for each "
		   "build, in this machine's files and those below DIR, or asks the servers in "
		   "DEBUGINFOD_URLS; reports show the names from then on.",
	.groups = groups,
	.operand = OPERAND_FILE,
	.run = push_run,
};
