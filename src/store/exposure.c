/*
 * What travels unencrypted to another machine, which anybody on the way can read.  Only names and
 * addresses of the loopback interface are known to stay on this machine: to look others up would
 * take a request, and a local name may lead elsewhere tomorrow.
 */
#include "store/exposure.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Without the port and the brackets. */
static struct str host_of(struct str place)
{
	bool is_bracketed = place.size && place.data[0] == '[';
	struct str host = {place.data + is_bracketed, 0};

	while (host.size + is_bracketed < place.size &&
		host.data[host.size] != (is_bracketed ? ']' : ':'))
		host.size++;
	return host;
}

bool exposure_is_elsewhere(struct str place)
{
	struct str name = host_of(place);
	char *host = xstrndup(name.data, name.size);
	struct in_addr four;
	struct in6_addr six;
	bool is_here = strcmp(host, "localhost") == 0;

	if (inet_pton(AF_INET, host, &four) == 1)
		is_here = ntohl(four.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
	else if (inet_pton(AF_INET6, host, &six) == 1)
		is_here = IN6_IS_ADDR_LOOPBACK(&six);
	free(host);
	return !is_here;
}

char *exposure_note(const char *secret, struct str place, const char *remedy)
{
	return xasprintf("%s travels unencrypted to %.*s; %s", secret, STR_ARG(place), remedy);
}
