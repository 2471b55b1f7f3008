#ifndef SONDE_STORE_ADDRESS_H
#define SONDE_STORE_ADDRESS_H

/*
 * Where profiles of many machines are: a folder of recordings, or ClickHouse servers.
 *
 *	/var/lib/sonde/spool
 *	clickhouse://HOST[:PORT][,HOST[:PORT]…][/DATABASE][?shard=HOST[:PORT]&secure=true]
 *
 * Each host is a shard: a server that holds a part of the profiles.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/vec.h"

#define STORE_SHARDS_MAX 1024

struct store_address {
	char *folder;	    /* NULL: servers */
	VEC(char *) shards; /* "HOST:PORT", as given; IPv6 in brackets */
	char *database;
	bool is_secure; /* over HTTPS */
};

/*
 * Parses a store's address.  ERROR_USAGE if it is invalid, or has a user or password: everybody may
 * read a process's arguments.
 */
must_use struct error *store_address_parse(const char *text, struct store_address *address);
void store_address_deinit(struct store_address *address);
/*
 * The first shard on another machine that is asked without HTTPS, so that others on the network can
 * read everything; NULL: there is none.  Borrowed from the address.
 */
const char *store_address_exposed(const struct store_address *address);

#endif
