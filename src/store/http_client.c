/*
 * libcurl's multi interface behind one call.  libcurl brings a TLS library and much else, which
 * would cost every command some 20 ms to load, so it is loaded only when a store is asked for.  A
 * static program has it linked in.
 */
#include "store/http_client.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifndef SONDE_STATIC
#include <dlfcn.h>
#endif

#include "base/alloc.h"
#include "base/clock.h"
#include "base/compiler.h"

#define LIBRARY		"libcurl.so.4"
#define CONNECT_DEFAULT (5 * SECOND_NS)
#define SILENCE_DEFAULT (60 * SECOND_NS)
#define ANSWER_DEFAULT	(UINT64_C(4) << 30)
#define MS_NS		(SECOND_NS / 1000)

enum { WAIT_MS = 1000, CONNECTIONS_MAX = 64, READ_BYTES = 256 << 10 };

/* What is used of libcurl, under its names. */
struct curl_calls {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *easy_init;
	/* The macros of the headers stand in the way of checked declarations. */
	CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
	CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
	CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_multi_init) *multi_init;
	__typeof__(curl_multi_cleanup) *multi_cleanup;
	__typeof__(curl_multi_add_handle) *multi_add_handle;
	__typeof__(curl_multi_remove_handle) *multi_remove_handle;
	__typeof__(curl_multi_perform) *multi_perform;
	__typeof__(curl_multi_poll) *multi_poll;
	__typeof__(curl_multi_info_read) *multi_info_read;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
};

struct http_client {
	struct http_client_options options;
	struct curl_calls curl;
	CURLM *multi;
};

/* One request under way. */
struct transfer {
	struct http_client *http;
	struct http_request *request;
	CURL *easy;
	struct curl_slist *headers;
	bool is_too_long;
	char problem[CURL_ERROR_SIZE];
};

/* ---- the library ---- */

/* Its functions by name; a static program has their addresses. */
struct curl_name {
	const char *name;
	size_t offset;
	void (*linked)(void);
};

#ifdef SONDE_STATIC
#define LINKED(name) (void (*)(void)) curl_##name
#else
#define LINKED(name) NULL
#endif
#define CALL(name)                                                                                 \
	{                                                                                          \
		"curl_" #name, offsetof(struct curl_calls, name), LINKED(name)                     \
	}

static const struct curl_name curl_names[] = {
	CALL(global_init),
	CALL(easy_init),
	CALL(easy_setopt),
	CALL(easy_getinfo),
	CALL(multi_setopt),
	CALL(easy_cleanup),
	CALL(easy_strerror),
	CALL(multi_init),
	CALL(multi_cleanup),
	CALL(multi_add_handle),
	CALL(multi_remove_handle),
	CALL(multi_perform),
	CALL(multi_poll),
	CALL(multi_info_read),
	CALL(slist_append),
	CALL(slist_free_all),
};

static void set_call(struct curl_calls *calls, size_t i, const void *address)
{
	memcpy((char *)calls + curl_names[i].offset, address, sizeof(void *));
}

#ifdef SONDE_STATIC

static struct error *load(struct curl_calls *calls)
{
	for (size_t i = 0; i < ARRAY_SIZE(curl_names); i++)
		set_call(calls, i, &curl_names[i].linked);
	return NULL;
}

/*
 * Where distributions keep the certificates of authorities: Debian, Fedora, openSUSE, Alpine, RHEL,
 * in the order of Go's crypto/x509.  NULL: nowhere.
 */
static const char *system_ca_file(void)
{
	static const char *const files[] = {"/etc/ssl/certs/ca-certificates.crt",
		"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (access(files[i], R_OK) == 0)
			return files[i];
	}
	return NULL;
}

#else

static struct error *load(struct curl_calls *calls)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return error_new(ERROR_UNSUPPORTED,
			LIBRARY " cannot be loaded; install it (Debian: libcurl4)");
	for (size_t i = 0; i < ARRAY_SIZE(curl_names); i++) {
		void *symbol = dlsym(library, curl_names[i].name);

		if (symbol == NULL)
			return error_new(ERROR_UNSUPPORTED, LIBRARY " has no %s: it is too old",
				curl_names[i].name);
		set_call(calls, i, &symbol);
	}
	return NULL;
}

/* The library knows them. */
static const char *system_ca_file(void)
{
	return NULL;
}

#endif

struct error *http_client_create(
	const struct http_client_options *options, struct http_client **http)
{
	struct http_client *h = xalloc(sizeof(*h));
	struct error *err = load(&h->curl);

	if (err) {
		free(h);
		return err;
	}
	h->options = *options;
	if (h->options.ca_file == NULL)
		h->options.ca_file = system_ca_file();
	if (h->options.connect_ns == 0)
		h->options.connect_ns = CONNECT_DEFAULT;
	if (h->options.silence_ns == 0)
		h->options.silence_ns = SILENCE_DEFAULT;
	if (h->options.answer_max == 0)
		h->options.answer_max = ANSWER_DEFAULT;
	h->curl.global_init(CURL_GLOBAL_DEFAULT);
	h->multi = h->curl.multi_init();
	if (h->multi == NULL) {
		free(h);
		return error_new(ERROR_SYSTEM, LIBRARY " cannot begin");
	}
	h->curl.multi_setopt(h->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)CONNECTIONS_MAX);
	*http = h;
	return NULL;
}

void http_client_destroy(struct http_client *http)
{
	if (http == NULL)
		return;
	http->curl.multi_cleanup(http->multi);
	free(http);
}

/* ---- one request ---- */

static size_t on_answer(char *data, size_t size, size_t count, void *context)
{
	struct transfer *t = context;
	size_t bytes = size * count;

	if (t->request->answer.size + bytes > t->http->options.answer_max) {
		t->is_too_long = true;
		return 0;
	}
	strbuf_add(&t->request->answer, (struct str){data, bytes});
	return bytes;
}

static bool has_type(const char *const *headers)
{
	static const char name[] = "Content-Type:";

	for (; headers && *headers; headers++)
		if (strncasecmp(*headers, name, sizeof(name) - 1) == 0)
			return true;
	return false;
}

static void begin(struct http_client *h, struct transfer *t, struct http_request *request)
{
	const struct curl_calls *c = &h->curl;
	uint64_t silence_s = (h->options.silence_ns + SECOND_NS - 1) / SECOND_NS;

	*t = (struct transfer){.http = h, .request = request, .easy = c->easy_init()};
	c->easy_setopt(t->easy, CURLOPT_URL, request->url);
#if LIBCURL_VERSION_NUM >= 0x075500
	c->easy_setopt(t->easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	c->easy_setopt(t->easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	c->easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
	c->easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->problem);
	c->easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(h->options.connect_ns / MS_NS));
	c->easy_setopt(t->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	c->easy_setopt(t->easy, CURLOPT_LOW_SPEED_TIME, (long)silence_s);
	c->easy_setopt(t->easy, CURLOPT_BUFFERSIZE, (long)READ_BYTES);
	c->easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_answer);
	c->easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
	if (h->options.ca_file)
		c->easy_setopt(t->easy, CURLOPT_CAINFO, h->options.ca_file);
	if (request->body.data) {
		c->easy_setopt(t->easy, CURLOPT_POST, 1L);
		c->easy_setopt(t->easy, CURLOPT_POSTFIELDS, request->body.data);
		c->easy_setopt(
			t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size);
		/* Do not wait for "100 Continue", nor say what kind of form it is. */
		t->headers = c->slist_append(t->headers, "Expect:");
		if (!has_type(request->headers))
			t->headers = c->slist_append(
				t->headers, "Content-Type: application/octet-stream");
	}
	for (const char *const *header = request->headers; header && *header; header++)
		t->headers = c->slist_append(t->headers, *header);
	c->easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
	c->multi_add_handle(h->multi, t->easy);
}

/* "HOST:PORT" of a URL. */
static struct str url_host(const char *url)
{
	const char *host = strstr(url, "://");

	host = host ? host + 3 : url;
	return (struct str){host, strcspn(host, "/?")};
}

static void end(struct transfer *t, CURLcode code)
{
	const struct curl_calls *c = &t->http->curl;
	struct http_request *request = t->request;
	struct str host = url_host(request->url);
	curl_off_t retry = 0;
	long status = 0;

	c->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	c->easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &retry);
	request->retry_after_s = retry > 0 ? (uint64_t)retry : 0;
	request->status = code == CURLE_OK ? (int)status : 0;
	if (t->is_too_long)
		request->err = error_new(ERROR_INPUT, "%.*s: the answer is longer than %llu bytes",
			STR_ARG(host), (unsigned long long)t->http->options.answer_max);
	else if (code != CURLE_OK)
		request->err = error_new(ERROR_INPUT, "%.*s: %s", STR_ARG(host),
			t->problem[0] ? t->problem : c->easy_strerror(code));
	c->multi_remove_handle(t->http->multi, t->easy);
	c->easy_cleanup(t->easy);
	c->slist_free_all(t->headers);
	t->easy = NULL;
	if (request->done)
		request->done(request);
}

/* Ends a request that libcurl could not make. */
static void end_without(struct transfer *t)
{
	t->request->err = error_new(ERROR_SYSTEM, "libcurl has no memory left");
	if (t->request->done)
		t->request->done(t->request);
}

static void end_finished(struct http_client *h, struct transfer *transfers, size_t count)
{
	CURLMsg *message;
	int left;

	while ((message = h->curl.multi_info_read(h->multi, &left))) {
		CURL *easy = message->easy_handle;
		CURLcode code = message->data.result;

		for (size_t i = 0; i < count; i++) {
			if (transfers[i].easy != easy)
				continue;
			end(&transfers[i], code);
			break;
		}
	}
}

void http_client_run(struct http_client *http, struct http_request *const *requests, size_t count)
{
	struct transfer *transfers = xcalloc(count, sizeof(*transfers));
	int running = 0;
	CURLMcode code;

	for (size_t i = 0; i < count; i++) {
		requests[i]->status = 0;
		requests[i]->err = NULL;
		begin(http, &transfers[i], requests[i]);
	}
	do {
		code = http->curl.multi_perform(http->multi, &running);
		end_finished(http, transfers, count);
		if (code == CURLM_OK && running)
			code = http->curl.multi_poll(http->multi, NULL, 0, WAIT_MS, NULL);
	} while (code == CURLM_OK && running);
	/* Requests that libcurl gave up or could not begin have no answer. */
	for (size_t i = 0; i < count; i++) {
		if (transfers[i].easy)
			end(&transfers[i], CURLE_FAILED_INIT);
		else if (requests[i]->status == 0 && requests[i]->err == NULL)
			end_without(&transfers[i]);
	}
	free(transfers);
}
