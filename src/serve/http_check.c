/* Checks requests, the cheapest and most general first; the token comes last. */
#include "serve/http_check.h"

unsigned http_check(const struct http_head *head, const char *token, struct str *path)
{
	struct str rest = head->path;

	if (head->hosts != 1 || head->is_odd)
		return HTTP_BAD_REQUEST;
	if (!http_host_is_local(head->host))
		return HTTP_MISDIRECTED;
	if (http_is_of_another_site(head))
		return HTTP_FORBIDDEN;
	if (!str_equal(head->method, STR("GET")))
		return HTTP_METHOD_NOT_ALLOWED;
	if (head->has_body || head->upgrades)
		return HTTP_BAD_REQUEST;
	if (rest.size < HTTP_TOKEN_SIZE + 2 || rest.data[0] != '/' ||
		rest.data[HTTP_TOKEN_SIZE + 1] != '/' ||
		!http_token_equal((struct str){rest.data + 1, HTTP_TOKEN_SIZE}, str_from(token)))
		return HTTP_NOT_FOUND;
	*path = (struct str){rest.data + HTTP_TOKEN_SIZE + 2, rest.size - HTTP_TOKEN_SIZE - 2};
	return 0;
}
