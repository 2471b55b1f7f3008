/*
 * Sends OTLP over HTTP, as the specification of opentelemetry-proto defines it.  A request is
 * repeated if the server cannot be reached, closes the connection, or reports that it is busy (429,
 * 502, 503, 504), but not after any other refusal, a certificate that is not trusted, nor a partial
 * success.
 */
#include "store/otlp_send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/compress.h"
#include "base/escape.h"
#include "base/protobuf.h"
#include "store/exposure.h"
#include "store/http_client.h"

/* What the specification recommends. */
#define BODY_MAX   ((size_t)64 << 20)
#define ANSWER_MAX ((uint64_t)4 << 20)

#define WAIT_DEFAULT	SECOND_NS
#define WAIT_MAX	(30 * SECOND_NS)
#define GIVE_UP_DEFAULT (60 * SECOND_NS)
/* Of a server's message. */
#define MESSAGE_MAX 400

#define PATH "/v1development/profiles"

/* ExportProfilesServiceResponse, ExportProfilesPartialSuccess, google.rpc.Status. */
enum { RESPONSE_PARTIAL_SUCCESS = 1, PARTIAL_REJECTED = 1, PARTIAL_MESSAGE = 2 };
enum { STATUS_MESSAGE = 2 };

struct sending {
	struct otlp_send_options options;
	struct otlp_sent *sent;
	struct strbuf body;
	char *url, *authorization;
	struct http_client *http;
	uint64_t begun_ns, wait_ns;
};

/* ---- the request ---- */

/* "HOST:PORT" of a URL, with the user and password if it has them. */
static struct str place_of(const char *url)
{
	const char *place = strstr(url, "://");

	place = place ? place + 3 : url;
	return (struct str){place, strcspn(place, "/?#")};
}

static bool has_user(struct str place)
{
	return place.size && memchr(place.data, '@', place.size);
}

static struct error *check_url(const char *url)
{
	/* The message does not repeat the password. */
	if (has_user(place_of(url)))
		return error_new(ERROR_USAGE,
			"the URL for OTLP has no user or password, which everybody could read; put "
			"a token into a file for --credentials");
	return NULL;
}

static char *url_of(const char *url)
{
	size_t size = strlen(url);

	while (size && url[size - 1] == '/')
		size--;
	return str_ends_with((struct str){url, size}, STR(PATH))
		       ? xstrndup(url, size)
		       : xasprintf("%.*s" PATH, (int)size, url);
}

static struct error *make_body(struct sending *s, const struct profile *profile)
{
	static const struct str service = STR("service.name");
	size_t given = s->options.attribute_count, count = given;
	struct writer_attribute *attributes = xcalloc(given + 1, sizeof(*attributes));
	bool has_service = false;
	struct sink sink;

	for (size_t i = 0; i < given; i++) {
		attributes[i] = s->options.attributes[i];
		has_service |= str_equal(attributes[i].key, service);
	}
	if (!has_service)
		attributes[count++] = (struct writer_attribute){service, STR("unknown_service")};
	const struct writer_options options = {.metric = profile->default_metric,
		.attributes = attributes,
		.attribute_count = count};

	sink_init_memory(&sink);
	struct error *err = writer_otlp.write(&sink, profile, &options);

	free(attributes);

	if (err == NULL && sink.text.size > s->options.body_max)
		err = error_new(ERROR_INPUT,
			"the request would have %zu bytes, more than the limit of %zu; send a "
			"profile of a shorter time",
			sink.text.size, s->options.body_max);
	if (err == NULL) {
		struct compressor *c = compressor_create(PACKING_GZIP);

		compressor_add(c, strbuf_str(&sink.text), true, &s->body);
		compressor_destroy(c);
		s->sent->bytes = s->body.size;
	}
	strbuf_deinit(&sink.text);
	return err;
}

/* ---- answers ---- */

static void take_message(struct otlp_sent *sent, struct str text)
{
	strbuf_clear(&sent->message);
	if (text.size > MESSAGE_MAX)
		text.size = MESSAGE_MAX;
	escape_text(&sent->message, text);
}

static struct error *take_partial_success(struct otlp_sent *sent, struct cursor c)
{
	struct proto_field f;

	while (proto_next(&c, &f)) {
		if (f.number == PARTIAL_REJECTED)
			sent->rejected = f.value;
		else if (f.number == PARTIAL_MESSAGE)
			take_message(sent, f.bytes);
	}
	return cursor_ok(&c) ? NULL : cursor_error(&c);
}

/* Reads the answer to a request that the server accepted. */
static struct error *take_success(const struct sending *s, const struct strbuf *answer)
{
	struct error *err = NULL;
	struct proto_field f;
	struct cursor c;

	cursor_init(&c, answer->data, answer->size, s->url, 0);
	while (err == NULL && proto_next(&c, &f))
		if (f.number == RESPONSE_PARTIAL_SUCCESS)
			err = take_partial_success(s->sent, proto_message(&c, &f));
	if (err == NULL && !cursor_ok(&c))
		err = cursor_error(&c);
	return err ? error_prefix(err, "the answer is not one of OTLP") : NULL;
}

/* The reason in a refusal: the message of a Status, or the first line of text; may be empty. */
static struct str reason_of(const struct strbuf *answer)
{
	struct str line = strbuf_str(answer), message = STR("");
	struct proto_field f;
	struct cursor c;

	cursor_init(&c, line.data, line.size, "", 0);
	while (proto_next(&c, &f))
		if (f.number == STATUS_MESSAGE && f.type == PROTO_BYTES)
			message = f.bytes;
	if (cursor_ok(&c))
		return message;
	return str_trim(str_take_line(&line));
}

static bool is_busy(int status)
{
	return status == 429 || (status >= 502 && status <= 504);
}

static struct error *refused(const struct sending *s, const struct http_request *request)
{
	struct strbuf reason = {0};
	struct str text = reason_of(&request->answer);

	if (text.size > MESSAGE_MAX)
		text.size = MESSAGE_MAX;
	escape_text(&reason, text);
	struct error *err = error_new(is_busy(request->status) ? ERROR_SYSTEM : ERROR_INPUT,
		"%s: status %d%s%s", s->url, request->status, reason.size ? ": " : "",
		strbuf_str(&reason).data);

	strbuf_deinit(&reason);
	return err;
}

/* ---- tries ---- */

/* Waits before another try; false: it would begin too late. */
static bool wait_for_next(struct sending *s, uint64_t retry_after_s)
{
	uint64_t random = 0, passed = clock_monotonic_ns() - s->begun_ns, wait;

	/* Without random numbers, clients may merely retry at the same time. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = 0;
	wait = s->wait_ns / 2 + random % (s->wait_ns / 2 + 1);
	s->wait_ns = s->wait_ns < WAIT_MAX / 2 ? 2 * s->wait_ns : WAIT_MAX;
	if (retry_after_s)
		wait = retry_after_s < UINT32_MAX ? retry_after_s * SECOND_NS : UINT64_MAX / 2;
	if (passed + wait > s->options.give_up_ns)
		return false;
	struct timespec rest = {(time_t)(wait / SECOND_NS), (long)(wait % SECOND_NS)};

	while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
		;
	return true;
}

/* Tries once.  *again: another try may help, after *retry_after_s seconds (0: not stated). */
static struct error *try_once(struct sending *s, bool *again, uint64_t *retry_after_s)
{
	const char *const headers[] = {"Content-Type: application/x-protobuf",
		"Content-Encoding: gzip", s->authorization, NULL};
	struct http_request request = {
		.url = s->url, .headers = headers, .body = strbuf_str(&s->body)};
	struct http_request *const requests[] = {&request};
	struct error *err;

	s->sent->tries++;
	http_client_run(s->http, requests, 1);
	*retry_after_s = request.retry_after_s;
	if (request.status == 0) {
		/* A server that has begun to answer has the request. */
		*again = request.answer.size == 0 && !request.is_hopeless;
		err = request.err;
		if (err && *again)
			err->kind = ERROR_SYSTEM;
	} else if (request.status >= 200 && request.status < 300) {
		*again = false;
		err = take_success(s, &request.answer);
	} else {
		*again = is_busy(request.status);
		err = refused(s, &request);
	}
	strbuf_deinit(&request.answer);
	return err;
}

static struct error *try_often(struct sending *s)
{
	struct error *err;
	uint64_t retry_after_s;
	bool again;

	s->begun_ns = clock_monotonic_ns();
	while ((err = try_once(s, &again, &retry_after_s)) && again) {
		if (!wait_for_next(s, retry_after_s))
			return error_prefix(err, "given up after %u %s", s->sent->tries,
				s->sent->tries == 1 ? "try" : "tries");
		error_destroy(err);
	}
	return err;
}

struct error *otlp_send(const struct profile *profile, const char *url,
	const struct otlp_send_options *options, struct otlp_sent *sent)
{
	struct sending s = {.options = *options, .sent = sent};
	const struct http_client_options client = {
		.ca_file = options->ca_file, .answer_max = ANSWER_MAX};

	*sent = (struct otlp_sent){0};
	if (s.options.give_up_ns == 0)
		s.options.give_up_ns = GIVE_UP_DEFAULT;
	if (s.options.body_max == 0)
		s.options.body_max = BODY_MAX;
	s.wait_ns = options->wait_ns ? options->wait_ns : WAIT_DEFAULT;
	struct error *err = check_url(url);

	if (err == NULL)
		err = make_body(&s, profile);

	if (err == NULL)
		err = http_client_create(&client, &s.http);
	if (err == NULL) {
		s.url = url_of(url);
		if (options->token)
			s.authorization = xasprintf("Authorization: Bearer %s", options->token);
		err = try_often(&s);
	}
	http_client_destroy(s.http);
	if (s.authorization)
		explicit_bzero(s.authorization, strlen(s.authorization));
	free(s.authorization);
	free(s.url);
	strbuf_deinit(&s.body);
	return err;
}

char *otlp_send_warning(const char *url)
{
	struct str place = place_of(url);

	/* libcurl reads a URL without a scheme as one of http://; one with a user is not sent. */
	if (strncasecmp(url, "https://", 8) == 0 || has_user(place) ||
		!exposure_is_elsewhere(place))
		return NULL;
	return exposure_note("the token", place, "use a URL that begins with https://");
}

void otlp_sent_deinit(struct otlp_sent *sent)
{
	strbuf_deinit(&sent->message);
}
