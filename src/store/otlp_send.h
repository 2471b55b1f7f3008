#ifndef SONDE_STORE_OTLP_SEND_H
#define SONDE_STORE_OTLP_SEND_H

/*
 * Sends profiles to whatever takes OTLP over HTTP: a collector, Pyroscope, an agent of sonde.  The
 * messages are those of opentelemetry-proto 1.11 (v1development, which may still change); the rules
 * of retries are the specification's.
 */

#include "base/error.h"
#include "base/str.h"
#include "formats/writers.h"

struct otlp_send_options {
	/*
	 * Attributes of the resource, each key once: service.name ("unknown_service" without it),
	 * host.name in place of the profile's, and labels.
	 */
	const struct writer_attribute *attributes;
	size_t attribute_count;
	const char *token;   /* "Authorization: Bearer TOKEN"; NULL: none */
	const char *ca_file; /* certificates to trust, PEM; NULL: the system's */
	/*
	 * The wait before the second try; each further one is twice as long, up to 30 s, and all
	 * are between half and the whole of that, by chance.  A server's Retry-After comes first.
	 */
	uint64_t wait_ns;    /* 0: 1 s */
	uint64_t give_up_ns; /* since the first try, no other is begun; 0: 60 s */
	size_t body_max;     /* bytes of a request before compression; 0: 64 MiB */
};

struct otlp_sent {
	uint64_t bytes; /* of the request, compressed */
	unsigned tries;
	uint64_t
		rejected; /* profiles that the server did not take, although the request was good */
	/* What the server says about that, or a warning; escaped.  Empty: nothing. */
	struct strbuf message;
};

/*
 * Sends the profile, all metrics in one request, to url, or below it at /v1development/profiles.
 * NULL if the server took the request; look at sent->rejected as well.  ERROR_USAGE: the URL has a
 * password; ERROR_SYSTEM: the server did not answer, or was busy, until options->give_up_ns were
 * over; ERROR_INPUT: it refuses the request, and would do so again.  *sent must be given to
 * otlp_sent_deinit, also on failure.
 */
must_use struct error *otlp_send(const struct profile *profile, const char *url,
	const struct otlp_send_options *options, struct otlp_sent *sent);
void otlp_sent_deinit(struct otlp_sent *sent);

#endif
