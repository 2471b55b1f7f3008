#ifndef SONDE_INTAKE_MESSAGE_H
#define SONDE_INTAKE_MESSAGE_H

/*
 * A complete request and its answer.  Private to the intake; tests use it as well, since it needs
 * no network.
 */

#include "formats/readers.h"
#include "intake/intake.h"

enum intake_path {
	INTAKE_OTLP,
	INTAKE_INGEST,
	INTAKE_PUSH,
	INTAKE_METRICS,
	INTAKE_HEALTHY,
	INTAKE_OTHER, /* not served */
	INTAKE_PATH_COUNT
};
/* In metrics: "otlp", "ingest" … */
extern const char *const intake_path_names[INTAKE_PATH_COUNT];

/* Why something was refused, in metrics. */
enum intake_reason {
	REASON_NONE,
	REASON_HEAD,	  /* the request's head: headers, Host, Origin, method, path */
	REASON_TOKEN,	  /* a wrong token, or none */
	REASON_TYPE,	  /* a type, compression or format that is not supported */
	REASON_SIZE,	  /* too large, packed or unpacked */
	REASON_BUSY,	  /* too much at a time, or keep failed for now */
	REASON_MALFORMED, /* not a valid profile */
	REASON_NOT_KEPT,  /* keep failed for good */
	REASON_LIMIT,	  /* takes more time or memory than a request may */
	REASON_FAILED,	  /* an error in sonde */
	INTAKE_REASON_COUNT
};
extern const char *const intake_reason_names[INTAKE_REASON_COUNT];

/* The URL's parameters for /ingest, without escapes; NULL: missing. */
struct intake_ingest {
	const char *name, *format, *from, *until, *sample_rate, *units;
};

struct intake_message {
	enum intake_path path;
	struct str type;     /* Content-Type, with its parameters */
	struct str encoding; /* Content-Encoding; empty: none */
	struct str body;
	struct intake_ingest ingest;
};

struct intake_answer {
	unsigned status;  /* HTTP */
	const char *type; /* Content-Type of the text, a literal */
	struct strbuf text;
	unsigned retry_seconds; /* Retry-After; 0: none */
	enum intake_reason reason;
	uint64_t kept, rejected; /* profiles */
};

/* Whether the message's path accepts its Content-Type and Content-Encoding. */
bool intake_is_type_taken(const struct intake_message *message);
/*
 * Reads the body of a message to one of the paths that take profiles, passes the profiles to
 * options->keep, and sets *answer, whose text the caller frees.
 */
void intake_take(const struct intake_options *options, const struct intake_message *message,
	struct intake_answer *answer);
/*
 * Turns the answer into a refusal with this HTTP status, in the form that clients of the message's
 * path read.  why is copied.
 */
void intake_refuse(const struct intake_message *message, struct intake_answer *answer,
	unsigned status, enum intake_reason reason, const char *why);

/* ---- for the protocols ---- */

/* Whether a Content-Type names this media type, whatever its case and parameters. */
bool intake_type_is(struct str type, const char *media);
/*
 * Reads a profile in a format (formats/readers.h) and passes it to keep.  Completes *origin: sets
 * the digest, fills in an unknown service or host, and prefers the profile's own times.  Counts the
 * profile in answer->kept; on failure, sets answer->reason instead.
 */
must_use struct error *intake_keep(const struct intake_options *options,
	const struct reader_input *input, const char *format, struct intake_origin *origin,
	struct intake_answer *answer);
/* Refuses with an error's message, and destroys it.  The status follows from answer->reason. */
void intake_refuse_error(
	const struct intake_message *message, struct intake_answer *answer, struct error *err);
/*
 * Unpacks *bytes, which are borrowed, if they are gzip or zstd; others stay as they are.  *unpacked
 * owns what *bytes then refers to, and the caller frees it; NULL: nothing was unpacked.
 * ERROR_INPUT: the bytes are damaged, or unpack to more than body_max (answer->reason is
 * REASON_SIZE).
 */
must_use struct error *intake_unpack(const struct intake_options *options, const char *name,
	struct str *bytes, uint8_t **unpacked, struct intake_answer *answer);

/* One function for each protocol.  The body is unpacked; messages call it INTAKE_BODY. */
#define INTAKE_BODY "the request"
void intake_otlp(const struct intake_options *options, const struct intake_message *message,
	struct intake_answer *answer);
void intake_pyroscope_ingest(const struct intake_options *options,
	const struct intake_message *message, struct intake_answer *answer);
void intake_pyroscope_push(const struct intake_options *options,
	const struct intake_message *message, struct intake_answer *answer);

#endif
