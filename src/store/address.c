/*
 * Addresses of stores, in the form that ClickHouse's own drivers use: hosts separated by commas,
 * the database as path, and secure=true for TLS.
 */
#include "store/address.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "store/exposure.h"

#define SCHEME		 "clickhouse://"
#define DATABASE_DEFAULT "sonde"
#define PORT_DEFAULT	 "8123"
#define PORT_SECURE	 "8443"

/* Removes and returns the part of rest before the first of these bytes. */
static struct str take_until(struct str *rest, const char *ends)
{
	struct str part = {rest->data, 0};

	while (part.size < rest->size && strchr(ends, rest->data[part.size]) == NULL)
		part.size++;
	rest->data += part.size;
	rest->size -= part.size;
	return part;
}

static bool is_host_byte(char c)
{
	return char_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("-._:[]", c));
}

static bool has_port(struct str host)
{
	size_t i = host.size;

	while (i > 0 && char_is_digit(host.data[i - 1]))
		i--;
	/* In an IPv6 address without a port, digits are followed by ']'. */
	return i > 0 && i < host.size && host.data[i - 1] == ':';
}

static struct error *add_shard(struct store_address *a, struct str host)
{
	for (size_t i = 0; i < host.size; i++) {
		if (!is_host_byte(host.data[i]))
			return error_new(ERROR_USAGE, "invalid host '%.*s'", STR_ARG(host));
	}
	if (host.size == 0)
		return error_new(ERROR_USAGE, "missing host");
	if (a->shards.count == STORE_SHARDS_MAX)
		return error_new(ERROR_USAGE, "more than %d shards", STORE_SHARDS_MAX);
	vec_push(&a->shards, xstrndup(host.data, host.size));
	return NULL;
}

static struct error *add_hosts(struct store_address *a, struct str hosts)
{
	struct error *err;

	do {
		struct str host = take_until(&hosts, ",");

		err = add_shard(a, host);
		if (hosts.size == 0)
			break;
		hosts.data++;
		hosts.size--;
	} while (err == NULL);
	return err;
}

static struct error *set_database(struct store_address *a, struct str name)
{
	for (size_t i = 0; i < name.size; i++) {
		char c = name.data[i];

		if (!char_is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
			c != '_')
			return error_new(ERROR_USAGE,
				"invalid database '%.*s': expected letters, digits and _",
				STR_ARG(name));
	}
	free(a->database);
	a->database = name.size ? xstrndup(name.data, name.size) : xstrdup(DATABASE_DEFAULT);
	return NULL;
}

static struct error *set_parameter(struct store_address *a, struct str parameter)
{
	struct str value = parameter, key = take_until(&value, "=");

	if (value.size) {
		value.data++;
		value.size--;
	}
	if (str_equal(key, STR("shard")))
		return add_hosts(a, value);
	if (!str_equal(key, STR("secure")))
		return error_new(ERROR_USAGE, "unknown parameter '%.*s': expected shard or secure",
			STR_ARG(key));
	a->is_secure = str_equal(value, STR("true"));
	if (!a->is_secure && !str_equal(value, STR("false")))
		return error_new(ERROR_USAGE, "secure: expected true or false");
	return NULL;
}

static void complete_ports(struct store_address *a)
{
	for (size_t i = 0; i < a->shards.count; i++) {
		char *host = a->shards.data[i];

		if (has_port(str_from(host)))
			continue;
		a->shards.data[i] =
			xasprintf("%s:%s", host, a->is_secure ? PORT_SECURE : PORT_DEFAULT);
		free(host);
	}
}

static struct error *parse_servers(struct store_address *a, struct str rest)
{
	struct str hosts = take_until(&rest, "/?");
	struct str database = {0};
	struct error *err = NULL;

	if (rest.size && rest.data[0] == '/') {
		rest.data++;
		rest.size--;
		database = take_until(&rest, "?");
	}
	err = add_hosts(a, hosts);
	if (err == NULL)
		err = set_database(a, database);
	while (err == NULL && rest.size) {
		rest.data++; /* '?' or '&' */
		rest.size--;
		err = set_parameter(a, take_until(&rest, "&"));
	}
	if (err == NULL)
		complete_ports(a);
	return err;
}

struct error *store_address_parse(const char *text, struct store_address *address)
{
	struct str rest = str_from(text);
	struct error *err;

	*address = (struct store_address){0};
	if (strstr(text, "://") == NULL) {
		if (rest.size == 0)
			return error_new(ERROR_USAGE, "expected a folder or " SCHEME "HOST");
		address->folder = xstrdup(text);
		return NULL;
	}
	/* The message does not repeat the password. */
	if (strchr(text, '@'))
		return error_new(ERROR_USAGE,
			"a store's address has no user or password, which everybody could read; "
			"put them into a file for --credentials");
	if (!str_starts_with(rest, STR(SCHEME)))
		return error_new(ERROR_USAGE, "'%s': expected a folder or " SCHEME "HOST", text);
	rest.data += strlen(SCHEME);
	rest.size -= strlen(SCHEME);
	err = parse_servers(address, rest);
	if (err) {
		store_address_deinit(address);
		return error_prefix(err, "%s", text);
	}
	return NULL;
}

void store_address_deinit(struct store_address *address)
{
	for (size_t i = 0; i < address->shards.count; i++)
		free(address->shards.data[i]);
	vec_deinit(&address->shards);
	free(address->folder);
	free(address->database);
	*address = (struct store_address){0};
}

const char *store_address_exposed(const struct store_address *address)
{
	for (size_t i = 0; i < address->shards.count && !address->is_secure; i++) {
		if (exposure_is_elsewhere(str_from(address->shards.data[i])))
			return address->shards.data[i];
	}
	return NULL;
}
