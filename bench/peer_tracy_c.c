/* Tracy's zones of C, for zones_bench; linked with peer_tracy.cpp. */
#include <tracy/TracyC.h>

#include "zones_bench.h"

void peer_tracy_ready(int on);

static void run_tracy_c(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		TracyCZoneN(zone, "plain", 1);
		KEEP();
		TracyCZoneEnd(zone);
	}
}

const struct variant peer_tracy_c[] = {
	{"tracy-c", run_tracy_c, peer_tracy_ready, 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
