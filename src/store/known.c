/*
 * A table of hashes and times, and its file: a magic number, the store's birth, 12 bytes an
 * entry, and a checksum.
 */
#include "store/known.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/draft.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/wire.h"

#define MAGIC	  STR("sonde known 2\n")
#define AGAIN_S	  86400
#define ROW_BYTES 12u

static void read_rows(struct known *k, struct str text)
{
	struct cursor c;

	if (text.size < MAGIC.size + sizeof(uint32_t) || !str_starts_with(text, MAGIC))
		return;
	size_t size = text.size - sizeof(uint32_t);

	cursor_init(&c, text.data + size, sizeof(uint32_t), "", 0);
	if (cursor_u32(&c) != crc32c(0, text.data, size))
		return;
	cursor_init(&c, text.data + MAGIC.size, size - MAGIC.size, "", 0);
	k->birth_s = cursor_u32(&c);
	while (cursor_left(&c) >= ROW_BYTES) {
		uint64_t hash = cursor_u64(&c);

		map_put(&k->sent_s, hash, 0, cursor_u32(&c));
	}
}

void known_load(struct known *k, const char *path, uint64_t now_s)
{
	struct file_bytes bytes;
	struct error *err = file_read(path, (uint64_t)KNOWN_MAX * ROW_BYTES * 2, &bytes);

	*k = (struct known){.now_s = now_s};
	if (err) {
		error_destroy(err);
		return;
	}
	read_rows(k, (struct str){(const char *)bytes.data, bytes.size});
	file_bytes_deinit(&bytes);
}

struct error *known_save(const struct known *k, const char *path)
{
	struct draft draft;
	struct strbuf b = {0};
	struct error *err = draft_open(&draft, AT_FDCWD, path, 0600);

	if (err)
		return err;
	strbuf_add(&b, MAGIC);
	wire_put_u32(&b, k->birth_s);
	for (size_t i = 0; i < k->sent_s.capacity; i++) {
		const struct map_slot *slot = &k->sent_s.slots[i];

		if (!slot->used || slot->value + AGAIN_S < k->now_s)
			continue;
		wire_put_u64(&b, slot->key[0]);
		wire_put_u32(&b, slot->value);
	}
	wire_put_u32(&b, crc32c(0, b.data, b.size));
	err = draft_end(&draft, file_write_all(draft.fd, b.data, b.size, path));
	strbuf_deinit(&b);
	return err;
}

void known_deinit(struct known *k)
{
	map_deinit(&k->sent_s);
}

bool known_has(const struct known *k, uint64_t hash)
{
	uint32_t sent_s;

	return map_get(&k->sent_s, hash, 0, &sent_s) && sent_s + (uint64_t)AGAIN_S > k->now_s;
}

static void forget(struct known *k)
{
	map_deinit(&k->sent_s);
	k->sent_s = (struct map){0};
}

void known_check_birth(struct known *k, uint32_t birth_s)
{
	if (k->birth_s != birth_s)
		forget(k);
	k->birth_s = birth_s;
}

void known_add(struct known *k, uint64_t hash)
{
	if (k->sent_s.count >= KNOWN_MAX)
		forget(k);
	map_put(&k->sent_s, hash, 0, (uint32_t)k->now_s);
}
