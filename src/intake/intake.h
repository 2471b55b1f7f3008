#ifndef SONDE_INTAKE_INTAKE_H
#define SONDE_INTAKE_INTAKE_H

/*
 * Receives profiles that other programs send over HTTP:
 *
 * - POST /v1development/profiles: OTLP (opentelemetry-proto 1.8 to 1.11), protocol buffers or JSON
 * - POST /ingest?name=…: Pyroscope's clients, with pprof, folded stacks or speedscope
 * - POST /push.v1.PusherService/Push: Pyroscope's push API, with pprof, protocol buffers or JSON
 * - GET /metrics: counters, for Prometheus
 * - GET /-/healthy: "ok", without a token
 *
 * One thread talks to clients.  Another has what they sent read, one body at a time, at a low
 * priority, in a child process with limits of CPU time and memory.  Neither waits for the caller,
 * so a client can delay other clients, but nothing else in the process.  docs/intake.md lists the
 * limits.
 */

#include "base/error.h"
#include "base/str.h"
#include "model/profile.h"

/*
 * The most bytes of a service, a host, and a label's key or value.  Longer ones are left out; a
 * longer name in a request to /ingest is refused.
 */
#define INTAKE_TEXT_MAX 4096u

struct intake_label {
	struct str key, value;
};

/* Where a profile comes from.  All texts are borrowed for the call. */
struct intake_origin {
	const char *protocol; /* "otlp", "ingest", "push" */
	struct str service;   /* "unknown_service" if the sender states none */
	struct str host;      /* empty: unknown */
	/* Whatever else the sender states.  In OTLP, samples may have the same labels. */
	const struct intake_label *labels;
	size_t label_count;
	uint64_t start_unix_ns, end_unix_ns; /* 0: unknown */
	uint64_t interval_ns;		     /* between samples; 0: not stated */
	/*
	 * Equal for equal bytes with the same protocol, service, host and labels, in every process
	 * of this version.  It identifies a profile that a client sends again because it got no
	 * answer.
	 */
	uint64_t digest;
};

struct intake_options {
	/*
	 * "127.0.0.1:4318", "[::1]:4318", ":4318" for all addresses, or the path of a Unix socket,
	 * which only its owner may connect to.  Port 0: any free one.
	 */
	const char *address;
	/*
	 * Path of a file whose first line is the token, of 16 bytes at least, that clients send
	 * ("Authorization: Bearer TOKEN").  Only its owner may read it (base/secret.h).  NULL: no
	 * token; the address must then be on the loopback interface, or a path.
	 */
	const char *token_file;
	size_t body_max; /* bytes of a body, packed and unpacked; 0: 64 MiB, as OTLP recommends */
	/* What reading a body and keeping its profiles may take; 0: 10 s of CPU time, 256 MiB. */
	unsigned reading_seconds;
	uint64_t reading_bytes;
	/*
	 * Called by intake_start once it listens and has read the token, before anything that a
	 * client sent is read: what the process no longer needs can be given up there.  NULL:
	 * nothing.
	 */
	struct error *(*begin)(void *context);
	/*
	 * Stores a profile, and owns it from then on, even on failure.  Called in a child process,
	 * one at a time, so what it changes in memory is lost.  ERROR_SYSTEM asks the client to
	 * send the request again later; any other error refuses the profile for good.  A request
	 * can have several profiles, and is sent again as a whole: the digest identifies those that
	 * were kept before.
	 */
	struct error *(*keep)(
		void *context, struct profile *profile, const struct intake_origin *origin);
	/*
	 * Appends further metrics in Prometheus's text format.  Called by the thread that talks to
	 * clients, so it must not block.  NULL: there are none.
	 */
	void (*metrics)(void *context, struct strbuf *out);
	void *context; /* for begin, keep and metrics */
};

struct intake;

/*
 * Listens, and returns once clients can connect.  ERROR_USAGE: invalid options; ERROR_UNSUPPORTED:
 * this sonde was built without libmicrohttpd; ERROR_SYSTEM: the address is taken, or the kernel
 * refuses something.  The address and the context must live until intake_stop.
 *
 * A child process that is forked later keeps the connections open until it ends or calls exec, and
 * clients do not see them close before.
 */
must_use struct error *intake_start(const struct intake_options *options, struct intake **intake);
/*
 * Reads what has arrived for half a second, and refuses the rest with 503, so that clients send it
 * again; stops both threads and frees the intake.  NULL is allowed.
 */
void intake_stop(struct intake *intake);
/* The address that it listens at, with the port; owned by the intake. */
const char *intake_address(const struct intake *intake);

#endif
