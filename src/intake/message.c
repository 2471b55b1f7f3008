/*
 * Processes a complete request, without any network: unpacks the body, reads it with the readers of
 * files, and passes on each profile in it.  The answer has the form that clients of the protocol
 * read: google.rpc.Status in OTLP, Connect's JSON for the push API, else text.
 */
#include "intake/message.h"

#include <stdlib.h>
#include <strings.h>

#include "base/decompress.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "base/protobuf.h"
#include "formats/readers.h"

#define TYPE_TEXT     "text/plain; charset=utf-8"
#define TYPE_JSON     "application/json"
#define TYPE_PROTOBUF "application/x-protobuf"

/* google.rpc.Status */
enum { STATUS_CODE = 1, STATUS_MESSAGE = 2 };

/* A time before 1973 is in another unit than ns: some clients write such times. */
#define UNIX_NS_MIN 100000000000000000u
/* When a client should try again. */
#define RETRY_SECONDS 5u

const char *const intake_path_names[INTAKE_PATH_COUNT] = {[INTAKE_OTLP] = "otlp",
	[INTAKE_INGEST] = "ingest",
	[INTAKE_PUSH] = "push",
	[INTAKE_METRICS] = "metrics",
	[INTAKE_HEALTHY] = "healthy",
	[INTAKE_OTHER] = "other"};
const char *const intake_reason_names[INTAKE_REASON_COUNT] = {[REASON_NONE] = "none",
	[REASON_HEAD] = "head",
	[REASON_TOKEN] = "token",
	[REASON_TYPE] = "type",
	[REASON_SIZE] = "size",
	[REASON_BUSY] = "busy",
	[REASON_MALFORMED] = "malformed",
	[REASON_NOT_KEPT] = "not-kept",
	[REASON_LIMIT] = "limit",
	[REASON_FAILED] = "failed"};

/* ---- types ---- */

bool intake_type_is(struct str type, const char *media)
{
	const char *end = type.size ? memchr(type.data, ';', type.size) : NULL;
	struct str whole = {type.data, end ? (size_t)(end - type.data) : type.size};

	whole = str_trim(whole);
	return whole.size == strlen(media) && strncasecmp(whole.data, media, whole.size) == 0;
}

static bool is_encoding(struct str encoding, const char *name)
{
	encoding = str_trim(encoding);
	return encoding.size == strlen(name) &&
	       strncasecmp(encoding.data, name, encoding.size) == 0;
}

bool intake_is_type_taken(const struct intake_message *m)
{
	if (m->encoding.size && !is_encoding(m->encoding, "gzip") &&
		!is_encoding(m->encoding, "zstd") && !is_encoding(m->encoding, "identity"))
		return false;
	if (m->path == INTAKE_OTLP)
		return intake_type_is(m->type, TYPE_PROTOBUF) || intake_type_is(m->type, TYPE_JSON);
	if (m->path == INTAKE_PUSH)
		return intake_type_is(m->type, "application/proto") ||
		       intake_type_is(m->type, TYPE_JSON);
	return true;
}

/* ---- refusals ---- */

/* The names and numbers of gRPC's codes, which Connect and Status share. */
static const struct {
	unsigned status;
	unsigned code;
	const char *name;
} codes[] = {{400, 3, "invalid_argument"}, {401, 16, "unauthenticated"},
	{403, 7, "permission_denied"}, {404, 5, "not_found"}, {405, 12, "unimplemented"},
	{413, 8, "resource_exhausted"}, {415, 3, "invalid_argument"}, {421, 7, "permission_denied"},
	{429, 8, "resource_exhausted"}, {503, 14, "unavailable"}, {0, 13, "internal"}};

static size_t code_of(unsigned status)
{
	size_t i = 0;

	while (codes[i].status && codes[i].status != status)
		i++;
	return i;
}

static void put_json_status(struct strbuf *out, size_t code, bool is_number, const char *why)
{
	struct json_writer w = json_writer(out);

	json_put_object(&w);
	json_put_key(&w, "code");
	if (is_number)
		json_put_unsigned(&w, codes[code].code);
	else
		json_put_string(&w, str_from(codes[code].name));
	json_put_key(&w, "message");
	json_put_string(&w, str_from(why));
	json_put_end(&w);
}

void intake_refuse(const struct intake_message *m, struct intake_answer *answer, unsigned status,
	enum intake_reason reason, const char *why)
{
	size_t code = code_of(status);
	bool is_json = intake_type_is(m->type, TYPE_JSON);

	answer->status = status;
	answer->reason = reason;
	answer->retry_seconds = status == 503 || status == 429 ? RETRY_SECONDS : 0;
	strbuf_clear(&answer->text);
	if (m->path == INTAKE_PUSH || (m->path == INTAKE_OTLP && is_json)) {
		put_json_status(&answer->text, code, m->path == INTAKE_OTLP, why);
		answer->type = TYPE_JSON;
	} else if (m->path == INTAKE_OTLP) {
		proto_put_varint(&answer->text, STATUS_CODE, codes[code].code);
		proto_put_string(&answer->text, STATUS_MESSAGE, str_from(why));
		answer->type = TYPE_PROTOBUF;
	} else {
		strbuf_printf(&answer->text, "%s\n", why);
		answer->type = TYPE_TEXT;
	}
}

void intake_refuse_error(
	const struct intake_message *m, struct intake_answer *answer, struct error *err)
{
	static const unsigned statuses[INTAKE_REASON_COUNT] = {
		[REASON_SIZE] = 413, [REASON_BUSY] = 503, [REASON_TYPE] = 415};
	unsigned status = statuses[answer->reason] ? statuses[answer->reason] : 400;

	if (answer->reason == REASON_NONE)
		answer->reason = REASON_MALFORMED;
	intake_refuse(m, answer, status, answer->reason, err->message);
	error_destroy(err);
}

/* ---- profiles ---- */

struct error *intake_unpack(const struct intake_options *options, const char *name,
	struct str *bytes, uint8_t **unpacked, struct intake_answer *answer)
{
	const struct file_bytes packed = {(const uint8_t *)bytes->data, bytes->size};
	struct file_bytes whole;
	bool is_too_large;

	*unpacked = NULL;
	if (!is_compressed(&packed))
		return NULL;
	struct error *err =
		decompress_borrowed(name, options->body_max, &packed, &whole, &is_too_large);

	if (is_too_large)
		answer->reason = REASON_SIZE;
	if (err)
		return err;
	*unpacked = (uint8_t *)(uintptr_t)whole.data;
	*bytes = (struct str){(const char *)whole.data, whole.size};
	return NULL;
}

static void mix(uint64_t *digest, struct str s)
{
	*digest = hash_pair(*digest, hash_bytes(s.data, s.size));
	*digest = hash_pair(*digest, s.size);
}

static uint64_t digest_of(const struct reader_input *input, const struct intake_origin *origin)
{
	uint64_t digest = 0;

	mix(&digest, str_from(origin->protocol));
	mix(&digest, origin->service);
	mix(&digest, origin->host);
	for (size_t i = 0; i < origin->label_count; i++) {
		mix(&digest, origin->labels[i].key);
		mix(&digest, origin->labels[i].value);
	}
	mix(&digest, (struct str){(const char *)input->data, input->size});
	return digest;
}

/* The profile's own times are exact; those that a sender states are often whole seconds. */
static void set_times(struct intake_origin *origin, struct profile *profile)
{
	uint64_t start = profile->start_unix_ns, duration = profile->stats.duration_ns;

	if (start >= UNIX_NS_MIN) {
		origin->start_unix_ns = start;
		if (duration && duration < UINT64_MAX - start)
			origin->end_unix_ns = start + duration;
	} else {
		profile->start_unix_ns = 0;
	}
	if (origin->end_unix_ns < origin->start_unix_ns)
		origin->end_unix_ns = origin->start_unix_ns;
}

struct error *intake_keep(const struct intake_options *options, const struct reader_input *input,
	const char *format, struct intake_origin *origin, struct intake_answer *answer)
{
	struct profile *profile;
	struct error *err = profile_read_bytes(input, format, &profile);

	if (err) {
		answer->reason = REASON_MALFORMED;
		return err;
	}
	set_times(origin, profile);
	if (origin->interval_ns && profile->stats.interval_ns == UINT64_MAX)
		profile->stats.interval_ns = origin->interval_ns;
	if (origin->service.size == 0)
		origin->service = STR("unknown_service");
	if (origin->host.size == 0)
		origin->host = profile_string(profile, profile->host);
	origin->digest = digest_of(input, origin);
	err = options->keep(options->context, profile, origin);
	if (err == NULL)
		answer->kept++;
	else
		answer->reason = err->kind == ERROR_SYSTEM ? REASON_BUSY : REASON_NOT_KEPT;
	return err;
}

void intake_take(const struct intake_options *options, const struct intake_message *message,
	struct intake_answer *answer)
{
	static void (*const take[INTAKE_PATH_COUNT])(const struct intake_options *,
		const struct intake_message *,
		struct intake_answer *) = {[INTAKE_OTLP] = intake_otlp,
		[INTAKE_INGEST] = intake_pyroscope_ingest,
		[INTAKE_PUSH] = intake_pyroscope_push};
	struct intake_message m = *message;
	uint8_t *unpacked = NULL;
	struct error *err = NULL;

	*answer = (struct intake_answer){.status = 200, .type = TYPE_TEXT};
	if (m.encoding.size && !is_encoding(m.encoding, "identity")) {
		err = intake_unpack(options, INTAKE_BODY, &m.body, &unpacked, answer);
		if (err == NULL && unpacked == NULL && m.body.size)
			err = error_new(ERROR_INPUT,
				"the request has a Content-Encoding, but is not compressed");
	}
	if (err)
		intake_refuse_error(&m, answer, err);
	else
		take[m.path](options, &m, answer);
	free(unpacked);
}
