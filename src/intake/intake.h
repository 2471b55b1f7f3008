#ifndef SONDE_INTAKE_INTAKE_H
#define SONDE_INTAKE_INTAKE_H

/*
 * Takes profiles that other programs send, over HTTP:
 *
 * - POST /v1development/profiles: OTLP (opentelemetry-proto 1.8 to 1.11), protocol buffers or JSON
 * - POST /ingest?name=…: Pyroscope's clients, with pprof, folded stacks or speedscope
 * - POST /push.v1.PusherService/Push: Pyroscope's push API, with pprof, protocol buffers or JSON
 * - GET /metrics: counts of all this, for Prometheus
 * - GET /-/healthy: "ok", without a token
 *
 * One thread talks to clients, another reads what they sent, one body after the other and at a low
 * priority; neither ever waits for the caller, except in `keep`.  So a client can delay other
 * clients, but nothing else in the process.  docs/intake.md has the bounds.
 */

#include "base/error.h"
#include "base/str.h"
#include "model/profile.h"

/* Bytes of a service, a host, or the key or value of a label; longer ones are left out. */
#define INTAKE_TEXT_MAX 4096u

struct intake_label {
	struct str key, value;
};

/* Where a profile is from; everything is borrowed for the call. */
struct intake_origin {
	const char *protocol; /* "otlp", "ingest", "push" */
	struct str service;   /* "unknown_service" if the sender does not say */
	struct str host;      /* empty: unknown */
	/* What else the sender says of it; in OTLP, samples may have these labels as well. */
	const struct intake_label *labels;
	size_t label_count;
	uint64_t start_unix_ns, end_unix_ns; /* 0: unknown */
	uint64_t interval_ns;		     /* between samples, if the sender says so; else 0 */
	/*
	 * The same for the same bytes from the same service and host with the same labels, in every
	 * process of this version: a client that got no answer sends them again.
	 */
	uint64_t digest;
};

struct intake_options {
	/*
	 * "127.0.0.1:4318", "[::1]:4318", ":4318" for all addresses, or the path of a Unix socket,
	 * which only its owner may connect to; port 0: any.
	 */
	const char *address;
	/*
	 * Its first line is the token that clients send ("Authorization: Bearer TOKEN"); as in
	 * base/secret.h, only its owner may read it.  NULL: none; then the address must be on the
	 * loopback interface, or a path.
	 */
	const char *token_file;
	size_t body_max; /* bytes of a body, also unpacked; 0: 64 MiB, what OTLP recommends */
	/*
	 * Takes a profile, which it owns from then on, also if it fails.  Called by one thread at a
	 * time, never the caller's.  ERROR_SYSTEM: the client shall send it again later; any other
	 * error: it shall not.  A request can have several profiles, and is sent again as a whole:
	 * the digest identifies those that were kept.
	 */
	struct error *(*keep)(
		void *context, struct profile *profile, const struct intake_origin *origin);
	/*
	 * Appends further metrics, in Prometheus's text format.  Called by the thread that talks to
	 * clients, so it must not block.  NULL: none.
	 */
	void (*metrics)(void *context, struct strbuf *out);
	void *context;
};

struct intake;

/*
 * Listens, and returns once clients can connect.  ERROR_USAGE: the options; ERROR_UNSUPPORTED: a
 * build without libmicrohttpd.  address and the context must live until intake_stop.
 *
 * A child that the process forks afterwards has the same connections open until it ends or calls
 * exec; clients then wait that long for their end.
 */
must_use struct error *intake_start(const struct intake_options *options, struct intake **intake);
/* Answers what was sent, and ends; NULL is allowed. */
void intake_stop(struct intake *intake);
/* Where it listens, with the port; owned by the intake. */
const char *intake_address(const struct intake *intake);

#endif
