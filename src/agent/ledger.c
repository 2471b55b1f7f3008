/*
 * The file is two copies of the state, each with a number and a checksum.  They are written in
 * turn: after a kill in the middle of one, the other is whole.  One pwrite writes a copy into
 * blocks that the file has already.  Nothing is synced: a kill loses no page of the kernel's, and
 * after a loss of power the state may be seconds old.
 */
#include "agent/ledger.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"

#define MAGIC	   UINT64_C(0x3130726764656c73) /* "sledgr01" */
#define COPY_BYTES 4096

struct ledger_copy {
	uint64_t magic, sequence;
	struct ledger_state state;
	uint32_t crc; /* of all before */
};

_Static_assert(sizeof(struct ledger_copy) <= COPY_BYTES, "a copy has its own block");

static uint32_t copy_crc(const struct ledger_copy *copy)
{
	return crc32c(0, copy, offsetof(struct ledger_copy, crc));
}

static void read_boot(char *boot, size_t size)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(boot, (int)size, f))
		boot[0] = '\0';
	boot[strcspn(boot, "\n")] = '\0';
	if (f)
		fclose(f);
}

static void read_copies(struct ledger *l)
{
	struct ledger_copy copy;

	for (int i = 0; i < 2; i++) {
		if (pread(l->fd, &copy, sizeof(copy), i * COPY_BYTES) != (ssize_t)sizeof(copy) ||
			copy.magic != MAGIC || copy.crc != copy_crc(&copy) ||
			copy.sequence < l->sequence)
			continue;
		l->sequence = copy.sequence;
		l->state = copy.state;
	}
	l->state.boot[sizeof(l->state.boot) - 1] = '\0';
}

/* After a restart of the system, the monotonic clock is another one. */
static void follow_boot(struct ledger *l)
{
	char boot[sizeof(l->state.boot)] = "";

	read_boot(boot, sizeof(boot));
	if (strcmp(boot, l->state.boot) == 0)
		return;
	memcpy(l->state.boot, boot, sizeof(boot));
	l->state.until.monotonic_ns = 0;
}

void ledger_open(struct ledger *l, int folder_fd, const char *name)
{
	struct stat st;

	*l = (struct ledger){.fd = openat(folder_fd, name,
				     O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)};
	if (l->fd >= 0 && (fstat(l->fd, &st) != 0 || !S_ISREG(st.st_mode)))
		ledger_close(l);
	if (l->fd >= 0)
		read_copies(l);
	follow_boot(l);
	/* Both copies get their blocks while there may be room for them. */
	ledger_save(l);
	ledger_save(l);
}

void ledger_close(struct ledger *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

void ledger_save(struct ledger *l)
{
	struct ledger_copy copy;

	if (l->fd < 0)
		return;
	memset(&copy, 0, sizeof(copy));
	copy.magic = MAGIC;
	copy.sequence = ++l->sequence;
	copy.state = l->state;
	copy.crc = copy_crc(&copy);
	/* If it fails, the next one may not; the other copy stays. */
	if (pwrite(l->fd, &copy, sizeof(copy), (off_t)(l->sequence % 2) * COPY_BYTES) !=
		(ssize_t)sizeof(copy))
		l->sequence--;
}

/* ---- losses ---- */

void ledger_lose(struct ledger *l, enum ledger_loss loss, uint64_t amount)
{
	if (amount == 0)
		return;
	l->state.total[loss] += amount;
	l->state.untold[loss] += amount;
	ledger_save(l);
}

void ledger_give(struct ledger *l, uint32_t number, uint64_t *amounts)
{
	size_t at = 0;

	while (at < LEDGER_GIVEN_MAX && l->state.given[at].number != 0)
		at++;
	memset(amounts, 0, sizeof(l->state.untold));
	/* Without a place, a later segment tells. */
	if (at == LEDGER_GIVEN_MAX)
		return;
	memcpy(amounts, l->state.untold, sizeof(l->state.untold));
	memcpy(l->state.given[at].amounts, amounts, sizeof(l->state.untold));
	memset(l->state.untold, 0, sizeof(l->state.untold));
	l->state.given[at].number = (uint64_t)number + 1;
	ledger_save(l);
}

static void take_back(struct ledger *l, uint32_t number, bool is_told)
{
	for (size_t i = 0; i < LEDGER_GIVEN_MAX; i++) {
		if (l->state.given[i].number != (uint64_t)number + 1)
			continue;
		for (size_t k = 0; k < LEDGER_LOSSES && !is_told; k++)
			l->state.untold[k] += l->state.given[i].amounts[k];
		l->state.given[i].number = 0;
		ledger_save(l);
	}
}

void ledger_told(struct ledger *l, uint32_t number)
{
	take_back(l, number, true);
}

void ledger_not_told(struct ledger *l, uint32_t number)
{
	take_back(l, number, false);
}

void ledger_removing(struct ledger *l, uint32_t number, uint64_t bytes)
{
	l->state.removing = (uint64_t)number + 1;
	l->state.removing_bytes = bytes;
	ledger_save(l);
}

void ledger_removed(struct ledger *l, bool is_gone)
{
	if (is_gone && l->state.removing != 0) {
		l->state.total[LEDGER_DROPPED]++;
		l->state.untold[LEDGER_DROPPED]++;
		l->state.total[LEDGER_DROPPED_BYTES] += l->state.removing_bytes;
	}
	l->state.removing = 0;
	ledger_save(l);
}

/* ---- how far it has sampled ---- */

void ledger_set_until(struct ledger *l, struct ledger_instant until)
{
	l->state.until = until;
	ledger_save(l);
}

uint64_t ledger_gap_ns(const struct ledger *l, struct ledger_instant now)
{
	const struct ledger_instant *until = &l->state.until;

	if (until->monotonic_ns > 0)
		return now.monotonic_ns > until->monotonic_ns
			       ? now.monotonic_ns - until->monotonic_ns
			       : 0;
	return until->unix_ns > 0 && now.unix_ns > until->unix_ns ? now.unix_ns - until->unix_ns
								  : 0;
}
