/* In place of http_client.c, where sonde was built without libcurl. */
#include "store/http_client.h"

struct error *http_client_create(
	const struct http_client_options *options, struct http_client **http)
{
	(void)options;
	(void)http;
	return error_new(ERROR_UNSUPPORTED,
		"this sonde was built without libcurl, so a store must be a folder");
}

void http_client_destroy(struct http_client *http)
{
	(void)http;
}

void http_client_run(struct http_client *http, struct http_request *const *requests, size_t count)
{
	(void)http;
	for (size_t i = 0; i < count; i++)
		requests[i]->err = error_new(ERROR_UNSUPPORTED, "no libcurl");
}
