#ifndef SONDE_SERVE_MCP_TOOLS_H
#define SONDE_SERVE_MCP_TOOLS_H

/*
 * The tools that `sonde serve --mcp` offers.
 *
 * To add one: a row in mcp_tools.c, with what its arguments are; a case in tests/e2e/serve_mcp.py
 * and its row in docs/serve.md.
 */

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "serve/request.h"

struct mcp_tool {
	const char *name, *title, *description;
	/* The request that it makes; or, if answer is not NULL, none. */
	enum request_kind kind;
	/* Arguments that are not options: a name and its description, up to a NULL. */
	const char *const (*arguments)[2];
	size_t required; /* the first so many must be given */
	/* Tables of options that are arguments as well, up to a NULL. */
	const struct option_row *const *options;
	/* The view, if it has only one; its option for "function", as the command's --center. */
	const char *view, *function_option;
	/* Answers at once, without a request, in text; false: it is an error. */
	bool (*answer)(const struct served *served, const char *argument, struct strbuf *out);
};

/* Ends with a row without a name. */
extern const struct mcp_tool mcp_tools[];

/* NULL: there is none. */
const struct mcp_tool *mcp_tool_named(const char *name);
/* Puts the tool's description, an object. */
void mcp_tool_put(const struct mcp_tool *tool, struct json_writer *w);
/*
 * Reads arguments, an object at the reader's position or, if r is NULL, none, into a request, and
 * settles it.  Errors are what the caller of the tool did wrong.
 */
must_use struct error *mcp_tool_request(
	const struct mcp_tool *tool, struct json_reader *r, struct request *request);
/* The one argument of a tool that answers at once; in scratch.  NULL: it is missing. */
const char *mcp_tool_argument(
	const struct mcp_tool *tool, struct json_reader *r, struct strbuf *scratch);

#endif
