/*
 * libcurl's multi interface behind one call.  libcurl depends on a TLS library and much else, and
 * loading it would cost every command some 20 ms, so it is loaded only when a server is needed.  A
 * static program has it linked in.
 *
 * A server that computes for minutes is as silent as one that is gone.  So a silent server is asked
 * for a page that it always has, over another connection (a probe), and the request goes on as long
 * as probes are answered.  TCP's keepalive notices a connection that the other side no longer has.
 * ClickHouse could send headers with its progress instead, but then a statement that fails has
 * status 200, and before 22.5 only its text shows the failure.
 */
#include "store/http_client.h"

#include <curl/curl.h>
#include <stdio.h>
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

enum { WAIT_MS = 1000, WAIT_PROBE_MS = 50, CONNECTIONS_MAX = 64, READ_BYTES = 256 << 10 };
/* A probe begins after a third of silence_ns, and may take the rest. */
#define PROBE_PART 3
/*
 * Idle time and interval of TCP's keepalive, as parts of silence_ns.  Linux sends nine packets
 * before it gives up: of a minute, that is 15 s, then nine times 5 s.
 */
enum { KEEPALIVE_IDLE_PART = 4, KEEPALIVE_INTERVAL_PART = 12 };

/* The functions of libcurl that are used, by their names. */
struct curl_calls {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *easy_init;
	/* Not __typeof__: the headers define these as macros too. */
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
	pid_t pid; /* of the process whose connections these are */
	CURLM *multi;
	CURLM *probes; /* separate, as requests may use all connections of `multi` */
};

/* One request under way. */
struct transfer {
	struct http_client *http;
	struct http_request *request;
	CURL *easy;
	struct curl_slist *headers;
	bool is_too_long;
	curl_off_t moved;  /* bytes of both bodies so far */
	uint64_t heard_ns; /* when bytes last moved, or a probe was answered; 0: not begun */
	CURL *probe;	   /* NULL: none is under way */
	char problem[CURL_ERROR_SIZE];
	char probe_problem[CURL_ERROR_SIZE];
};

/* ---- the library ---- */

/* A function's name and its place in curl_calls.  A static program also has its address. */
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
 * Where distributions keep the certificates of trusted authorities: Debian, Fedora, openSUSE,
 * Alpine, RHEL, in the order of Go's crypto/x509.  NULL: none of them is here.
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

/* The shared library knows where they are. */
static const char *system_ca_file(void)
{
	return NULL;
}

#endif

static bool make_multis(struct http_client *h)
{
	CURLM *multi = h->curl.multi_init(), *probes = multi ? h->curl.multi_init() : NULL;

	if (probes == NULL) {
		if (multi)
			h->curl.multi_cleanup(multi);
		return false;
	}
	h->curl.multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)CONNECTIONS_MAX);
	h->multi = multi;
	h->probes = probes;
	h->pid = getpid();
	return true;
}

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
	if (!make_multis(h)) {
		free(h);
		return error_new(ERROR_SYSTEM, LIBRARY " cannot begin");
	}
	*http = h;
	return NULL;
}

void http_client_destroy(struct http_client *http)
{
	if (http == NULL)
		return;
	http->curl.multi_cleanup(http->probes);
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

static int on_progress(void *context, curl_off_t to_receive, curl_off_t received,
	curl_off_t to_send, curl_off_t sent)
{
	struct transfer *t = context;

	(void)to_receive;
	(void)to_send;
	if (t->heard_ns == 0 || received + sent != t->moved) {
		t->moved = received + sent;
		t->heard_ns = clock_monotonic_ns();
	}
	return 0;
}

/* A handle with the options that requests and probes share. */
static CURL *make_easy(const struct http_client *h, const char *url, char *problem)
{
	const struct curl_calls *c = &h->curl;
	CURL *easy = c->easy_init();
	long silence_s = (long)((h->options.silence_ns + SECOND_NS - 1) / SECOND_NS);
	long idle_s = silence_s / KEEPALIVE_IDLE_PART, each_s = silence_s / KEEPALIVE_INTERVAL_PART;

	c->easy_setopt(easy, CURLOPT_URL, url);
#if LIBCURL_VERSION_NUM >= 0x075500
	c->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	c->easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	c->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	c->easy_setopt(easy, CURLOPT_ERRORBUFFER, problem);
	c->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(h->options.connect_ns / MS_NS));
	c->easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	c->easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, idle_s > 0 ? idle_s : 1);
	c->easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, each_s > 0 ? each_s : 1);
	if (h->options.ca_file)
		c->easy_setopt(easy, CURLOPT_CAINFO, h->options.ca_file);
	return easy;
}

static void begin(struct http_client *h, struct transfer *t, struct http_request *request)
{
	const struct curl_calls *c = &h->curl;
	uint64_t silence_s = (h->options.silence_ns + SECOND_NS - 1) / SECOND_NS;

	*t = (struct transfer){.http = h, .request = request};
	t->easy = make_easy(h, request->url, t->problem);
	if (request->alive_url) {
		c->easy_setopt(t->easy, CURLOPT_NOPROGRESS, 0L);
		c->easy_setopt(t->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
		c->easy_setopt(t->easy, CURLOPT_XFERINFODATA, t);
	} else {
		c->easy_setopt(t->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
		c->easy_setopt(t->easy, CURLOPT_LOW_SPEED_TIME, (long)silence_s);
	}
	c->easy_setopt(t->easy, CURLOPT_BUFFERSIZE, (long)READ_BYTES);
	c->easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_answer);
	c->easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
	if (request->body.data) {
		c->easy_setopt(t->easy, CURLOPT_POST, 1L);
		c->easy_setopt(t->easy, CURLOPT_POSTFIELDS, request->body.data);
		c->easy_setopt(
			t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size);
		/* Neither wait for "100 Continue" nor claim that the body is a form. */
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

static void end_probe(struct transfer *t)
{
	if (t->probe == NULL)
		return;
	t->http->curl.multi_remove_handle(t->http->probes, t->probe);
	t->http->curl.easy_cleanup(t->probe);
	t->probe = NULL;
}

/* Whether it fails again as long as nobody changes a setting or a certificate. */
static bool is_hopeless(CURLcode code)
{
	static const CURLcode hopeless[] = {CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT,
		CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION,
		CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR};

	for (size_t i = 0; i < ARRAY_SIZE(hopeless); i++)
		if (code == hopeless[i])
			return true;
	return false;
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
	request->is_hopeless = is_hopeless(code);
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
	end_probe(t);
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

/* ---- silence ---- */

static size_t ignore_answer(char *data, size_t size, size_t count, void *context)
{
	(void)data;
	(void)context;
	return size * count;
}

static void begin_probe(struct http_client *h, struct transfer *t)
{
	const struct curl_calls *c = &h->curl;
	uint64_t rest_ns = h->options.silence_ns - h->options.silence_ns / PROBE_PART;

	t->probe_problem[0] = '\0';
	t->probe = make_easy(h, t->request->alive_url, t->probe_problem);
	c->easy_setopt(t->probe, CURLOPT_TIMEOUT_MS, (long)(rest_ns / MS_NS));
	c->easy_setopt(t->probe, CURLOPT_WRITEFUNCTION, ignore_answer);
	c->multi_add_handle(h->probes, t->probe);
}

/* Any answer will do.  Without one, the server is gone, and the request fails. */
static void take_probe(struct transfer *t, CURLcode code)
{
	const struct curl_calls *c = &t->http->curl;
	uint64_t now_ns = clock_monotonic_ns();

	if (code == CURLE_OK) {
		t->heard_ns = now_ns;
		end_probe(t);
		return;
	}
	snprintf(t->problem, sizeof(t->problem), "no answer for %llu s, and none to %s: %.100s",
		(unsigned long long)((now_ns - t->heard_ns + SECOND_NS - 1) / SECOND_NS),
		t->request->alive_url,
		t->probe_problem[0] ? t->probe_problem : c->easy_strerror(code));
	end(t, CURLE_OPERATION_TIMEDOUT);
}

/* Begins the probes that are due and takes answers.  Returns how many probes are under way. */
static int probe_silent(struct http_client *h, struct transfer *transfers, size_t count)
{
	uint64_t now_ns = clock_monotonic_ns();
	CURLMsg *message;
	int running = 0, left;

	for (size_t i = 0; i < count; i++) {
		struct transfer *t = &transfers[i];

		if (t->easy && t->request->alive_url && t->heard_ns && t->probe == NULL &&
			now_ns - t->heard_ns >= h->options.silence_ns / PROBE_PART)
			begin_probe(h, t);
	}
	h->curl.multi_perform(h->probes, &running);
	while ((message = h->curl.multi_info_read(h->probes, &left))) {
		CURL *probe = message->easy_handle;
		CURLcode code = message->data.result;

		for (size_t i = 0; i < count; i++) {
			if (transfers[i].probe != probe)
				continue;
			take_probe(&transfers[i], code);
			break;
		}
	}
	return running;
}

/* Short enough that no probe is late. */
static int wait_ms(const struct http_client *h)
{
	uint64_t part_ms = h->options.silence_ns / MS_NS / PROBE_PART / 2 + 1;

	return part_ms < WAIT_MS ? (int)part_ms : WAIT_MS;
}

void http_client_run(struct http_client *http, struct http_request *const *requests, size_t count)
{
	struct transfer *transfers = xcalloc(count, sizeof(*transfers));
	int running = 0, probes;
	CURLMcode code;

	/*
	 * Connections stay with the process that made them.  They are not closed here either: that
	 * would end their TLS sessions.
	 */
	if (http->pid != getpid() && !make_multis(http)) {
		for (size_t i = 0; i < count; i++) {
			transfers[i].request = requests[i];
			requests[i]->status = 0;
			end_without(&transfers[i]);
		}
		free(transfers);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		requests[i]->status = 0;
		requests[i]->err = NULL;
		begin(http, &transfers[i], requests[i]);
	}
	do {
		code = http->curl.multi_perform(http->multi, &running);
		end_finished(http, transfers, count);
		probes = probe_silent(http, transfers, count);
		if (code == CURLM_OK && running)
			code = http->curl.multi_poll(
				http->multi, NULL, 0, probes ? WAIT_PROBE_MS : wait_ms(http), NULL);
	} while (code == CURLM_OK && running);
	/* Requests that libcurl gave up, or could not begin, have no answer yet. */
	for (size_t i = 0; i < count; i++) {
		if (transfers[i].easy)
			end(&transfers[i], CURLE_FAILED_INIT);
		else if (requests[i]->status == 0 && requests[i]->err == NULL)
			end_without(&transfers[i]);
	}
	free(transfers);
}
