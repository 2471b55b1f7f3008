/*
 * sonde symbolize FILE --from DIR|debuginfod: names for a recording, later and elsewhere.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/convert_options.h"
#include "cli/message.h"
#include "cli/note_messages.h"
#include "cli/options.h"
#include "cli/output.h"
#include "formats/sonde/capture_symbolize.h"
#include "formats/sonde/layout/capture_chunk.h"
#include "formats/writers.h"
#include "session/values.h"
#include "symbolize/build_source.h"
#include "symbolize/symbolize.h"
#include "view/text/units.h"

enum {
	/* Lines about load objects without names. */
	LINES_MAX = 12,
	/* Load objects that servers are asked about. */
	ASKED_MAX = 32,
};
/* And the least share of all frames in samples that is worth a request. */
#define ASKED_SHARE 0.001

enum { OPTION_FROM, OPTION_OUTPUT, OPTION_MODULE, OPTION_TIMEOUT, OPTION_TAIL_CALLS, OPTION_QUIET };

struct symbolize_command {
	const char *from, *output;
	struct regex *modules;
	uint64_t timeout_ns;
	bool tail_calls, quiet;
};

static const struct option_row rows[] = {
	{OPTION_FROM, 0, "from", VALUE_TEXT, "DIR|debuginfod", {0},
		"where the files are: a folder, or the servers in DEBUGINFOD_URLS"},
	{OPTION_OUTPUT, 'o', "output", VALUE_FILE, "FILE", {0},
		"write to FILE instead of changing the recording"},
	{OPTION_MODULE, 0, "module", VALUE_TEXT, "REGEX", {0},
		"also replace names in modules whose whole name matches"},
	{OPTION_TIMEOUT, 0, "timeout", VALUE_TEXT, "T", {0},
		"how long a server may take to answer (default: 5 s)"},
	{OPTION_TAIL_CALLS, 0, "tail-calls", VALUE_NONE, NULL, {0},
		"also show callers that left no frame, as they jumped to what they called"},
	{OPTION_QUIET, 'q', "quiet", VALUE_NONE, NULL, {0}, "print only errors"},
	{0},
};

static struct error *set_timeout(struct symbolize_command *c, const char *value)
{
	struct error *err = value_time(value, &c->timeout_ns);

	if (err == NULL && c->timeout_ns == 0)
		err = error_new(ERROR_USAGE, "expected a time above 0, such as 5s");
	return err;
}

static struct error *symbolize_set(void *context, int id, const char *value)
{
	struct symbolize_command *c = context;

	switch (id) {
	case OPTION_FROM:
		c->from = value;
		break;
	case OPTION_OUTPUT:
		c->output = value;
		break;
	case OPTION_MODULE:
		regex_destroy(c->modules);
		c->modules = NULL;
		return regex_create(str_from(value), REGEX_WHOLE, &c->modules);
	case OPTION_TIMEOUT:
		return set_timeout(c, value);
	case OPTION_TAIL_CALLS:
		c->tail_calls = true;
		break;
	case OPTION_QUIET:
		c->quiet = true;
		break;
	default:
		break;
	}
	return NULL;
}

static struct error *open_source(const struct symbolize_command *c, struct build_source **source)
{
	if (strcmp(c->from, "debuginfod") == 0)
		return build_source_debuginfod(c->timeout_ns, source);
	return build_source_folder(c->from, source);
}

static bool stops(void *context)
{
	const struct build_source *source = context;

	return source->is_interrupted;
}

/* ---- what is printed ---- */

static void print_module(const struct capture_symbolize_module *m)
{
	struct str name = str_base_name(m->path);
	uint64_t missing = m->wanted - m->named;

	message_print("%.*s: no name for %llu of %llu addresses%s%s", STR_ARG(name),
		(unsigned long long)missing, (unsigned long long)m->wanted,
		m->problem || m->is_skipped ? ": " : "",
		m->problem	? m->problem
		: m->is_skipped ? "not asked for, as it hardly matters"
				: "");
}

static void print_result(const struct capture_symbolize_result *result, const char *path)
{
	uint64_t wanted = 0, named = 0;
	size_t lines = 0, lacking = 0;
	struct strbuf line = {0};

	for (size_t i = 0; i < result->modules.count; i++) {
		const struct capture_symbolize_module *m = &result->modules.data[i];

		wanted += m->wanted;
		named += m->named;
		if (m->named == m->wanted)
			continue;
		lacking++;
		if (lines < LINES_MAX) {
			print_module(m);
			lines++;
		}
	}
	if (lacking > lines)
		message_print("and %zu more modules", lacking - lines);
	if (wanted == 0) {
		message_print("%s: all addresses have names already", path);
		return;
	}
	number_put(&line, named);
	strbuf_add(&line, STR(" of "));
	number_put(&line, wanted);
	message_print("%s: found names for %.*s addresses in %zu module%s%s", path,
		STR_ARG(strbuf_str(&line)), result->modules.count,
		result->modules.count == 1 ? "" : "s", result->changed ? "" : "; nothing changes");
	strbuf_deinit(&line);
}

/* ---- the work ---- */

static struct error *write_bytes(const char *path, struct str bytes)
{
	struct output output;
	struct error *err = output_open(&output, path);

	if (err)
		return err;
	err = file_write_all(output.fd, bytes.data, bytes.size, output.name);
	if (err == NULL)
		return output_commit(&output);
	output_abandon(&output);
	return err;
}

/* A profile of another tool: its reader looks up names, with the further source. */
static struct error *symbolize_other(const struct symbolize_command *c,
	const struct reader_input *input, struct build_source *source, bool *interrupted)
{
	struct profile *profile;

	if (c->output == NULL)
		return error_new(ERROR_USAGE,
			"%s is not a sonde recording; name the recording to make of it with -o",
			input->name);
	if (c->modules)
		return error_new(ERROR_USAGE, "--module is for sonde's own recordings");
	struct error *err = profile_read_bytes(input, NULL, &profile);
	if (err)
		return err;
	*interrupted = source->is_interrupted;
	if (!*interrupted)
		err = convert_options_write(
			&(struct convert_options){.output = c->output}, &writer_sonde, profile);
	if (err == NULL && !*interrupted && !c->quiet)
		note_messages_profile(profile, false);
	profile_destroy(profile);
	return err;
}

/* *interrupted: by SIGINT; then nothing was written. */
static struct error *symbolize_input(const struct symbolize_command *c,
	const struct reader_input *input, struct build_source *source, const char *output,
	bool *interrupted)
{
	struct capture_symbolize_result result;
	struct strbuf out = {0};
	struct symbolize_options how = {.source = source};
	struct symbolizer *symbolizer = symbolizer_create(&how);
	struct capture_symbolize_options options = {.symbolizer = symbolizer,
		.modules = c->modules,
		.modules_max = source->is_network ? ASKED_MAX : 0,
		.share_min = source->is_network ? ASKED_SHARE : 0,
		.tail_calls = c->tail_calls,
		.stops = stops,
		.context = source};
	struct error *err = capture_symbolize(input, &options, &out, &result);
	struct str bytes = strbuf_str(&out);

	*interrupted = result.is_stopped;
	/* Another file is wanted even if it is a copy. */
	if (out.size == 0 && c->output)
		bytes = (struct str){(const char *)input->data, input->size};
	if (err == NULL && !*interrupted && bytes.size)
		err = write_bytes(output, bytes);
	if (err == NULL && !*interrupted && !c->quiet)
		print_result(&result, output);
	capture_symbolize_result_deinit(&result);
	symbolizer_destroy(symbolizer);
	strbuf_deinit(&out);
	return err;
}

static struct error *symbolize_file(
	const struct symbolize_command *c, const char *path, bool *interrupted)
{
	struct build_source *source = NULL;
	struct file_bytes bytes;
	struct error *err = file_read(path, 0, &bytes);

	if (err)
		return err;
	struct reader_input input = {.name = strcmp(path, "-") ? path : "standard input",
		.data = bytes.data,
		.size = bytes.size,
		.path = strcmp(path, "-") ? path : NULL};
	err = open_source(c, &source);
	input.source = source;
	if (err == NULL && capture_recognise(input.data, input.size))
		err = symbolize_input(c, &input, source, c->output ? c->output : path, interrupted);
	else if (err == NULL)
		err = symbolize_other(c, &input, source, interrupted);
	build_source_destroy(source);
	file_bytes_deinit(&bytes);
	return err;
}

static int symbolize_checked(const struct command *self, const struct symbolize_command *c,
	const struct operands *operands)
{
	const char *path = operands->count ? operands->items[0] : "sonde.prof";
	bool interrupted = false;

	if (c->from == NULL)
		return options_usage_error(self, "name a folder, or debuginfod, with --from");
	if (operands->count > 1)
		return options_usage_error(self, "expected one recording");
	if (strcmp(path, "-") == 0 && c->output == NULL)
		return options_usage_error(self, "name the file to write with -o");
	struct error *err = symbolize_file(c, path, &interrupted);

	if (err)
		return options_failure(self, err);
	if (interrupted) {
		message_print("interrupted; %s is as it was", path);
		signal(SIGINT, SIG_DFL);
		raise(SIGINT);
	}
	return EXIT_SUCCESS;
}

static int symbolize_run(const struct command *self, int argc, char **argv)
{
	struct symbolize_command c = {0};
	struct operands operands;
	int status;

	if (options_parse(self, argc, argv, symbolize_set, &c, &operands, &status))
		status = symbolize_checked(self, &c, &operands);
	regex_destroy(c.modules);
	return status;
}

static const struct option_group groups[] = {{"Options", rows}, {0}};

const struct command cmd_symbolize = {
	.name = "symbolize",
	.summary = "add names to a recording, later and elsewhere",
	.usage = "[FILE] --from DIR|debuginfod [OPTIONS]",
	.details = "Looks up the addresses in FILE (default: sonde.prof) that have no function "
		   "name in debug files of the same build ID, and adds functions, lines and "
		   "inlined calls to the recording. Nothing else in it changes. A FILE of another "
		   "tool that has addresses and build IDs (perf.data, pprof, OTLP) becomes a "
		   "recording, which -o names.\n\nDIR is a tree of debug files such as "
		   "/usr/lib/debug, a build folder or a root file system; it may have the kernel's "
		   "files. debuginfod asks the "
		   "servers in DEBUGINFOD_URLS about the modules that matter; they learn the build "
		   "IDs. Other commands ask them only with --debuginfod, and push with "
		   "--symbols debuginfod.",
	.groups = groups,
	.run = symbolize_run,
};
