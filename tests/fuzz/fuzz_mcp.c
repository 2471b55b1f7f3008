/*
 * Messages of coding agents: whatever the bytes are, each line is a message or a fault, whose
 * response is one line of JSON; the arguments of a tool are a request or an error, in bounded time.
 */
#include <assert.h>
#include <stdlib.h>

#include "serve/lines.h"
#include "serve/mcp_tools.h"
#include "serve/rpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINE_MAX_BYTES 4096u

/* That a response is one line, and JSON. */
static void check_response(struct strbuf *out)
{
	struct json_reader r;
	struct str key;

	assert(memchr(out->data, '\n', out->size) == out->data + out->size - 1);
	json_reader_init(&r, out->data, out->size, "response");
	assert(json_object(&r));
	while (json_key(&r, &key))
		json_skip(&r);
	assert(json_ok(&r));
	json_reader_deinit(&r);
	strbuf_deinit(out);
}

static void check_fault(const struct rpc_message *message, const struct rpc_fault *fault)
{
	struct strbuf out = {0};
	struct json_writer w =
		rpc_begin_error(&out, message->id, fault->code, str_from(fault->text));

	rpc_end(&w);
	check_response(&out);
}

/* As params of a call of each tool. */
static void check_tools(struct json_reader *r, size_t params)
{
	struct served served = {0};

	for (const struct mcp_tool *tool = mcp_tools; tool->name; tool++) {
		struct request request;
		struct strbuf scratch = {0};

		json_seek(r, params);
		if (tool->answer) {
			(void)mcp_tool_argument(tool, r, &scratch);
		} else {
			request_init(&request, tool->kind, &served, BRIEF_TOOLS);
			struct error *err = mcp_tool_request(tool, r, &request);

			/* Nothing is served. */
			assert(err);
			error_destroy(err);
			request_deinit(&request);
		}
		strbuf_deinit(&scratch);
	}
}

static void check_line(struct str line)
{
	struct rpc_message message;
	struct rpc_fault fault;
	struct json_reader r;
	struct str key;

	json_reader_init(&r, line.data, line.size, "message");
	if (!rpc_read(&r, &message, &fault)) {
		check_fault(&message, &fault);
	} else {
		struct strbuf out = {0};
		struct json_writer w = rpc_begin_result(&out, message.id);

		json_put_object(&w);
		rpc_end(&w);
		check_response(&out);
	}
	if (message.has_params) {
		check_tools(&r, message.params);
		json_seek(&r, message.params);
		if (json_object(&r))
			while (json_key(&r, &key))
				if (str_equal(key, STR("arguments"))) {
					size_t at = (json_peek(&r), json_offset(&r));

					check_tools(&r, at);
					break;
				}
	}
	json_reader_deinit(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines lines = lines_of(LINE_MAX_BYTES);
	struct str line;
	enum lines_kind kind;

	/* In two parts, as reads would bring them. */
	for (int part = 0; part < 2; part++) {
		size_t half = size / 2, begin = part ? half : 0;

		lines_feed(&lines,
			(struct str){(const char *)data + begin, part ? size - half : half});
		lines.is_at_end = part == 1;
		while ((kind = lines_next(&lines, &line)) != LINES_NONE)
			if (kind == LINES_LINE)
				check_line(line);
	}
	lines_deinit(&lines);
	return 0;
}
