/*
 * Checks a request's head, the cheapest and most general conditions first.
 *
 * Without a token, anybody who can connect may send profiles, so any user of the machine.  Web
 * pages may not: browsers send an Origin with each POST, and no browser is a legitimate client.
 */
#include "intake/check.h"

#include <string.h>
#include <strings.h>

#include "base/base64.h"

enum { UNAUTHORIZED = 401, PAYLOAD_TOO_LARGE = 413 };

enum intake_path intake_path_of(struct str path)
{
	static const struct str paths[INTAKE_OTHER] = {
		[INTAKE_OTLP] = STR("/v1development/profiles"),
		[INTAKE_INGEST] = STR("/ingest"),
		[INTAKE_PUSH] = STR("/push.v1.PusherService/Push"),
		[INTAKE_METRICS] = STR("/metrics"),
		[INTAKE_HEALTHY] = STR("/-/healthy")};
	int i = 0;

	while (i < INTAKE_OTHER && !str_equal(path, paths[i]))
		i++;
	return (enum intake_path)i;
}

/* Removes the scheme's name from the header; false: the header has another scheme. */
static bool take_scheme(struct str *authorization, struct str scheme)
{
	if (authorization->size <= scheme.size ||
		strncasecmp(authorization->data, scheme.data, scheme.size) != 0)
		return false;
	*authorization = str_trim(
		(struct str){authorization->data + scheme.size, authorization->size - scheme.size});
	return true;
}

/* Some clients support only a user and a password (RFC 7617).  Any user will do. */
static bool is_password(struct str token, struct str credentials)
{
	struct strbuf text = {0};
	const char *colon = NULL;
	bool is_equal = false;

	if (base64_decode(credentials, &text) && text.size)
		colon = memchr(text.data, ':', text.size);
	if (colon)
		is_equal = http_token_equal(
			(struct str){colon + 1, (size_t)(text.data + text.size - colon) - 1},
			token);
	strbuf_deinit(&text);
	return is_equal;
}

static bool is_authorized(struct str token, struct str authorization)
{
	if (take_scheme(&authorization, STR("Bearer ")))
		return http_token_equal(authorization, token);
	return take_scheme(&authorization, STR("Basic ")) && is_password(token, authorization);
}

/* What is wrong with the form of the head; NULL: nothing. */
static const char *problem_of(const struct intake_head *head, bool has_body)
{
	const struct http_head *http = &head->http;

	if (http->hosts != 1)
		return "expected exactly one Host header";
	if (http->is_odd)
		return "a header has an invalid name";
	if (http->upgrades)
		return "this server upgrades to no other protocol";
	if (http->framings > 1)
		return "more than one Content-Length or Transfer-Encoding";
	if (head->transfer_encoding.size &&
		(head->transfer_encoding.size != 7 ||
			strncasecmp(head->transfer_encoding.data, "chunked", 7) != 0))
		return "unsupported Transfer-Encoding: expected chunked";
	return !has_body && http->has_body ? "the request must have no body" : NULL;
}

unsigned intake_check(const struct intake_door *door, const struct intake_head *head,
	enum intake_path path, enum intake_reason *reason, const char **why)
{
	bool is_post = path < INTAKE_METRICS;

	*reason = REASON_HEAD;
	*why = problem_of(head, is_post);
	if (*why)
		return HTTP_BAD_REQUEST;
	*why = "the Host is not a name of this server: expected 127.0.0.1, localhost or [::1]";
	if (door->is_loopback && door->token.size == 0 && !http_host_is_local(head->http.host))
		return HTTP_MISDIRECTED;
	*why = "requests from web pages are refused";
	if (head->http.origin.size || http_is_of_another_site(&head->http))
		return HTTP_FORBIDDEN;
	if (path != INTAKE_HEALTHY && door->token.size &&
		!is_authorized(door->token, head->authorization)) {
		*reason = REASON_TOKEN;
		*why = "the token is missing or wrong; expected 'Authorization: Bearer TOKEN', or "
		       "Basic "
		       "with the token as password";
		return UNAUTHORIZED;
	}
	*why = "no such path; profiles go to /v1development/profiles (OTLP), /ingest or "
	       "/push.v1.PusherService/Push (Pyroscope)";
	if (path == INTAKE_OTHER)
		return HTTP_NOT_FOUND;
	*why = is_post ? "expected POST" : "expected GET";
	if (!str_equal(head->http.method, is_post ? STR("POST") : STR("GET")))
		return HTTP_METHOD_NOT_ALLOWED;
	if (head->body_size > door->body_max) {
		*reason = REASON_SIZE;
		*why = "the body is too large; send fewer profiles at a time";
		return PAYLOAD_TOO_LARGE;
	}
	return 0;
}
