/*
 * HTTP with libmicrohttpd, in one thread: its epoll descriptor, the pipes of answers that are being
 * computed, and the sockets of the clients that wait for them are polled together.
 *
 * A request that needs an analysis is suspended, and resumed when a child process has its answer
 * (answering.h).  While it is suspended, the library does not look at its socket, so this does: a
 * client that goes away ends its child.
 *
 * Bounds: connections, requests that wait, sizes of URL and headers (the library's memory for a
 * connection), and time: a connection that has not sent a whole request for REQUEST_SECONDS is
 * closed, however slowly it goes on sending.  If there are many connections, those that have waited
 * longest without a request go first, so that idle ones cannot keep others out.
 */
#include "serve/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "http/connection.h"
#include "http/gate.h"
#include "http/strict.h"
#include "page/page.h"
#include "serve/answering.h"
#include "serve/http_check.h"
#include "serve/http_index.h"
#include "serve/http_listen.h"

#define CONNECTIONS_MAX 256u
/* From this many on, idle ones are closed. */
#define CONNECTIONS_MANY 128u
/* Bytes of URL and headers. */
#define CONNECTION_BYTES (32u << 10)
/* Seconds without progress, for a whole request, and for a whole exchange. */
#define IDLE_SECONDS	 20u
#define REQUEST_SECONDS	 10u
#define EXCHANGE_SECONDS 600u
/* Answers that are computed at a time, and requests that wait for that. */
#define ANSWERS_MAX 3u
/* Of these, answers that may wait for other servers: one is always left for the others. */
#define FETCHING_MAX (ANSWERS_MAX - 1)
#define WAITING_MAX  32u
/* Bytes of an answer. */
#define ANSWER_MAX ((size_t)256 << 20)
/* Options of a request. */
#define OPTIONS_MAX 64

#define POLICY_NOTHING                                                                             \
	"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
#define POLICY_INDEX                                                                               \
	"default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
#define TYPE_PAGE "text/html; charset=utf-8"
/* A flame graph has a script; the sandbox gives it an origin that can reach nothing. */
#define POLICY_SVG                                                                                 \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "              \
	"sandbox allow-scripts; frame-ancestors 'none'"

enum exchange_state { EXCHANGE_WAITS, EXCHANGE_RUNS, EXCHANGE_READY };

/* A request that takes time. */
struct exchange {
	struct http *http;
	struct MHD_Connection *connection;
	struct http_peer *peer;
	struct request request;
	const char *type;
	const char *policy;
	enum exchange_state state;
	enum answering_state outcome;
	struct answering answering;
};

struct http {
	struct served *served;
	const struct http_options *options;
	struct MHD_Daemon *daemon;
	struct http_gate *gate;
	char token[HTTP_TOKEN_SIZE + 1];
	struct http_peers peers;
	VEC(struct exchange *) pending; /* suspended, the oldest first */
};

static volatile sig_atomic_t is_stopped;

static void stop(int signal_number)
{
	(void)signal_number;
	is_stopped = 1;
}

/* ---- responses ---- */

static void add_headers(struct MHD_Response *response, const char *type, const char *policy)
{
	static const char *const headers[][2] = {
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cache-Control", "no-store"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Content-Security-Policy", policy);
}

/* Takes text, which is malloc'ed. */
static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status, const char *type,
	const char *policy, struct strbuf *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(text->size, text->data, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (response == NULL) {
		strbuf_deinit(text);
		return MHD_NO;
	}
	*text = (struct strbuf){0};
	add_headers(response, type, policy);
	if (status >= 400)
		MHD_add_response_header(response, "Connection", "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why)
{
	struct strbuf text = {0};

	strbuf_printf(&text, "%s\n", why);
	return respond(connection, status, "text/plain; charset=utf-8", POLICY_NOTHING, &text);
}

static enum MHD_Result refuse_error(struct MHD_Connection *connection, struct error *err)
{
	unsigned status =
		err->kind == ERROR_USAGE ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_UNPROCESSABLE_CONTENT;
	enum MHD_Result result = refuse(connection, status, err->message);

	error_destroy(err);
	return result;
}

/* ---- requests that take time ---- */

static void exchange_destroy(struct exchange *x)
{
	answering_deinit(&x->answering);
	request_deinit(&x->request);
	free(x);
}

static void remove_pending(struct http *http, struct exchange *x)
{
	for (size_t i = 0; i < http->pending.count; i++) {
		if (http->pending.data[i] != x)
			continue;
		http->pending.count--;
		memmove(&http->pending.data[i], &http->pending.data[i + 1],
			(http->pending.count - i) * sizeof(*http->pending.data));
		return;
	}
}

/* The answer is there, or why there is none. */
static void make_ready(struct exchange *x, enum answering_state outcome)
{
	x->state = EXCHANGE_READY;
	x->outcome = outcome;
	remove_pending(x->http, x);
	MHD_resume_connection(x->connection);
}

/* A page names its own policy, by the digests of its scripts; the caller frees this one. */
static char *policy_of_page(const struct strbuf *page)
{
	static const char before[] = "http-equiv=\"Content-Security-Policy\" content=\"";
	const char *at = page->data ? strstr(page->data, before) : NULL;
	const char *end = at ? strchr(at + sizeof(before) - 1, '"') : NULL;

	if (end == NULL)
		return xstrdup(POLICY_NOTHING);
	at += sizeof(before) - 1;
	return xasprintf("%.*s; frame-ancestors 'none'", (int)(end - at), at);
}

static enum MHD_Result respond_page(struct exchange *x)
{
	char *policy = policy_of_page(&x->answering.text);
	enum MHD_Result result =
		respond(x->connection, MHD_HTTP_OK, x->type, policy, &x->answering.text);

	free(policy);
	return result;
}

static enum MHD_Result respond_ready(struct exchange *x)
{
	struct strbuf *text = &x->answering.text;

	if (x->outcome == ANSWERING_DONE && x->request.kind == REQUEST_PAGE)
		return respond_page(x);
	if (x->outcome == ANSWERING_DONE)
		return respond(x->connection, MHD_HTTP_OK, x->type, x->policy, text);
	strbuf_add(text, STR(""));
	return refuse(x->connection,
		x->outcome == ANSWERING_REFUSED ? MHD_HTTP_UNPROCESSABLE_CONTENT
						: MHD_HTTP_INTERNAL_SERVER_ERROR,
		text->data);
}

static void start_waiting(struct http *http)
{
	size_t running = 0, fetching = 0;

	for (size_t i = 0; i < http->pending.count; i++) {
		const struct exchange *x = http->pending.data[i];

		running += x->state == EXCHANGE_RUNS;
		fetching += x->state == EXCHANGE_RUNS && request_fetches(&x->request);
	}
	for (size_t i = 0; i < http->pending.count && running < ANSWERS_MAX;) {
		struct exchange *x = http->pending.data[i];

		i++;
		bool fetches = request_fetches(&x->request);

		if (x->state != EXCHANGE_WAITS || (fetches && fetching >= FETCHING_MAX))
			continue;
		struct error *err = answering_start(&x->answering, &x->request, ANSWER_MAX);

		x->state = EXCHANGE_RUNS;
		running++;
		fetching += fetches;
		if (err) {
			strbuf_add(&x->answering.text, str_from(err->message));
			error_destroy(err);
			make_ready(x, ANSWERING_FAILED);
			i--;
		}
	}
}

/* ---- options of a request ---- */

struct options_reading {
	struct request *request;
	const char *format;
	int count;
	struct error *err;
};

static enum MHD_Result read_option(void *context, enum MHD_ValueKind kind, const char *key,
	size_t key_size, const char *value, size_t value_size)
{
	struct options_reading *o = context;
	bool is_flag = value == NULL || value_size == 0;

	(void)kind;
	if (++o->count > OPTIONS_MAX)
		o->err = error_new(ERROR_USAGE, "more than %d options", OPTIONS_MAX);
	else if (memchr(key, '\0', key_size) || (value && memchr(value, '\0', value_size)))
		o->err = error_new(ERROR_USAGE, "an option with a NUL character");
	else if (strcmp(key, "format") == 0 && !is_flag)
		o->format = value;
	if (o->err)
		return MHD_NO;
	/* A form sends its empty fields as well. */
	if (is_flag && (strcmp(key, "focus") == 0 || strcmp(key, "limit") == 0 ||
			       strcmp(key, "format") == 0))
		return MHD_YES;
	o->err = request_put(o->request, key, is_flag ? NULL : value);
	return o->err ? MHD_NO : MHD_YES;
}

static const char *type_of(const char *format)
{
	static const char *const types[][2] = {{"json", "application/json"},
		{"svg", "image/svg+xml"}, {"csv", "text/csv; charset=utf-8"}};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(types[i][0], format) == 0)
			return types[i][1];
	return "text/plain; charset=utf-8";
}

static struct error *read_options(struct exchange *x)
{
	struct options_reading o = {.request = &x->request};
	bool is_page = x->request.kind == REQUEST_PAGE;
	bool has_format = x->request.kind != REQUEST_RECORDING &&
			  x->request.kind != REQUEST_SOURCE && !is_page;

	MHD_get_connection_values_n(x->connection, MHD_GET_ARGUMENT_KIND, read_option, &o);
	if (o.err == NULL && has_format && o.format == NULL)
		o.err = request_put(&x->request, "format", "json");
	if (o.err)
		return o.err;
	x->policy = POLICY_NOTHING;
	x->type = is_page ? TYPE_PAGE : "text/plain; charset=utf-8";
	if (has_format)
		x->type = type_of(o.format ? o.format : "json");
	if (x->request.kind == REQUEST_RECORDING)
		x->type = "application/octet-stream";
	if (o.format && strcmp(o.format, "svg") == 0)
		x->policy = POLICY_SVG;
	return request_settle(&x->request);
}

/* Begins to answer; *context keeps the exchange until the request is completed. */
static enum MHD_Result begin(struct http *http, struct MHD_Connection *connection,
	struct http_peer *peer, enum request_kind kind, void **context)
{
	if (http->pending.count >= WAITING_MAX)
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests");
	struct exchange *x = xcalloc(1, sizeof(*x));

	*x = (struct exchange){.http = http, .connection = connection, .peer = peer};
	request_init(&x->request, kind, http->served, BRIEF_COMMANDS);
	struct error *err = read_options(x);

	if (err) {
		exchange_destroy(x);
		return refuse_error(connection, err);
	}
	*context = x;
	vec_push(&http->pending, x);
	MHD_suspend_connection(connection);
	start_waiting(http);
	return MHD_YES;
}

/* ---- requests ---- */

static const char *refusal_text(unsigned status)
{
	switch (status) {
	case MHD_HTTP_MISDIRECTED_REQUEST:
		return "this server is not called that";
	case MHD_HTTP_FORBIDDEN:
		return "requests of other sites are refused";
	case MHD_HTTP_METHOD_NOT_ALLOWED:
		return "only GET";
	case MHD_HTTP_NOT_FOUND:
		return "not found; the URL must be as sonde serve printed it";
	default:
		return "bad request";
	}
}

static enum MHD_Result respond_index(struct http *http, struct MHD_Connection *connection)
{
	struct strbuf text = {0};

	http_index_put(http->served, &text);
	return respond(connection, MHD_HTTP_OK, TYPE_PAGE, POLICY_INDEX, &text);
}

static enum MHD_Result route(struct http *http, struct MHD_Connection *connection,
	struct http_peer *peer, struct str path, void **context)
{
	static const struct {
		struct str path;
		enum request_kind kind;
	} routes[] = {{STR("ask"), REQUEST_REPORT}, {STR("annotate"), REQUEST_ANNOTATE},
		{STR("diff"), REQUEST_DIFF}, {STR("recording"), REQUEST_RECORDING},
		{STR("source"), REQUEST_SOURCE}, {STR("page"), REQUEST_PAGE}};

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
		if (str_equal(path, routes[i].path))
			return begin(http, connection, peer, routes[i].kind, context);
	if (path.size == 0 && http->served->count == 1 && page_is_built())
		return begin(http, connection, peer, REQUEST_PAGE, context);
	if (path.size == 0 || str_equal(path, STR("index")))
		return respond_index(http, connection);
	if (str_equal(path, STR("files"))) {
		struct strbuf text = {0};

		served_put_json(http->served, &text);
		return respond(connection, MHD_HTTP_OK, "application/json", POLICY_NOTHING, &text);
	}
	return refuse(connection, MHD_HTTP_NOT_FOUND, refusal_text(MHD_HTTP_NOT_FOUND));
}

/* In place of an exchange: the head of the request is good; its path has escapes. */
static char is_checked, is_escaped;

/*
 * No path that is served has escapes.  The library has decoded them when handle() sees the path,
 * and "%00" has ended it.
 */
static void *look_at_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
	size_t size = strcspn(uri, "?");

	(void)cls;
	(void)connection;
	return memchr(uri, '%', size) ? &is_escaped : NULL;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *upload, size_t *upload_size,
	void **context)
{
	struct http *http = cls;
	struct http_peer *peer = http_peer_of(connection);

	(void)version;
	(void)upload;
	*upload_size = 0;
	bool has_escapes = *context == &is_escaped;

	if (*context && *context != &is_checked && !has_escapes)
		return respond_ready(*context);
	http_peer_set_busy(peer, true);
	struct http_head head = http_head_of(connection, method, path);
	struct str rest;
	const char *why;
	unsigned status = http_strict_refusal(head.method, head.path, &why);

	if (status)
		return refuse(connection, status, why);
	status = http_check(&head, http->token, &rest);
	if (status == 0 && has_escapes)
		status = MHD_HTTP_NOT_FOUND;
	if (status)
		return refuse(connection, status, refusal_text(status));
	/* The first call is for refusals: an answer to it would end the connection. */
	if (*context == NULL) {
		*context = &is_checked;
		return MHD_YES;
	}
	*context = NULL;
	return route(http, connection, peer, rest, context);
}

static void completed(void *cls, struct MHD_Connection *connection, void **context,
	enum MHD_RequestTerminationCode code)
{
	struct http *http = cls;

	(void)code;
	http_peer_set_busy(http_peer_of(connection), false);
	if (*context && *context != &is_checked && *context != &is_escaped) {
		remove_pending(http, *context);
		exchange_destroy(*context);
	}
	*context = NULL;
}

/* ---- the loop ---- */

/* What is polled: the daemon, the gate, and for each pending exchange its child and its client. */
static size_t fill_fds(struct http *http, struct pollfd *fds)
{
	size_t count = 2;

	fds[0] = (struct pollfd){
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, POLLIN, 0};
	fds[1] = (struct pollfd){http_gate_fd(http->gate), POLLIN, 0};
	for (size_t i = 0; i < http->pending.count; i++) {
		const struct exchange *x = http->pending.data[i];

		fds[count++] = (struct pollfd){
			x->state == EXCHANGE_RUNS ? x->answering.child.fd : -1, POLLIN, 0};
		fds[count++] = (struct pollfd){x->peer ? x->peer->fd : -1, POLLRDHUP, 0};
	}
	return count;
}

/* Looks at a pending exchange after its descriptors were polled. */
static void look_at(struct exchange *x, const struct pollfd *fds)
{
	if (fds[1].revents) {
		/* The client went away: nobody waits for the answer. */
		answering_deinit(&x->answering);
		x->answering = (struct answering){0};
		make_ready(x, ANSWERING_FAILED);
	} else if (fds[0].revents) {
		enum answering_state state = answering_read(&x->answering);

		if (state != ANSWERING_RUNS)
			make_ready(x, state);
	}
}

static int timeout_ms(struct http *http)
{
	const MHD_UNSIGNED_LONG_LONG most = 1000; /* for http_peers_close_slow */
	MHD_UNSIGNED_LONG_LONG wanted;

	if (MHD_get_timeout(http->daemon, &wanted) == MHD_YES && wanted < most)
		return (int)wanted;
	return (int)most;
}

static void serve(struct http *http, const sigset_t *waiting)
{
	struct pollfd fds[2 + 2 * WAITING_MAX];
	struct exchange *polled[WAITING_MAX];

	while (!is_stopped) {
		size_t count = fill_fds(http, fds), pending = http->pending.count;
		int wait = timeout_ms(http);
		const struct timespec timeout = {wait / 1000, wait % 1000 * 1000000L};

		for (size_t i = 0; i < pending; i++)
			polled[i] = http->pending.data[i];
		if (ppoll(fds, count, &timeout, waiting) > 0)
			for (size_t i = 0; i < pending; i++)
				look_at(polled[i], &fds[2 + 2 * i]);
		start_waiting(http);
		http_gate_run(http->gate, http->daemon);
		MHD_run(http->daemon);
		http_peers_close_slow(&http->peers, REQUEST_SECONDS, EXCHANGE_SECONDS);
	}
}

static void say_nothing(void *cls, const char *format, va_list args)
{
	(void)cls;
	(void)format;
	(void)args;
}

static struct MHD_Daemon *start_daemon(struct http *http)
{
	return MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET |
					MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG,
		0, NULL, NULL, handle, http, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
		MHD_OPTION_NOTIFY_CONNECTION, http_peers_notify, &http->peers,
		MHD_OPTION_URI_LOG_CALLBACK, look_at_uri, NULL, MHD_OPTION_NOTIFY_COMPLETED,
		completed, http, MHD_OPTION_END);
}

/* Stops on signals, which arrive only while the loop waits. */
static void catch_signals(sigset_t *waiting)
{
	const struct sigaction action = {.sa_handler = stop};
	sigset_t blocked;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, waiting);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void finish(struct http *http)
{
	while (http->pending.count)
		make_ready(http->pending.data[0], ANSWERING_FAILED);
	MHD_run(http->daemon);
	MHD_stop_daemon(http->daemon);
	http_gate_run(http->gate, NULL);
	vec_deinit(&http->pending);
}

struct error *http_serve(struct served *served, const struct http_options *options)
{
	struct http http = {.served = served, .options = options, .peers.many = CONNECTIONS_MANY};
	struct http_listen listen;
	sigset_t waiting;
	struct error *err = http_listen_init(&listen, options);

	if (err == NULL && !http_token_make(http.token))
		err = error_new(ERROR_UNSUPPORTED, "the kernel has no random numbers yet");
	if (err == NULL) {
		catch_signals(&waiting);
		http.gate =
			http_gate_create(listen.socket.fd, CONNECTION_BYTES / 2, CONNECTIONS_MAX);
		listen.socket.fd = -1; /* the gate closes it */
		if (http.gate == NULL)
			err = error_system(errno, "cannot wait for connections");
	}
	if (err == NULL) {
		http.daemon = start_daemon(&http);
		if (http.daemon == NULL)
			err = error_new(ERROR_UNSUPPORTED, "libmicrohttpd does not start");
	}
	if (err == NULL) {
		http_listen_announce(&listen, options, http.token);
		serve(&http, &waiting);
		finish(&http);
	}
	http_gate_destroy(http.gate);
	http_listen_deinit(&listen);
	return err;
}
