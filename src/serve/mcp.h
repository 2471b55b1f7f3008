#ifndef SONDE_SERVE_MCP_H
#define SONDE_SERVE_MCP_H

/*
 * The Model Context Protocol (modelcontextprotocol.io/specification), over two descriptors: tools
 * for coding agents.  Serves until the input ends.
 */

#include "serve/served.h"

/* Bytes of a message. */
#define MCP_MESSAGE_MAX ((size_t)1 << 20)

must_use struct error *mcp_serve(struct served *served, int input, int output);

#endif
