/*
 * POST /ingest, which Pyroscope's older clients use (Go and Node.js: a form with a pprof file;
 * others: folded text, the default).  Requests are read as in
 * pkg/ingester/pyroscope/ingest_handler.go of github.com/grafana/pyroscope (2.x).  The parameters
 * state what text does not: the unit of its weights, and the sampling rate.
 *
 * sample_type_config, by which Pyroscope renames the types of samples, is ignored: the profile's
 * own names are kept.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "formats/readers.h"
#include "intake/message.h"
#include "intake/multipart.h"
#include "intake/pyroscope_name.h"

/* Pyroscope's default. */
#define SAMPLE_RATE 100u

static const struct {
	const char *name;   /* format=…; "": not stated */
	const char *reader; /* NULL: not read */
} formats[] = {{"pprof", "pprof"}, {"groups", "folded"}, {"folded", "folded"},
	{"collapsed", "folded"}, {"lines", "folded"}, {"speedscope", "speedscope"}, {"jfr", NULL},
	{"trie", NULL}, {"tree", NULL}};

struct ingest {
	const struct intake_options *options;
	const struct intake_message *message;
	struct intake_answer *answer;
	struct pyroscope_name name;
	const char *format, *reader;
	struct str profile;
	struct strbuf lines;   /* a profile in lines, with weights */
	struct strbuf weights; /* the name of a metric */
	uint8_t *unpacked;
};

static struct error *refuse(struct ingest *in, enum intake_reason reason, const char *problem)
{
	in->answer->reason = reason;
	return error_new(ERROR_INPUT, "%s", problem);
}

static struct error *choose_format(struct ingest *in)
{
	const char *format = in->message->ingest.format;
	struct str type = in->message->type;

	if (format == NULL || *format == '\0')
		format = intake_type_is(type, "multipart/form-data")	    ? "pprof"
			 : intake_type_is(type, "binary/octet-stream+trie") ? "trie"
			 : intake_type_is(type, "binary/octet-stream+tree") ? "tree"
									    : "groups";
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(formats[i].name, format) == 0) {
			in->format = format;
			in->reader = formats[i].reader;
		}
	if (in->reader)
		return NULL;
	in->answer->reason = REASON_TYPE;
	if (strcmp(format, "jfr") == 0)
		return error_new(ERROR_UNSUPPORTED,
			"format 'jfr' is not supported; async-profiler also writes folded stacks "
			"(collapsed): send them with format=folded");
	return error_new(ERROR_UNSUPPORTED,
		"format '%.40s' is not supported: expected pprof, folded, lines or speedscope",
		format);
}

/* Takes the profile from a form; a form without one is an empty profile. */
static struct error *take_form(struct ingest *in)
{
	struct str boundary = multipart_boundary(in->message->type);
	struct multipart form;
	struct multipart_part part;

	if (boundary.size == 0)
		return refuse(in, REASON_MALFORMED,
			"the Content-Type is multipart/form-data without a boundary");
	form = multipart_begin(in->message->body, boundary);
	in->profile = STR("");
	while (multipart_next(&form, &part)) {
		if (str_equal(part.name, STR("profile")))
			in->profile = part.body;
		else if (str_equal(part.name, STR("prev_profile")) && part.body.size)
			return refuse(in, REASON_MALFORMED,
				"the form has a prev_profile: the client sends running totals; "
				"update it to one that sends differences");
	}
	return form.is_damaged ? refuse(in, REASON_MALFORMED, "the form ends before its boundary")
			       : NULL;
}

/* Gives each line, a stack without a weight, the weight 1. */
static void weigh_lines(struct ingest *in)
{
	struct str rest = in->profile;

	while (rest.size) {
		struct str line = str_trim(str_take_line(&rest));

		if (line.size == 0)
			continue;
		strbuf_add(&in->lines, line);
		strbuf_add(&in->lines, STR(" 1\n"));
	}
	in->profile = strbuf_str(&in->lines);
}

/* Names the weights of text by the kind in the app's name, else by the units. */
static void name_weights(struct ingest *in, struct str kind, struct reader_input *input,
	struct intake_origin *origin)
{
	const char *units = in->message->ingest.units, *rate = in->message->ingest.sample_rate;
	unsigned long per_second = rate ? strtoul(rate, NULL, 10) : SAMPLE_RATE;

	if (units == NULL || *units == '\0' || strcmp(units, "samples") == 0) {
		if (per_second && per_second <= SECOND_NS)
			origin->interval_ns = SECOND_NS / per_second;
		return;
	}
	strbuf_add(&in->weights, kind.size ? kind : str_from(units));
	input->weight_name = in->weights.data;
	input->weight_unit = strcmp(units, "bytes") == 0	      ? "bytes"
			     : strcmp(units, "lock_nanoseconds") == 0 ? "ns"
								      : "count";
}

static struct error *take_profile(struct ingest *in)
{
	bool is_text = strcmp(in->reader, "folded") == 0;
	struct str kind = is_text ? pyroscope_name_take_kind(&in->name) : STR("");
	struct intake_origin origin = pyroscope_name_origin(&in->name, "ingest");
	struct reader_input input = {.name = INTAKE_BODY, .is_sent = true};

	if (is_text)
		name_weights(in, kind, &input, &origin);
	if (strcmp(in->format, "lines") == 0)
		weigh_lines(in);
	input.data = (const uint8_t *)in->profile.data;
	input.size = in->profile.size;
	origin.start_unix_ns = pyroscope_time_ns(in->message->ingest.from);
	origin.end_unix_ns = pyroscope_time_ns(in->message->ingest.until);
	return intake_keep(in->options, &input, in->reader, &origin, in->answer);
}

static struct error *ingest(struct ingest *in)
{
	const char *problem = pyroscope_name_read(str_from(in->message->ingest.name), &in->name);
	struct error *err = problem ? refuse(in, REASON_MALFORMED, problem) : choose_format(in);

	if (err == NULL && intake_type_is(in->message->type, "multipart/form-data"))
		err = take_form(in);
	if (err == NULL)
		err = intake_unpack(
			in->options, INTAKE_BODY, &in->profile, &in->unpacked, in->answer);
	/* Clients send an empty profile if nothing ran. */
	if (err || in->profile.size == 0)
		return err;
	return take_profile(in);
}

void intake_pyroscope_ingest(const struct intake_options *options,
	const struct intake_message *message, struct intake_answer *answer)
{
	struct ingest in = {
		.options = options, .message = message, .answer = answer, .profile = message->body};
	struct error *err = ingest(&in);

	if (err)
		intake_refuse_error(message, answer, err);
	free(in.unpacked);
	strbuf_deinit(&in.lines);
	strbuf_deinit(&in.weights);
}
