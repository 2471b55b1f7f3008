// Tracy's zones of C++, for zones_bench.  ZONES_DRAINED set: begins when somebody takes the events.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <tracy/Tracy.hpp>

#include "zones_bench.h"

extern "C" void peer_tracy_ready(int on);

extern "C" void peer_tracy_ready(int on)
{
	static bool is_ready;

	for (int wait = 0; on && !is_ready && getenv("ZONES_DRAINED"); wait++) {
		is_ready = tracy::GetProfiler().IsConnected();
		if (!is_ready && wait == 10000) {
			fprintf(stderr, "zones_bench: nobody takes Tracy's events\n");
			_exit(2);
		}
		usleep(1000);
	}
}

static void run_tracy(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		ZoneScopedN("plain");
		KEEP();
	}
}

extern "C" const struct variant peer_tracy[] = {
	{"tracy-c++", run_tracy, peer_tracy_ready, 0, 0},
	{nullptr, nullptr, nullptr, 0, 0},
};
