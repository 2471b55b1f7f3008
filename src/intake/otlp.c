/*
 * OTLP over HTTP, as its specification defines it: ExportProfilesServiceRequest in,
 * ExportProfilesServiceResponse out, each in protocol buffers or JSON.
 *
 * Each resource becomes one profile.  One that cannot be read or kept is rejected by itself: the
 * answer is then a partial success, with the number of rejected Profile messages.  If nothing was
 * kept, or the client should try again later, the whole request is refused.
 */
#include <stdio.h>

#include "base/json_writer.h"
#include "base/protobuf.h"
#include "formats/otlp/request.h"
#include "intake/message.h"

/* Fields of ExportProfilesServiceResponse and ExportProfilesPartialSuccess. */
enum { RESPONSE_PARTIAL_SUCCESS = 1, PARTIAL_REJECTED = 1, PARTIAL_MESSAGE = 2 };

struct export
{
	const struct intake_options *options;
	const struct intake_message *message;
	struct intake_answer *answer;
	struct otlp_request *request;
	struct error *first; /* why something was rejected; NULL: nothing was */
	enum intake_reason reason;
};

/*
 * What the attributes of a resource state.  labels: room for all of them.  Profilers of whole
 * machines, such as OpenTelemetry's eBPF profiler, know a process's program but rarely its service.
 */
static struct intake_origin origin_of(
	const struct otlp_request_resource *resource, struct intake_label *labels)
{
	struct intake_origin origin = {.protocol = "otlp", .labels = labels};
	struct str program = STR("");

	for (size_t i = 0; i < resource->attribute_count; i++) {
		const struct otlp_request_attribute *a = &resource->attributes[i];

		if (a->key.size > INTAKE_TEXT_MAX || a->value.size > INTAKE_TEXT_MAX)
			continue;
		if (str_equal(a->key, STR("service.name")))
			origin.service = a->value;
		else if (str_equal(a->key, STR("host.name")))
			origin.host = a->value;
		else if (str_equal(a->key, STR("process.executable.name")))
			program = a->value;
		/* As a label, it would keep all processes apart. */
		else if (!str_equal(a->key, STR("process.pid")))
			labels[origin.label_count++] = (struct intake_label){a->key, a->value};
	}
	if (origin.service.size == 0)
		origin.service = program;
	return origin;
}

static struct error *keep_resource(struct export *e, size_t number)
{
	const struct otlp_request_resource *resource = otlp_request_resource(e->request, number);
	struct intake_label labels[OTLP_REQUEST_ATTRIBUTES_MAX];

	if (resource->is_too_many) {
		e->answer->reason = REASON_SIZE;
		return error_new(ERROR_INPUT,
			"too many resources in one request for the size of its dictionary; send "
			"fewer at a time");
	}
	struct intake_origin origin = origin_of(resource, labels);
	struct str bytes = otlp_request_message(e->request, number);
	const struct reader_input input = {.name = INTAKE_BODY,
		.data = (const uint8_t *)bytes.data,
		.size = bytes.size,
		.is_sent = true};

	return intake_keep(e->options, &input, "otlp", &origin, e->answer);
}

/* Keeps what can be kept; false: the client should send the request again. */
static bool keep_all(struct export *e)
{
	for (size_t i = 0; i < otlp_request_resource_count(e->request); i++) {
		struct error *err = keep_resource(e, i);

		if (err == NULL)
			continue;
		e->answer->rejected += otlp_request_resource(e->request, i)->profile_count;
		if (e->first == NULL) {
			e->first = err;
			e->reason = e->answer->reason;
		} else {
			error_destroy(err);
		}
		if (e->answer->reason == REASON_BUSY) {
			e->reason = REASON_BUSY;
			return false;
		}
	}
	return true;
}

static void put_json(struct strbuf *out, const struct export *e)
{
	struct json_writer w = json_writer(out);

	json_put_object(&w);
	if (e->first) {
		json_put_key(&w, "partialSuccess");
		json_put_object(&w);
		json_put_key(&w, "rejectedProfiles");
		/* In the JSON of protocol buffers, 64-bit numbers are strings. */
		char text[24];
		int size = snprintf(
			text, sizeof(text), "%llu", (unsigned long long)e->answer->rejected);
		json_put_string(&w, (struct str){text, (size_t)size});
		json_put_key(&w, "errorMessage");
		json_put_string(&w, str_from(e->first->message));
		json_put_end(&w);
	}
	json_put_end(&w);
}

static void put_message(struct strbuf *out, const struct export *e)
{
	if (e->first == NULL)
		return;
	size_t begun = proto_begin(out, RESPONSE_PARTIAL_SUCCESS);

	proto_put_varint(out, PARTIAL_REJECTED, e->answer->rejected);
	proto_put_string(out, PARTIAL_MESSAGE, str_from(e->first->message));
	proto_end(out, begun);
}

static void put_response(struct export *e, bool is_json)
{
	e->answer->type = is_json ? "application/json" : "application/x-protobuf";
	if (is_json)
		put_json(&e->answer->text, e);
	else
		put_message(&e->answer->text, e);
	e->answer->reason = e->first ? e->reason : REASON_NONE;
}

void intake_otlp(const struct intake_options *options, const struct intake_message *message,
	struct intake_answer *answer)
{
	struct export e = {.options = options, .message = message, .answer = answer};
	bool is_json = intake_type_is(message->type, "application/json");
	struct error *err = otlp_request_read(INTAKE_BODY, message->body, is_json, &e.request);

	if (err) {
		answer->reason = REASON_MALFORMED;
		intake_refuse_error(message, answer, err);
		return;
	}
	if (!keep_all(&e) || (e.first && answer->kept == 0)) {
		answer->reason = e.reason;
		intake_refuse_error(message, answer, e.first);
	} else {
		put_response(&e, is_json);
		error_destroy(e.first);
	}
	otlp_request_destroy(e.request);
}
