/* Answers of the module: JSON with columns of numbers.  See reply.h. */
#include "page/reply.h"

#include <string.h>

static void pad(struct strbuf *out)
{
	while (out->size % 8)
		strbuf_add_char(out, '\0');
}

static void put(struct reply *reply, const char *name, const char *type, const void *values,
	size_t count, size_t size)
{
	strbuf_printf(&reply->names, "%s\"%s\": [\"%s\", %zu, %zu]", reply->names.size ? ", " : "",
		name, type, reply->columns.size, count);
	strbuf_add(&reply->columns, (struct str){values, count * size});
	pad(&reply->columns);
}

void reply_begin(struct reply *reply)
{
	strbuf_clear(&reply->head);
	strbuf_clear(&reply->columns);
	strbuf_clear(&reply->names);
	strbuf_clear(&reply->bytes);
	reply->json = json_writer(&reply->head);
}

void reply_put_u32(struct reply *reply, const char *name, const uint32_t *values, size_t count)
{
	put(reply, name, "u32", values, count, sizeof(*values));
}

void reply_put_f64(struct reply *reply, const char *name, const double *values, size_t count)
{
	put(reply, name, "f64", values, count, sizeof(*values));
}

void reply_put_number(struct reply *reply, const char *key, uint64_t number)
{
	json_put_key(&reply->json, key);
	if (number == UINT64_MAX)
		json_put_null(&reply->json);
	else
		json_put_unsigned(&reply->json, number);
}

void reply_end(struct reply *reply)
{
	uint32_t sizes[2];

	strbuf_printf(&reply->head, ", \"columns\": {%.*s}}", STR_ARG(strbuf_str(&reply->names)));
	sizes[0] = (uint32_t)reply->head.size;
	sizes[1] = 0;
	strbuf_add(&reply->bytes, (struct str){(const char *)sizes, sizeof(sizes)});
	strbuf_add(&reply->bytes, strbuf_str(&reply->head));
	pad(&reply->bytes);
	strbuf_add(&reply->bytes, strbuf_str(&reply->columns));
}
