#ifndef SONDE_STORE_OTLP_SEND_H
#define SONDE_STORE_OTLP_SEND_H

/*
 * Sends profiles to servers that accept OTLP over HTTP: a collector, Pyroscope, sonde's agent.  The
 * messages are those of opentelemetry-proto 1.11 (v1development, which may still change).  Retries
 * follow the specification.
 */

#include "base/error.h"
#include "base/str.h"
#include "formats/writers.h"

struct otlp_send_options {
	/*
	 * The resource's attributes, each key once: service.name (default: "unknown_service"),
	 * host.name to replace the profile's host, and labels.
	 */
	const struct writer_attribute *attributes;
	size_t attribute_count;
	const char *token;   /* "Authorization: Bearer TOKEN"; NULL: none */
	const char *ca_file; /* certificates to trust, PEM; NULL: the system's */
	/*
	 * The wait before the second try.  Each further wait is twice as long, up to 30 s.  Each is
	 * shortened at random, by half at most.  A server's Retry-After takes precedence.
	 */
	uint64_t wait_ns;    /* 0: 1 s */
	uint64_t give_up_ns; /* after the first try; no try begins later; 0: 60 s */
	size_t body_max;     /* bytes of a request before compression; 0: 64 MiB */
};

struct otlp_sent {
	uint64_t bytes; /* of the request, compressed */
	unsigned tries;
	uint64_t rejected; /* profiles that the server did not accept, of a request that it did */
	/* The server's reason for that, or a warning, escaped; empty: none. */
	struct strbuf message;
};

/*
 * Sends the profile, with all metrics in one request, to url, to which it adds
 * /v1development/profiles unless it ends in that.  Blocks until the server has answered or all
 * tries have failed.  NULL if the server accepted the request: look at sent->rejected as well.
 * ERROR_USAGE: the URL has a password; ERROR_SYSTEM: the server did not answer, or was busy, within
 * options->give_up_ns; ERROR_INPUT: the request is larger than body_max, or the server refuses it,
 * and would again; ERROR_UNSUPPORTED: there is no libcurl.  Pass *sent to otlp_sent_deinit, even
 * after a failure.
 */
must_use struct error *otlp_send(const struct profile *profile, const char *url,
	const struct otlp_send_options *options, struct otlp_sent *sent);
void otlp_sent_deinit(struct otlp_sent *sent);
/* That a token for this URL would travel unencrypted to another machine; NULL: not.  Free it. */
char *otlp_send_warning(const char *url);

#endif
