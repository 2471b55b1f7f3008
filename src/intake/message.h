#ifndef SONDE_INTAKE_MESSAGE_H
#define SONDE_INTAKE_MESSAGE_H

/*
 * A request that has arrived whole, and its answer; private to the intake, and to the tests, which
 * need no network for it.
 */

#include "formats/readers.h"
#include "intake/intake.h"

enum intake_path {
	INTAKE_OTLP,
	INTAKE_INGEST,
	INTAKE_PUSH,
	INTAKE_METRICS,
	INTAKE_HEALTHY,
	INTAKE_OTHER, /* no path that is served */
	INTAKE_PATH_COUNT
};
/* In metrics: "otlp", "ingest" … */
extern const char *const intake_path_names[INTAKE_PATH_COUNT];

/* Why something was refused, in metrics. */
enum intake_reason {
	REASON_NONE,
	REASON_HEAD,	  /* the request's head: headers, Host, Origin, method, path */
	REASON_TOKEN,	  /* a wrong token, or none */
	REASON_TYPE,	  /* a type or compression that is not read */
	REASON_SIZE,	  /* too large, packed or unpacked */
	REASON_BUSY,	  /* too much at a time */
	REASON_MALFORMED, /* no whole profile */
	REASON_NOT_KEPT,  /* keep failed */
	INTAKE_REASON_COUNT
};
extern const char *const intake_reason_names[INTAKE_REASON_COUNT];

/* The parameters of /ingest, as sent; NULL: missing. */
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
	unsigned status;
	const char *type; /* of the text */
	struct strbuf text;
	unsigned retry_seconds; /* Retry-After; 0: none */
	enum intake_reason reason;
	uint64_t kept, rejected; /* profiles */
};

/* Whether the type and the compression of a message are ones that its path takes. */
bool intake_is_type_taken(const struct intake_message *message);
/* Reads the body, gives its profiles to keep, and sets the answer. */
void intake_take(const struct intake_options *options, const struct intake_message *message,
	struct intake_answer *answer);
/* Makes it a refusal, in the form that the path's clients read. */
void intake_refuse(const struct intake_message *message, struct intake_answer *answer,
	unsigned status, enum intake_reason reason, const char *why);

/* ---- for the protocols ---- */

/* The media type without parameters is this one, in any case. */
bool intake_type_is(struct str type, const char *media);
/*
 * Reads a profile in a format (formats/readers.h) and gives it to keep.  origin: digest is set, and
 * unknown times are those of the profile.  input: its name and bytes.  NULL if it was kept; else
 * answer->reason is set.
 */
must_use struct error *intake_keep(const struct intake_options *options,
	const struct reader_input *input, const char *format, struct intake_origin *origin,
	struct intake_answer *answer);
/* Refuses for an error, which is destroyed; the status follows from answer->reason. */
void intake_refuse_error(
	const struct intake_message *message, struct intake_answer *answer, struct error *err);
/*
 * Unpacks gzip and zstd, at most body_max bytes; other bytes stay as they are.  *unpacked: to free,
 * or NULL.
 */
must_use struct error *intake_unpack(const struct intake_options *options, const char *name,
	struct str *bytes, uint8_t **unpacked, struct intake_answer *answer);

/* The body is unpacked; its name for messages is INTAKE_BODY. */
#define INTAKE_BODY "the request"
void intake_otlp(const struct intake_options *options, const struct intake_message *message,
	struct intake_answer *answer);
void intake_pyroscope_ingest(const struct intake_options *options,
	const struct intake_message *message, struct intake_answer *answer);
void intake_pyroscope_push(const struct intake_options *options,
	const struct intake_message *message, struct intake_answer *answer);

#endif
