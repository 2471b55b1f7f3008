/*
 * JSON-RPC 2.0.  Messages are untrusted: everything is bounded, the members may come in any order,
 * twice or with values of any kind, and whatever is not a message gets a fault with the code that
 * the specification has for it.
 */
#include "serve/rpc.h"

#include <string.h>

#include "base/escape.h"

static bool is_integer(struct str text)
{
	size_t digits = text.size && text.data[0] == '-' ? 1 : 0;

	if (text.size == digits || text.size > 20)
		return false;
	for (size_t i = digits; i < text.size; i++)
		if (!char_is_digit(text.data[i]))
			return false;
	return true;
}

/* The bytes of the next value, which is then consumed. */
static struct str take_raw(struct json_reader *r)
{
	size_t begin;

	(void)json_peek(r);
	begin = json_offset(r);
	json_skip(r);
	struct str raw = {(const char *)r->start + begin, json_offset(r) - begin};

	return str_trim(raw);
}

bool rpc_read_id(struct json_reader *r, char id[RPC_ID_MAX + 1])
{
	struct strbuf text = {0};
	struct str value;
	bool is_good = false;

	if (json_peek(r) == JSON_STRING) {
		if (json_string(r, &value) && value.size <= RPC_ID_MAX)
			quote_json(&text, value);
		is_good = text.size > 0 && text.size <= RPC_ID_MAX;
	} else if (json_peek(r) == JSON_NUMBER) {
		value = take_raw(r);
		strbuf_add(&text, value);
		is_good = is_integer(value);
	} else {
		json_skip(r);
	}
	if (is_good)
		memcpy(id, text.data, text.size + 1);
	strbuf_deinit(&text);
	return is_good;
}

bool rpc_same_id(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* What was found of a message's members. */
struct members {
	bool has_version, has_id, has_method, has_outcome, is_bad_id, is_bad_method, is_bad_params;
};

static void read_method(struct json_reader *r, struct rpc_message *message, struct members *found)
{
	struct str text;

	found->has_method = true;
	found->is_bad_method = !json_string(r, &text) || text.size == 0 ||
			       text.size > RPC_METHOD_MAX || memchr(text.data, '\0', text.size);
	if (found->is_bad_method)
		return;
	memcpy(message->method, text.data, text.size);
	message->method[text.size] = '\0';
}

static void read_params(struct json_reader *r, struct rpc_message *message, struct members *found)
{
	enum json_kind kind = json_peek(r);

	message->has_params = kind == JSON_OBJECT;
	found->is_bad_params = kind != JSON_OBJECT;
	message->params = json_offset(r);
	json_skip(r);
}

static void read_member(
	struct json_reader *r, struct str key, struct rpc_message *message, struct members *found)
{
	struct str text;

	if (str_equal(key, STR("jsonrpc"))) {
		found->has_version = json_string(r, &text) && str_equal(text, STR("2.0"));
	} else if (str_equal(key, STR("id"))) {
		found->has_id = true;
		found->is_bad_id = !rpc_read_id(r, message->id);
	} else if (str_equal(key, STR("method"))) {
		read_method(r, message, found);
	} else if (str_equal(key, STR("params"))) {
		read_params(r, message, found);
	} else {
		found->has_outcome |= str_equal(key, STR("result")) || str_equal(key, STR("error"));
		json_skip(r);
	}
}

static bool refuse(struct rpc_fault *fault, enum rpc_code code, const char *text)
{
	*fault = (struct rpc_fault){code, text};
	return false;
}

static bool check(struct rpc_message *message, const struct members *found, struct rpc_fault *fault)
{
	if (!found->has_version)
		return refuse(fault, RPC_INVALID_REQUEST, "expected \"jsonrpc\": \"2.0\"");
	if (found->is_bad_id && !found->has_outcome)
		return refuse(fault, RPC_INVALID_REQUEST,
			"expected an id that is a string or an integer, not longer than 254 bytes");
	if (!found->has_method && found->has_outcome) {
		message->kind = RPC_RESPONSE;
		return true;
	}
	if (!found->has_method || found->is_bad_method)
		return refuse(fault, RPC_INVALID_REQUEST, "expected a method, a short string");
	message->kind = found->has_id ? RPC_REQUEST : RPC_NOTIFICATION;
	if (found->is_bad_params)
		return refuse(fault, RPC_INVALID_PARAMS, "expected params that are an object");
	return true;
}

bool rpc_read(struct json_reader *r, struct rpc_message *message, struct rpc_fault *fault)
{
	struct members found = {0};
	struct str key;

	*message = (struct rpc_message){.id = "null"};
	if (json_peek(r) == JSON_ARRAY) {
		json_skip(r);
		return refuse(fault, json_ok(r) ? RPC_INVALID_REQUEST : RPC_PARSE_ERROR,
			"expected one message a line, not a list");
	}
	if (!json_object(r))
		return refuse(fault, json_ok(r) ? RPC_INVALID_REQUEST : RPC_PARSE_ERROR,
			"expected a JSON object");
	while (json_key(r, &key))
		read_member(r, key, message, &found);
	if (!json_ok(r))
		return refuse(fault, RPC_PARSE_ERROR, "invalid JSON");
	struct str rest = {(const char *)r->at, (size_t)(r->end - r->at)};

	if (str_trim(rest).size)
		return refuse(fault, RPC_PARSE_ERROR, "invalid JSON: text after the message");
	return check(message, &found, fault);
}

/* ---- responses ---- */

static struct json_writer begin(struct strbuf *out, const char *id, const char *outcome)
{
	struct json_writer w = json_writer(out);

	strbuf_printf(out, "{\"jsonrpc\": \"2.0\", \"id\": %s, \"%s\": ", id, outcome);
	return w;
}

struct json_writer rpc_begin_result(struct strbuf *out, const char *id)
{
	return begin(out, id, "result");
}

struct json_writer rpc_begin_error(
	struct strbuf *out, const char *id, enum rpc_code code, struct str text)
{
	struct json_writer w = begin(out, id, "error");

	json_put_object(&w);
	json_put_key(&w, "code"), json_put_int(&w, code);
	json_put_key(&w, "message"), json_put_string(&w, text);
	return w;
}

void rpc_end(struct json_writer *w)
{
	while (w->depth)
		json_put_end(w);
	strbuf_add(w->out, STR("}\n"));
}
