#ifndef SONDE_INTAKE_CHECK_H
#define SONDE_INTAKE_CHECK_H

/* Decides by a request's head, before any byte of its body arrives, whether to read it. */

#include "http/head.h"
#include "intake/message.h"

struct intake_head {
	struct http_head http;
	struct str authorization;     /* the header; size 0: none */
	struct str transfer_encoding; /* the header; size 0: none */
	uint64_t body_size;	      /* as stated, in bytes; 0: not stated */
};

struct intake_door {
	struct str token; /* size 0: clients need none */
	bool is_loopback; /* a TCP address, to which web pages can make browsers send requests */
	size_t body_max;  /* bytes */
};

/* INTAKE_OTHER: this path is not served. */
enum intake_path intake_path_of(struct str path);
/*
 * Returns 0 if the request may be read; else the HTTP status of the refusal, with its *reason for
 * metrics and *why, a literal for the client.  After 0, ignore both.
 */
unsigned intake_check(const struct intake_door *door, const struct intake_head *head,
	enum intake_path path, enum intake_reason *reason, const char **why);

#endif
