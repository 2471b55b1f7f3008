/*
 * POST /push.v1.PusherService/Push, which Pyroscope's newer clients and Alloy use: Connect's unary
 * protocol (connectrpc.com/docs/protocol) with a PushRequest (api/push/v1 of
 * github.com/grafana/pyroscope, 2.x), in protocol buffers or JSON.  Each series has labels and
 * profiles in pprof.
 *
 * JSON is converted to protocol buffers first, so that one loop reads both.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/json_reader.h"
#include "base/protobuf.h"
#include "formats/readers.h"
#include "intake/message.h"
#include "intake/pyroscope_name.h"

enum { REQUEST_SERIES = 1 };
enum { SERIES_LABEL = 1, SERIES_SAMPLE = 2 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum { SAMPLE_PROFILE = 1 };

struct push {
	const struct intake_options *options;
	struct intake_answer *answer;
	struct pyroscope_name name; /* of the current series */
};

/* ---- JSON ---- */

static void convert_label(struct json_reader *r, struct strbuf *out)
{
	size_t begun = proto_begin(out, SERIES_LABEL);
	struct str key, text;

	if (json_object(r))
		while (json_key(r, &key)) {
			uint32_t field = str_equal(key, STR("name"))	? LABEL_NAME
					 : str_equal(key, STR("value")) ? LABEL_VALUE
									: 0;

			if (field && json_string(r, &text))
				proto_put_bytes(out, field, text);
		}
	proto_end(out, begun);
}

static void convert_sample(struct json_reader *r, struct strbuf *out)
{
	size_t begun = proto_begin(out, SERIES_SAMPLE);
	struct str key, text;

	if (json_object(r))
		while (json_key(r, &key)) {
			if ((!str_equal(key, STR("rawProfile")) &&
				    !str_equal(key, STR("raw_profile"))) ||
				!json_string(r, &text))
				continue;
			size_t profile = proto_begin(out, SAMPLE_PROFILE);

			if (!base64_decode(text, out))
				json_fail(r, "expected base64");
			proto_end(out, profile);
		}
	proto_end(out, begun);
}

static void convert_series(struct json_reader *r, struct strbuf *out)
{
	size_t begun = proto_begin(out, REQUEST_SERIES);
	struct str key;

	if (json_object(r))
		while (json_key(r, &key)) {
			bool is_labels = str_equal(key, STR("labels"));

			if ((!is_labels && !str_equal(key, STR("samples"))) || !json_array(r))
				continue;
			while (json_element(r))
				(is_labels ? convert_label : convert_sample)(r, out);
		}
	proto_end(out, begun);
}

static struct error *convert(struct str text, struct strbuf *out)
{
	struct json_reader r;
	struct str key;

	json_reader_init(&r, text.data, text.size, INTAKE_BODY);
	if (json_peek(&r) != JSON_OBJECT)
		json_fail(&r, "expected an object");
	else if (json_object(&r))
		while (json_key(&r, &key))
			if (str_equal(key, STR("series")) && json_array(&r))
				while (json_element(&r))
					convert_series(&r, out);
	struct error *err = json_error(&r);

	json_reader_deinit(&r);
	return err;
}

/* ---- messages ---- */

static struct error *keep_profile(struct push *p, struct str bytes)
{
	/* A copy, as the series' next profile needs the labels too. */
	struct pyroscope_name name = p->name;
	struct intake_origin origin = pyroscope_name_origin(&name, "push");
	uint8_t *unpacked;
	struct error *err = intake_unpack(p->options, INTAKE_BODY, &bytes, &unpacked, p->answer);

	if (err == NULL && bytes.size) {
		const struct reader_input input = {.name = INTAKE_BODY,
			.data = (const uint8_t *)bytes.data,
			.size = bytes.size,
			.is_sent = true};

		err = intake_keep(p->options, &input, "pprof", &origin, p->answer);
	}
	free(unpacked);
	return err;
}

static struct error *take_label(struct push *p, struct cursor c)
{
	struct intake_label label = {STR(""), STR("")};
	struct proto_field f;

	while (proto_next(&c, &f)) {
		if (f.number == LABEL_NAME)
			label.key = f.bytes;
		else if (f.number == LABEL_VALUE)
			label.value = f.bytes;
	}
	if (!cursor_ok(&c))
		return cursor_error(&c);
	const char *problem = pyroscope_name_add(&p->name, label);

	return problem ? error_new(ERROR_INPUT, "%s: %s", INTAKE_BODY, problem) : NULL;
}

static struct error *take_sample(struct push *p, struct cursor c)
{
	struct error *err = NULL;
	struct proto_field f;

	while (err == NULL && proto_next(&c, &f))
		if (f.number == SAMPLE_PROFILE && f.type == PROTO_BYTES)
			err = keep_profile(p, f.bytes);
	return err == NULL && !cursor_ok(&c) ? cursor_error(&c) : err;
}

/* Takes the fields with one number.  Labels are taken first: all profiles of a series have them. */
static struct error *take_fields(struct push *p, struct cursor c, uint32_t number,
	struct error *(*take)(struct push *p, struct cursor c))
{
	struct error *err = NULL;
	struct proto_field f;

	while (err == NULL && proto_next(&c, &f))
		if (f.number == number)
			err = take(p, proto_message(&c, &f));
	return err == NULL && !cursor_ok(&c) ? cursor_error(&c) : err;
}

static struct error *take_series(struct push *p, struct cursor c)
{
	p->name = (struct pyroscope_name){.app = STR("")};
	struct error *err = take_fields(p, c, SERIES_LABEL, take_label);

	return err ? err : take_fields(p, c, SERIES_SAMPLE, take_sample);
}

void intake_pyroscope_push(const struct intake_options *options,
	const struct intake_message *message, struct intake_answer *answer)
{
	struct push p = {.options = options, .answer = answer};
	bool is_json = intake_type_is(message->type, "application/json");
	struct strbuf converted = {0};
	struct str bytes = message->body;
	struct error *err = is_json ? convert(bytes, &converted) : NULL;
	struct cursor c;

	if (is_json)
		bytes = strbuf_str(&converted);
	cursor_init(&c, bytes.data, bytes.size, INTAKE_BODY, 0);
	if (err == NULL)
		err = take_fields(&p, c, REQUEST_SERIES, take_series);
	if (err && answer->kept)
		err = error_prefix(err, "after %" PRIu64 " profiles were kept", answer->kept);
	if (err) {
		intake_refuse_error(message, answer, err);
	} else {
		answer->type = is_json ? "application/json" : "application/proto";
		strbuf_add(&answer->text, is_json ? STR("{}") : STR(""));
	}
	strbuf_deinit(&converted);
}
