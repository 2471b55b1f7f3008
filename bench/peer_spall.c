/* spall's zones, for zones_bench: events into a buffer of 1 MiB, which goes to nowhere. */
#include "spall.h"

#include "zones_bench.h"

static bool write_nowhere(SpallProfile *self, const void *data, size_t length)
{
	(void)self, (void)data, (void)length;
	return true;
}

static bool flush_nowhere(SpallProfile *self)
{
	(void)self;
	return true;
}

static char memory[1 << 20];
static SpallProfile profile;
static SpallBuffer buffer = {.data = memory, .length = sizeof(memory), .tid = 1, .pid = 1};

static __attribute__((constructor)) void begin(void)
{
	spall_init_callbacks(1, write_nowhere, flush_nowhere, NULL, NULL, &profile);
	spall_buffer_init(&profile, &buffer);
}

static void run_spall(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		spall_buffer_begin(&profile, &buffer, "plain", 5, __builtin_ia32_rdtsc());
		KEEP();
		spall_buffer_end(&profile, &buffer, __builtin_ia32_rdtsc());
	}
}

const struct variant peer_spall[] = {
	{"spall", run_spall, NULL, 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
