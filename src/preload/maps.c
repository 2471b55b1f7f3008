/*
 * Reports mapped code from inside the process, because the recorder may look at /proc/PID/maps only
 * after a sampled library has been closed again, or the process has ended.
 *
 * Code is reported at a program's start, before and after a dlclose, and when a sample is in
 * unreported code, which is how a dlopen is noticed.  (dlopen is not interposed, as it depends on
 * its caller.)
 */
#include "preload/preload.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>

#include "preload/raw.h"

#define TEXT_MAX ((size_t)64 << 10)
#define TEXT_MIN ((size_t)8 << 10)
#define RANGES	 512
/* Code that was not found is not searched for again at every sample. */
#define PAUSE_NS UINT64_C(20000000)

struct range {
	uint64_t low_va, high_va;
};

/* The mappings reported last, ascending.  The sequence is odd while they are written. */
static struct {
	_Atomic uint32_t sequence;
	_Atomic uint64_t missed_ns; /* when code was last not found */
	uint32_t count;
	struct range ranges[RANGES];
} known;

/* ---- reported code ---- */

static bool ranges_hold(uint64_t va)
{
	uint32_t low = 0, high = known.count < RANGES ? known.count : RANGES;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (known.ranges[middle].high_va <= va)
			low = middle + 1;
		else
			high = middle;
	}
	return low < RANGES && low < known.count && known.ranges[low].low_va <= va;
}

static bool is_known(uint64_t va)
{
	uint32_t before = atomic_load_explicit(&known.sequence, memory_order_acquire);

	if (before % 2 != 0 || ranges_hold(va) || known.count == RANGES)
		return true;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&known.sequence, memory_order_relaxed) != before;
}

void preload_maps_notice(struct preload_thread *t, uint64_t va)
{
	uint64_t now_ns;

	if (is_known(va))
		return;
	now_ns = preload_now_ns();
	if (now_ns < atomic_load(&known.missed_ns) + PAUSE_NS)
		return;
	preload_maps_tell(t, PRELOAD_MAPS_ADDED);
	if (!is_known(va))
		atomic_store(&known.missed_ns, now_ns);
}

/* ---- reading ---- */

struct maps_text {
	char *data;
	size_t size;  /* kept lines of code */
	size_t found; /* bytes after them, not parsed yet */
	size_t room;
	struct range *ranges; /* NULL: another thread is writing them */
	uint32_t count;
};

static uint64_t parse_hex(const char **text)
{
	uint64_t value = 0;

	for (;; (*text)++) {
		char c = **text;

		if (c >= '0' && c <= '9')
			value = value * 16 + (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value * 16 + (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* "low-high perms …": keeps the line if it is for code. */
static void take_line(struct maps_text *text, const char *line, size_t size)
{
	const char *at = line;
	struct range range = {.low_va = parse_hex(&at)};

	at++;
	range.high_va = parse_hex(&at);
	if ((size_t)(at - line) + 4 > size || at[3] != 'x')
		return;
	memmove(text->data + text->size, line, size);
	text->size += size;
	if (text->ranges && text->count < RANGES)
		text->ranges[text->count++] = range;
}

/* Parses the complete lines; an incomplete one stays. */
static void take_lines(struct maps_text *text)
{
	const char *line = text->data + text->size;
	const char *end = line + text->found, *newline;

	while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
		take_line(text, line, (size_t)(newline + 1 - line));
		line = newline + 1;
	}
	text->found = (size_t)(end - line);
	memmove(text->data + text->size, line, text->found);
}

/* False: there is not enough room. */
static bool read_maps(struct maps_text *text)
{
	long fd = raw4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	long got = 0;

	if (fd < 0)
		return false;
	while (text->size + text->found < text->room) {
		char *at = text->data + text->size + text->found;

		got = raw3(SYS_read, fd, at, text->room - text->size - text->found);
		if (got <= 0)
			break;
		text->found += (size_t)got;
		take_lines(text);
	}
	raw1(SYS_close, fd);
	return got == 0;
}

void preload_maps_tell(struct preload_thread *t, uint32_t type)
{
	size_t head = sizeof(struct preload_record), room;
	uint8_t *out = preload_lane_begin(&t->lane, head + TEXT_MIN, head + TEXT_MAX, &room);
	struct maps_text text = {.room = out ? room - head : 0};
	uint32_t sequence = atomic_load(&known.sequence);

	if (!out)
		return;
	text.data = (char *)out + head;
	if (sequence % 2 == 0 &&
		atomic_compare_exchange_strong(&known.sequence, &sequence, sequence + 1))
		text.ranges = known.ranges;
	struct preload_record record = {
		.type = type, .time_ns = preload_now_ns(), .cpu_ns = preload_cpu_ns()};

	if (!read_maps(&text))
		record.type = PRELOAD_MAPS_ADDED;
	if (text.ranges) {
		known.count = text.count;
		atomic_store(&known.sequence, sequence + 2);
	}
	record.size = (uint32_t)(head + text.size);
	memcpy(out, &record, sizeof(record));
	preload_lane_end(&t->lane, record.size);
}

/* ---- dlclose ---- */

preload_exported int dlclose(void *handle)
{
	static _Atomic(int (*)(void *)) real;
	int (*close_handle)(void *) = real;
	struct preload_thread *t = preload_enter();

	if (!close_handle)
		real = close_handle = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	if (t) {
		preload_maps_tell(t, PRELOAD_MAPS_ADDED);
		preload_leave(t);
	}
	int code = close_handle(handle);

	t = preload_enter();
	if (t) {
		preload_maps_tell(t, PRELOAD_MAPS_ALL);
		preload_leave(t);
	}
	return code;
}
