#ifndef SONDE_FORMATS_OTLP_REQUEST_H
#define SONDE_FORMATS_OTLP_REQUEST_H

/*
 * A request with OTLP profiles, as an agent or a collector sends it: ExportProfilesServiceRequest,
 * which has the encoding of the ProfilesData in files.  A collector joins what many services sent,
 * so a request is taken apart again, into one profile for each resource (the same attributes, byte
 * for byte).
 *
 * Unlike a file, a request that ends early or has bytes that are no message is refused as a whole:
 * its sender can send it again.
 */

#include "base/arena.h"
#include "base/str.h"
#include "formats/readers.h"

/* An attribute of a resource whose value is a single text, number or bool, as text. */
struct otlp_request_attribute {
	struct str key, value;
};

struct otlp_request_resource {
	const struct otlp_request_attribute *attributes;
	size_t attribute_count;
	uint64_t profile_count;
	bool is_too_many; /* beyond the bounds below: it cannot be read */
};

/*
 * Each profile needs the whole dictionary, so all of them together read at most this many times the
 * bytes of the request.
 */
#define OTLP_REQUEST_RATIO	   16u
#define OTLP_REQUEST_RESOURCES_MAX 1024u
/* Attributes of a resource; further ones are left out. */
#define OTLP_REQUEST_ATTRIBUTES_MAX 256u

struct otlp_request;

/*
 * ERROR_INPUT if the bytes are not a whole message.  They are borrowed until the request is
 * destroyed.  An empty message is a request without resources.
 */
must_use struct error *otlp_request_read(
	const char *name, struct str bytes, bool is_json, struct otlp_request **request);
void otlp_request_destroy(struct otlp_request *r);

/* Those with profiles; owned by the request. */
size_t otlp_request_resource_count(const struct otlp_request *r);
const struct otlp_request_resource *otlp_request_resource(
	const struct otlp_request *r, size_t number);
/* What the profile of a resource is read from, a whole message; valid until the next call. */
struct str otlp_request_message(struct otlp_request *r, size_t number);

#endif
