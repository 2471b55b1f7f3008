#ifndef SONDE_SERVE_RPC_H
#define SONDE_SERVE_RPC_H

/*
 * Messages of JSON-RPC 2.0 (jsonrpc.org/specification): reading one, and writing responses, each on
 * one line.
 */

#include <stdbool.h>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/str.h"

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE };

enum rpc_code {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL_ERROR = -32603,
};

/* Characters of an id, and of a method's name. */
#define RPC_ID_MAX     256u
#define RPC_METHOD_MAX 128u

struct rpc_message {
	enum rpc_kind kind;
	char id[RPC_ID_MAX + 1];	 /* as JSON; "null" if there is none, or none is known */
	char method[RPC_METHOD_MAX + 1]; /* "" for a response */
	bool has_params;
	size_t params; /* where they begin, for json_seek */
};

struct rpc_fault {
	enum rpc_code code;
	const char *text; /* a literal */
};

/*
 * Reads a message, all of the reader's input.  False: *fault says why; message->id is the id as far
 * as it is known.  Afterwards json_seek(r, message->params) moves to the params.
 */
bool rpc_read(struct json_reader *r, struct rpc_message *message, struct rpc_fault *fault);
/* Two ids in the form of rpc_message, of one value. */
bool rpc_same_id(const char *a, const char *b);
/* Reads the next value as an id in that form; false: it is not one. */
bool rpc_read_id(struct json_reader *r, char id[RPC_ID_MAX + 1]);

/* Begins a response with that id; the caller puts the result, one value, and calls rpc_end. */
struct json_writer rpc_begin_result(struct strbuf *out, const char *id);
/* Begins an error with a code and a text; the caller may put "data". */
struct json_writer rpc_begin_error(
	struct strbuf *out, const char *id, enum rpc_code code, struct str text);
/* Ends the open objects and the line. */
void rpc_end(struct json_writer *w);

#endif
