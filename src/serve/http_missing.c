/* In place of http.c and its parts, in a build without libmicrohttpd. */
#include "serve/http.h"

struct error *http_serve(struct served *served, const struct http_options *options)
{
	(void)served;
	(void)options;
	return error_new(ERROR_UNSUPPORTED,
		"this sonde was built without libmicrohttpd, so it cannot serve a browser; --mcp "
		"works. To have it, install libmicrohttpd-dev and build sonde again");
}
