/*
 * The server, with libmicrohttpd, in two threads.
 *
 * One talks to clients.  It polls the library's epoll descriptor and an eventfd, never blocks, and
 * makes all calls to the library.  It suspends a request whose body has arrived, and puts it into a
 * queue for the other thread.  That one has one body after the other read, at a low priority (nice
 * 10), and puts the request into a queue for the first.  So metrics are answered while a large
 * profile is being read.
 *
 * A body is read in a child process (base/limited_child.h), which passes the profiles to `keep` and
 * writes the answer into a pipe.
 *
 * What is limited: what reading a body may take; connections; the bytes of one body, and of all
 * bodies in memory; the size of URL and headers (the library's memory for a connection); and time,
 * since a request must have arrived within REQUEST_SECONDS, however slowly a client goes on
 * sending.
 */
#include "intake/intake.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limited_child.h"
#include "base/limited_child.h"
#include "base/secret.h"
#include "http/connection.h"
#include "http/gate.h"
#include "http/socket.h"
#include "http/strict.h"
#include "intake/check.h"
#include "intake/counts.h"

/* What OTLP's specification recommends. */
#define BODY_BYTES ((size_t)64 << 20)
/* All bodies together: this many times the largest one. */
#define BODIES		2u
#define CONNECTIONS_MAX 256u
/* From this many on, idle ones are closed. */
#define CONNECTIONS_MANY 192u
/* Bytes of URL and headers, and of what is read at a time. */
#define CONNECTION_BYTES (64u << 10)
/* Seconds without progress, for a whole request, and for a whole exchange. */
#define IDLE_SECONDS	 60u
#define REQUEST_SECONDS	 60u
#define EXCHANGE_SECONDS 600u
#define TOKEN_MIN	 16
#define WORKER_NICE	 10
/* What reading a body may take: seconds of CPU time, and bytes of memory besides the body. */
#define READING_SECONDS 10u
#define READING_BYTES	((uint64_t)256 << 20)
/* When the intake stops, what has arrived is read for so long; then clients must send it again. */
#define STOPPING_NS (SECOND_NS / 2)

/* A request, from its head until it is answered. */
struct exchange {
	struct intake *intake;
	struct MHD_Connection *connection;
	struct exchange *next; /* in a queue */
	struct intake_message message;
	struct strbuf body;
	size_t counted; /* bytes of the body that are in intake->body_bytes */
	bool is_refused, is_taken;
	struct intake_answer answer;
};

struct queue {
	struct exchange *first, *last;
	size_t count;
};

struct intake {
	struct intake_options options;
	struct http_socket socket;
	struct intake_door door;
	char *token; /* NULL: none */
	struct MHD_Daemon *daemon;
	struct http_gate *gate;
	struct http_peers peers;
	struct intake_counts counts;
	size_t body_bytes; /* of all exchanges */
	int event;	   /* wakes the thread that talks to clients */
	pthread_t talker, worker;
	/* Used by both threads, which must hold the lock. */
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct queue waiting, taken;
	struct limited_child reading; /* a body */
	bool is_stopping;
	bool is_out_of_time; /* nothing more is read */
};

/* ---- queues ---- */

static void queue_put(struct queue *q, struct exchange *x)
{
	x->next = NULL;
	if (q->last)
		q->last->next = x;
	else
		q->first = x;
	q->last = x;
	q->count++;
}

static struct exchange *queue_take(struct queue *q)
{
	struct exchange *x = q->first;

	if (x == NULL)
		return NULL;
	q->first = x->next;
	if (q->first == NULL)
		q->last = NULL;
	q->count--;
	return x;
}

static void wake(struct intake *intake)
{
	const uint64_t one = 1;
	ssize_t size = write(intake->event, &one, sizeof(one));

	/* It fails only if the thread is awake already. */
	(void)size;
}

/* ---- the thread that reads bodies ---- */

/* In the child: reads a body, and writes the answer and its text. */
static int read_body(void *context, int fd)
{
	struct exchange *x = context;

	intake_take(&x->intake->options, &x->message, &x->answer);
	struct error *err = file_write_all(fd, &x->answer, sizeof(x->answer), "the answer");

	if (err == NULL)
		err = file_write_all(fd, x->answer.text.data, x->answer.text.size, "the answer");
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Starts the child, unless the intake has no more time. */
static struct error *start_reading(struct exchange *x)
{
	struct intake *intake = x->intake;
	const struct limited_work work = {.cpu_seconds = intake->options.reading_seconds,
		.memory_bytes = intake->options.reading_bytes,
		.kept_fd = -1,
		.run = read_body,
		.context = x};
	struct error *err;

	pthread_mutex_lock(&intake->lock);
	err = intake->is_out_of_time ? error_new(ERROR_SYSTEM, "the server is stopping")
				     : limited_child_start(&intake->reading, &work);
	pthread_mutex_unlock(&intake->lock);
	return err;
}

/* The child is the same program, so that its pointers to literals are valid here. */
static bool take_answer(struct exchange *x, struct str bytes)
{
	if (bytes.size < sizeof(x->answer))
		return false;
	memcpy(&x->answer, bytes.data, sizeof(x->answer));
	x->answer.text = (struct strbuf){0};
	strbuf_add(&x->answer.text,
		(struct str){bytes.data + sizeof(x->answer), bytes.size - sizeof(x->answer)});
	return true;
}

static void refuse_unread(struct exchange *x, enum limited_end end, bool is_stopping)
{
	const struct intake_options *o = &x->intake->options;
	char why[128];

	if (is_stopping) {
		intake_refuse(&x->message, &x->answer, MHD_HTTP_SERVICE_UNAVAILABLE, REASON_BUSY,
			"the server is stopping");
		return;
	}
	if (end == LIMITED_FAILED) {
		intake_refuse(&x->message, &x->answer, MHD_HTTP_INTERNAL_SERVER_ERROR,
			REASON_FAILED, "reading the request failed; this is an error in sonde");
		return;
	}
	if (end == LIMITED_BY_TIME)
		snprintf(why, sizeof(why),
			"reading the request takes more than %u s of CPU time; send less at a time",
			o->reading_seconds);
	else
		snprintf(why, sizeof(why),
			"reading the request takes more than %llu MiB of memory; send less at a "
			"time",
			(unsigned long long)(o->reading_bytes >> 20));
	intake_refuse(&x->message, &x->answer, MHD_HTTP_CONTENT_TOO_LARGE, REASON_LIMIT, why);
}

static void take_body(struct exchange *x)
{
	struct intake *intake = x->intake;
	struct strbuf bytes = {0};

	x->message.body = strbuf_str(&x->body);
	struct error *err = start_reading(x);

	if (err) {
		intake_refuse(&x->message, &x->answer, MHD_HTTP_SERVICE_UNAVAILABLE, REASON_BUSY,
			err->message);
		error_destroy(err);
		return;
	}
	limited_child_read(&intake->reading, &bytes);
	pthread_mutex_lock(&intake->lock);
	enum limited_end end = limited_child_end(&intake->reading);
	bool is_out_of_time = intake->is_out_of_time;
	pthread_mutex_unlock(&intake->lock);
	if (end == LIMITED_DONE && !take_answer(x, strbuf_str(&bytes)))
		end = LIMITED_FAILED;
	if (end != LIMITED_DONE)
		refuse_unread(x, end, is_out_of_time);
	strbuf_deinit(&bytes);
}

static void *work(void *context)
{
	struct intake *intake = context;

	/* On Linux, this concerns the calling thread alone, and the children that it starts. */
	(void)setpriority(PRIO_PROCESS, 0, WORKER_NICE);
	pthread_mutex_lock(&intake->lock);
	while (true) {
		struct exchange *x = queue_take(&intake->waiting);

		if (x == NULL && intake->is_stopping)
			break;
		if (x == NULL) {
			pthread_cond_wait(&intake->work, &intake->lock);
			continue;
		}
		pthread_mutex_unlock(&intake->lock);
		take_body(x);
		pthread_mutex_lock(&intake->lock);
		queue_put(&intake->taken, x);
		wake(intake);
	}
	pthread_mutex_unlock(&intake->lock);
	return NULL;
}

/* ---- answers ---- */

static void add_headers(struct MHD_Response *response, const struct intake_answer *answer,
	enum intake_path path, bool is_closed)
{
	char seconds[16];

	if (answer->type)
		MHD_add_response_header(response, "Content-Type", answer->type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	if (is_closed)
		MHD_add_response_header(response, "Connection", "close");
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", path < INTAKE_METRICS ? "POST" : "GET");
	if (answer->status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
	if (answer->status == MHD_HTTP_UNSUPPORTED_MEDIA_TYPE)
		MHD_add_response_header(response, "Accept-Encoding", "gzip, zstd");
	if (answer->retry_seconds) {
		snprintf(seconds, sizeof(seconds), "%u", answer->retry_seconds);
		MHD_add_response_header(response, "Retry-After", seconds);
	}
}

/* Sends the answer and counts it.  is_closed: then closes, as the client may still be sending. */
static enum MHD_Result respond(struct exchange *x, bool is_closed)
{
	struct intake_answer *answer = &x->answer;
	struct MHD_Response *response;
	enum MHD_Result result;

	intake_counts_add(&x->intake->counts, x->message.path, x->body.size, answer);
	strbuf_add(&answer->text, STR(""));
	response = MHD_create_response_from_buffer(
		answer->text.size, answer->text.data, MHD_RESPMEM_MUST_FREE);
	if (response == NULL)
		return MHD_NO;
	answer->text = (struct strbuf){0};
	add_headers(response, answer, x->message.path, is_closed);
	result = MHD_queue_response(x->connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result respond_metrics(struct exchange *x)
{
	struct intake *intake = x->intake;
	struct strbuf *out = &x->answer.text;

	x->answer.status = MHD_HTTP_OK;
	x->answer.type = "text/plain; version=0.0.4; charset=utf-8";
	intake_counts_put(&intake->counts, out);
	intake_gauge_put(out, "sonde_intake_connections", "Connections now.", intake->peers.count);
	intake_gauge_put(out, "sonde_intake_body_bytes", "Bytes of bodies in memory now.",
		intake->body_bytes);
	pthread_mutex_lock(&intake->lock);
	size_t waiting = intake->waiting.count;
	pthread_mutex_unlock(&intake->lock);
	intake_gauge_put(out, "sonde_intake_waiting", "Requests that wait to be read.", waiting);
	if (intake->options.metrics)
		intake->options.metrics(intake->options.context, out);
	return respond(x, false);
}

static enum MHD_Result respond_healthy(struct exchange *x)
{
	x->answer.status = MHD_HTTP_OK;
	x->answer.type = "text/plain; charset=utf-8";
	strbuf_add(&x->answer.text, STR("ok\n"));
	return respond(x, false);
}

/* ---- requests ---- */

/* Stands in for an exchange that does not exist yet, of a request whose path has escapes. */
static char is_escaped;

/*
 * No served path has escapes.  When handle() sees a path, the library has decoded it already, and
 * "%00" has cut it off.
 */
static void *look_at_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
	size_t size = strcspn(uri, "?");

	(void)cls;
	(void)connection;
	return memchr(uri, '%', size) ? &is_escaped : NULL;
}

static const char *argument(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

/* The body's size as stated, in bytes; 0: not stated; UINT64_MAX: not a number. */
static uint64_t stated_size(struct MHD_Connection *connection)
{
	struct str text = http_header(connection, "Content-Length");
	uint64_t size = 0;

	for (size_t i = 0; i < text.size; i++) {
		if (!char_is_digit(text.data[i]) || size > UINT64_MAX / 10 - 1)
			return UINT64_MAX;
		size = size * 10 + (uint64_t)(text.data[i] - '0');
	}
	return size;
}

static struct exchange *exchange_create(
	struct intake *intake, struct MHD_Connection *connection, enum intake_path path)
{
	struct exchange *x = xcalloc(1, sizeof(*x));

	*x = (struct exchange){.intake = intake,
		.connection = connection,
		.message = {.path = path,
			.type = http_header(connection, "Content-Type"),
			.encoding = http_header(connection, "Content-Encoding"),
			.ingest = {.name = argument(connection, "name"),
				.format = argument(connection, "format"),
				.from = argument(connection, "from"),
				.until = argument(connection, "until"),
				.sample_rate = argument(connection, "sampleRate"),
				.units = argument(connection, "units")}}};
	return x;
}

static void exchange_destroy(struct exchange *x)
{
	x->intake->body_bytes -= x->counted;
	strbuf_deinit(&x->body);
	strbuf_deinit(&x->answer.text);
	free(x);
}

static void refuse(struct exchange *x, unsigned status, enum intake_reason reason, const char *why)
{
	x->is_refused = true;
	intake_refuse(&x->message, &x->answer, status, reason, why);
	x->intake->body_bytes -= x->counted;
	x->counted = 0;
	strbuf_deinit(&x->body);
}

/* Refuses a request by its head, or goes on to its body. */
static enum MHD_Result begin(struct exchange *x, const char *path, const char *method)
{
	struct intake *intake = x->intake;
	const struct intake_head head = {.http = http_head_of(x->connection, method, path),
		.authorization = http_header(x->connection, "Authorization"),
		.transfer_encoding = http_header(x->connection, "Transfer-Encoding"),
		.body_size = stated_size(x->connection)};
	enum intake_reason reason;
	const char *why;
	unsigned status = http_strict_refusal(head.http.method, head.http.path, &why);

	reason = REASON_HEAD;
	if (status == 0)
		status = intake_check(&intake->door, &head, x->message.path, &reason, &why);
	if (status == 0 && !intake_is_type_taken(&x->message)) {
		status = MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
		reason = REASON_TYPE;
		why = x->message.path == INTAKE_OTLP
			      ? "expected Content-Type application/x-protobuf or application/json, "
				"and gzip, zstd or no Content-Encoding"
		      : x->message.path == INTAKE_PUSH
			      ? "expected Content-Type application/proto or application/json, and "
				"gzip, zstd or no Content-Encoding"
			      : "expected gzip, zstd or no Content-Encoding";
	}
	if (status == 0 && head.body_size + intake->body_bytes > BODIES * intake->door.body_max) {
		status = MHD_HTTP_SERVICE_UNAVAILABLE;
		reason = REASON_BUSY;
		why = "too many bytes are being sent at once; try again later";
	}
	if (status == 0)
		return MHD_YES;
	refuse(x, status, reason, why);
	/*
	 * A client that is still sending when its connection closes sees no answer.  So wait for
	 * the body, without keeping it, unless it is long or its end is uncertain.
	 */
	bool is_awaited = status != MHD_HTTP_BAD_REQUEST &&
			  head.body_size <= BODIES * intake->door.body_max &&
			  http_header(x->connection, "Expect").size == 0;

	return is_awaited ? MHD_YES : respond(x, true);
}

/* Takes a part of a body.  A refusal waits for the rest: the library sends no answer before. */
static enum MHD_Result take_part(struct exchange *x, struct str part)
{
	struct intake *intake = x->intake;

	if (x->is_refused)
		return MHD_YES;
	if (x->body.size + part.size > intake->door.body_max) {
		refuse(x, MHD_HTTP_CONTENT_TOO_LARGE, REASON_SIZE,
			"the body is too large; send fewer profiles at a time");
	} else if (intake->body_bytes + part.size > BODIES * intake->door.body_max) {
		refuse(x, MHD_HTTP_SERVICE_UNAVAILABLE, REASON_BUSY,
			"too many bytes are being sent at once; try again later");
	} else {
		strbuf_add(&x->body, part);
		x->counted += part.size;
		intake->body_bytes += part.size;
	}
	return MHD_YES;
}

/* Suspends a complete request until the worker has read it; false: the worker is stopping. */
static bool put_in_queue(struct exchange *x)
{
	struct intake *intake = x->intake;

	pthread_mutex_lock(&intake->lock);
	bool is_taken = !intake->is_stopping;
	if (is_taken) {
		MHD_suspend_connection(x->connection);
		queue_put(&intake->waiting, x);
		pthread_cond_signal(&intake->work);
	}
	pthread_mutex_unlock(&intake->lock);
	return is_taken;
}

/* The request is complete. */
static enum MHD_Result finish(struct exchange *x)
{
	if (x->is_refused || x->is_taken)
		return respond(x, x->is_refused);
	if (x->message.path == INTAKE_METRICS)
		return respond_metrics(x);
	if (x->message.path == INTAKE_HEALTHY)
		return respond_healthy(x);
	http_peer_set_busy(http_peer_of(x->connection), true);
	if (put_in_queue(x))
		return MHD_YES;
	refuse(x, MHD_HTTP_SERVICE_UNAVAILABLE, REASON_BUSY, "the server is stopping");
	return respond(x, true);
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *upload, size_t *upload_size,
	void **context)
{
	struct intake *intake = cls;
	struct exchange *x = *context;

	(void)version;
	if (x == NULL || *context == &is_escaped) {
		/* A request's time begins with its head. */
		http_peer_set_busy(http_peer_of(connection), false);
		x = exchange_create(
			intake, connection, x ? INTAKE_OTHER : intake_path_of(str_from(path)));
		*context = x;
		return begin(x, path, method);
	}
	if (*upload_size) {
		struct str part = {upload, *upload_size};

		*upload_size = 0;
		return take_part(x, part);
	}
	return finish(x);
}

static void completed(void *cls, struct MHD_Connection *connection, void **context,
	enum MHD_RequestTerminationCode code)
{
	(void)cls;
	(void)code;
	http_peer_set_busy(http_peer_of(connection), false);
	if (*context && *context != &is_escaped)
		exchange_destroy(*context);
	*context = NULL;
}

/* ---- the thread that talks to clients ---- */

static void resume_taken(struct intake *intake)
{
	uint64_t count;
	ssize_t size = read(intake->event, &count, sizeof(count));
	struct exchange *x;

	(void)size;
	do {
		pthread_mutex_lock(&intake->lock);
		x = queue_take(&intake->taken);
		pthread_mutex_unlock(&intake->lock);
		if (x) {
			x->is_taken = true;
			MHD_resume_connection(x->connection);
		}
	} while (x);
}

static int timeout_ms(struct intake *intake)
{
	const MHD_UNSIGNED_LONG_LONG most = 1000; /* for http_peers_close_slow */
	MHD_UNSIGNED_LONG_LONG wanted;

	if (MHD_get_timeout(intake->daemon, &wanted) == MHD_YES && wanted < most)
		return (int)wanted;
	return (int)most;
}

static bool is_stopping(struct intake *intake)
{
	pthread_mutex_lock(&intake->lock);
	bool stopping = intake->is_stopping;
	pthread_mutex_unlock(&intake->lock);
	return stopping;
}

static void *talk(void *context)
{
	struct intake *intake = context;

	while (!is_stopping(intake)) {
		struct pollfd fds[] = {
			{MHD_get_daemon_info(intake->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
				POLLIN, 0},
			{intake->event, POLLIN, 0}, {http_gate_fd(intake->gate), POLLIN, 0}};

		(void)poll(fds, 3, timeout_ms(intake));
		resume_taken(intake);
		http_gate_run(intake->gate, intake->daemon);
		MHD_run(intake->daemon);
		http_peers_close_slow(&intake->peers, REQUEST_SECONDS, EXCHANGE_SECONDS);
	}
	return NULL;
}

static void say_nothing(void *cls, const char *format, va_list args)
{
	(void)cls;
	(void)format;
	(void)args;
}

/* ---- starting and stopping ---- */

static struct error *read_token(struct intake *intake, const char *path)
{
	struct strbuf line = {0};
	struct error *err = secret_read(path, &line);

	if (err == NULL && line.size < TOKEN_MIN)
		err = error_new(ERROR_USAGE,
			"%s: the token in its first line has %zu characters; expected at least %d",
			path, line.size, TOKEN_MIN);
	if (err == NULL)
		intake->token = xstrndup(line.data, line.size);
	strbuf_deinit(&line);
	return err;
}

static struct error *check_options(struct intake *intake)
{
	const struct intake_options *o = &intake->options;

	if (o->token_file) {
		struct error *err = read_token(intake, o->token_file);

		if (err)
			return err;
	} else if (http_address_is_public(o->address)) {
		return error_new(ERROR_USAGE,
			"other machines could send profiles to %s: give a file with a token, or "
			"listen at 127.0.0.1",
			o->address);
	}
	intake->door = (struct intake_door){.token = str_from(intake->token),
		.is_loopback = strchr(o->address, '/') == NULL,
		.body_max = o->body_max};
	return NULL;
}

static struct error *start_daemon(struct intake *intake)
{
	intake->gate = http_gate_create(intake->socket.fd, CONNECTION_BYTES / 2, CONNECTIONS_MAX);
	intake->socket.fd = -1; /* the gate closes it */
	if (intake->gate == NULL)
		return error_system(errno, "cannot wait for connections");
	intake->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET |
						  MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG,
		0, NULL, NULL, handle, intake, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, http_peers_notify,
		&intake->peers, MHD_OPTION_URI_LOG_CALLBACK, look_at_uri, NULL,
		MHD_OPTION_NOTIFY_COMPLETED, completed, intake, MHD_OPTION_END);
	if (intake->daemon == NULL)
		return error_new(ERROR_UNSUPPORTED, "libmicrohttpd does not start");
	return NULL;
}

/* Joins the thread if it ends within STOPPING_NS. */
static bool ends_in_time(pthread_t thread)
{
	uint64_t until_ns = clock_unix_ns() + STOPPING_NS;
	const struct timespec until = {
		(time_t)(until_ns / SECOND_NS), (long)(until_ns % SECOND_NS)};

	return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

static void stop_worker(struct intake *intake)
{
	pthread_mutex_lock(&intake->lock);
	intake->is_stopping = true;
	pthread_cond_signal(&intake->work);
	pthread_mutex_unlock(&intake->lock);
	wake(intake);
	if (ends_in_time(intake->worker))
		return;
	pthread_mutex_lock(&intake->lock);
	intake->is_out_of_time = true;
	if (intake->reading.pid)
		kill(intake->reading.pid, SIGKILL);
	pthread_mutex_unlock(&intake->lock);
	pthread_join(intake->worker, NULL);
}

/* Both threads block all signals, which are for the caller's threads. */
static struct error *start_threads(struct intake *intake)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int code = pthread_create(&intake->worker, NULL, work, intake);

	if (code == 0) {
		code = pthread_create(&intake->talker, NULL, talk, intake);
		if (code)
			stop_worker(intake);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code ? error_system(code, "cannot start a thread") : NULL;
}

static void intake_destroy(struct intake *intake)
{
	if (intake->daemon)
		MHD_stop_daemon(intake->daemon);
	if (intake->gate)
		http_gate_run(intake->gate, NULL);
	http_gate_destroy(intake->gate);
	http_socket_close(&intake->socket);
	if (intake->event >= 0)
		close(intake->event);
	if (intake->token)
		explicit_bzero(intake->token, strlen(intake->token));
	free(intake->token);
	pthread_cond_destroy(&intake->work);
	pthread_mutex_destroy(&intake->lock);
	free(intake);
}

struct error *intake_start(const struct intake_options *options, struct intake **result)
{
	struct intake *intake = xcalloc(1, sizeof(*intake));
	struct error *err;

	*intake = (struct intake){.options = *options,
		.socket.fd = -1,
		.reading.fd = -1,
		.peers.many = CONNECTIONS_MANY,
		.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	if (intake->options.body_max == 0)
		intake->options.body_max = BODY_BYTES;
	if (intake->options.reading_seconds == 0)
		intake->options.reading_seconds = READING_SECONDS;
	if (intake->options.reading_bytes == 0)
		intake->options.reading_bytes = READING_BYTES;
	pthread_mutex_init(&intake->lock, NULL);
	pthread_cond_init(&intake->work, NULL);
	err = intake->event < 0 ? error_system(errno, "cannot make an eventfd")
				: check_options(intake);
	if (err == NULL)
		err = http_socket_open(&intake->socket, options->address);
	if (err == NULL)
		err = start_daemon(intake);
	if (err == NULL && options->begin)
		err = options->begin(options->context);
	if (err == NULL)
		err = start_threads(intake);
	if (err) {
		intake_destroy(intake);
		return err;
	}
	*result = intake;
	return NULL;
}

void intake_stop(struct intake *intake)
{
	if (intake == NULL)
		return;
	stop_worker(intake);
	pthread_join(intake->talker, NULL);
	/* Send the answers to all requests that waited. */
	resume_taken(intake);
	for (int i = 0; i < 4; i++)
		MHD_run(intake->daemon);
	intake_destroy(intake);
}

const char *intake_address(const struct intake *intake)
{
	return intake->socket.address;
}
