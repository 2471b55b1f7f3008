/* The parts of a check of requests that all servers share: hosts, origins, tokens. */
#include "http/head.h"

#include <stdio.h>
#include <sys/random.h>

static bool is_port(struct str text)
{
	for (size_t i = 0; i < text.size; i++)
		if (!char_is_digit(text.data[i]))
			return false;
	return text.size > 0 && text.size <= 5;
}

bool http_host_is_local(struct str host)
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

bool http_is_of_another_site(const struct http_head *head)
{
	if (head->origin.size && !is_own_origin(head))
		return true;
	/* Following a link is fine: to answer that, a server needs the token. */
	return head->fetch_site.size && !str_equal(head->fetch_site, STR("same-origin")) &&
	       !str_equal(head->fetch_site, STR("none")) &&
	       !str_equal(head->fetch_mode, STR("navigate"));
}

bool http_token_equal(struct str text, struct str token)
{
	unsigned char differ = 0;

	if (text.size != token.size)
		return false;
	for (size_t i = 0; i < token.size; i++)
		differ |= (unsigned char)(text.data[i] ^ token.data[i]);
	return differ == 0;
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
