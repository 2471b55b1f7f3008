/* Checks requests, the cheapest and most general first; the token comes last. */
#include "serve/http_check.h"

#include <stdio.h>
#include <sys/random.h>

/* Statuses of RFC 9110. */
#define BAD_REQUEST	   400u
#define FORBIDDEN	   403u
#define NOT_FOUND	   404u
#define METHOD_NOT_ALLOWED 405u
#define MISDIRECTED	   421u

static bool is_port(struct str text)
{
	for (size_t i = 0; i < text.size; i++)
		if (!char_is_digit(text.data[i]))
			return false;
	return text.size > 0 && text.size <= 5;
}

/* A name of this machine, with any port: a tunnel may begin at another one. */
static bool is_local(struct str host)
{
	static const struct str names[] = {STR("127.0.0.1"), STR("localhost"), STR("[::1]")};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct str rest = {host.data + names[i].size, host.size - names[i].size};

		if (!str_starts_with(host, names[i]))
			continue;
		if (rest.size == 0 || (rest.data[0] == ':' &&
					      is_port((struct str){rest.data + 1, rest.size - 1})))
			return true;
	}
	return false;
}

/* An Origin must be this server, as the Host has it. */
static bool is_own_origin(const struct http_head *head)
{
	static const struct str scheme = STR("http://");
	struct str rest = {head->origin.data + scheme.size, head->origin.size - scheme.size};

	return str_starts_with(head->origin, scheme) && str_equal(rest, head->host);
}

/* Browsers say where a request comes from; following a link is fine, as the token is needed. */
static bool is_of_another_site(const struct http_head *head)
{
	return head->fetch_site.size && !str_equal(head->fetch_site, STR("same-origin")) &&
	       !str_equal(head->fetch_site, STR("none")) &&
	       !str_equal(head->fetch_mode, STR("navigate"));
}

/* In a time that does not depend on where they differ. */
static bool is_token(struct str text, const char *token)
{
	unsigned char differ = 0;

	if (text.size != HTTP_TOKEN_SIZE)
		return false;
	for (size_t i = 0; i < HTTP_TOKEN_SIZE; i++)
		differ |= (unsigned char)(text.data[i] ^ token[i]);
	return differ == 0;
}

unsigned http_check(const struct http_head *head, const char *token, struct str *path)
{
	struct str rest = head->path;

	if (head->hosts != 1 || head->is_odd)
		return BAD_REQUEST;
	if (!is_local(head->host))
		return MISDIRECTED;
	if ((head->origin.size && !is_own_origin(head)) || is_of_another_site(head))
		return FORBIDDEN;
	if (!str_equal(head->method, STR("GET")))
		return METHOD_NOT_ALLOWED;
	if (head->has_body || head->upgrades)
		return BAD_REQUEST;
	if (rest.size < HTTP_TOKEN_SIZE + 2 || rest.data[0] != '/' ||
		rest.data[HTTP_TOKEN_SIZE + 1] != '/' ||
		!is_token((struct str){rest.data + 1, HTTP_TOKEN_SIZE}, token))
		return NOT_FOUND;
	*path = (struct str){rest.data + HTTP_TOKEN_SIZE + 2, rest.size - HTTP_TOKEN_SIZE - 2};
	return 0;
}

bool http_token_make(char token[HTTP_TOKEN_SIZE + 1])
{
	unsigned char bytes[HTTP_TOKEN_SIZE / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return true;
}
