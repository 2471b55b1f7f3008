#ifndef SONDE_INTAKE_CHECK_H
#define SONDE_INTAKE_CHECK_H

/* Which requests are read at all: decided by their heads, before any byte of a body. */

#include "http/head.h"
#include "intake/message.h"

struct intake_head {
	struct http_head http;
	struct str authorization;     /* the header; size 0: none */
	struct str transfer_encoding; /* the same */
	uint64_t body_size;	      /* as stated; 0: not stated */
};

struct intake_door {
	struct str token; /* size 0: none is asked for */
	bool is_loopback; /* an address at which browsers can be made to send requests */
	size_t body_max;
};

/* Which path it is, by the path alone. */
enum intake_path intake_path_of(struct str path);
/* 0 if it is to be read; else the status of the refusal, with *reason and *why (a literal). */
unsigned intake_check(const struct intake_door *door, const struct intake_head *head,
	enum intake_path path, enum intake_reason *reason, const char **why);

#endif
