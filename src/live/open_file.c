/*
 * Opens zones memory in a file: the memory itself, compressed or not, or an ELF core dump that has
 * it in a segment.
 *
 * Linux dumps shared memory without a name in any folder by default (bit 1 of
 * /proc/PID/coredump_filter), memfds included.  A dump is large, and its program headers locate
 * each segment, so only the beginnings of segments are read.  Only 64-bit ELF, as in elf(5), in
 * this machine's byte order is supported, as the memory has this machine's layout.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/decompress.h"
#include "base/file.h"
#include "live/attach.h"
#include "zonereport/last_tick.h"

/* ---- core dumps ---- */

enum {
	ELF_CLASS_64 = 2,
	ELF_ORDER_LITTLE = 1,
	ELF_TYPE_CORE = 4,
	ELF_SEGMENT_LOAD = 1,
	ELF_MANY_SEGMENTS = 0xffff, /* the number is in the first section's header */
};
struct elf_header {
	uint8_t ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, segments_offset, sections_offset;
	uint32_t flags;
	uint16_t header_bytes, segment_bytes, segment_count, section_bytes, section_count,
		names_section;
};
struct elf_segment {
	uint32_t type, flags;
	uint64_t file_off, va, physical, file_bytes, memory_bytes, align;
};
struct elf_section {
	uint32_t name, type;
	uint64_t flags, va, file_off, bytes;
	uint32_t link, info;
	uint64_t align, row_bytes;
};

static bool read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool is_elf(const struct elf_header *elf)
{
	return memcmp(elf->ident, "\177ELF", 4) == 0;
}

static bool is_core(const struct elf_header *elf)
{
	return elf->ident[4] == ELF_CLASS_64 && elf->ident[5] == ELF_ORDER_LITTLE &&
	       elf->type == ELF_TYPE_CORE && elf->segment_bytes == sizeof(struct elf_segment);
}

static uint32_t segment_count(int fd, const struct elf_header *elf)
{
	struct elf_section first;

	if (elf->segment_count != ELF_MANY_SEGMENTS)
		return elf->segment_count;
	return read_at(fd, &first, sizeof(first), elf->sections_offset) ? first.info : 0;
}

/* Finds a segment that begins like zones memory; returns NULL or the problem. */
static const char *find_segment(
	int fd, uint64_t fd_bytes, const struct elf_header *elf, struct live_source *source)
{
	const char *problem = "contains no zones memory; was its program linked with "
			      "libsonde-zones, and bit 1 of /proc/PID/coredump_filter set?";
	uint32_t count = segment_count(fd, elf);

	for (uint32_t i = 0; i < count; i++) {
		struct elf_segment s;
		uint64_t magic;
		if (!read_at(fd, &s, sizeof(s), elf->segments_offset + (uint64_t)i * sizeof(s)))
			return "is a truncated core dump";
		if (s.type != ELF_SEGMENT_LOAD || s.file_bytes < ZONEWIRE_HEADER_BYTES)
			continue;
		if (s.file_off >= fd_bytes) {
			problem = "is a truncated core dump";
			continue;
		}
		if (!read_at(fd, &magic, sizeof(magic), s.file_off) || magic != ZONEWIRE_MAGIC)
			continue;
		if (s.file_bytes > fd_bytes - s.file_off)
			return "is a truncated core dump";
		*source = (struct live_source){.fd = fd, .base = s.file_off, .size = s.file_bytes};
		return NULL;
	}
	return problem;
}

/* ---- any file ---- */

static const char *copy_core(
	struct live_memory *memory, int fd, uint64_t bytes, const struct elf_header *elf)
{
	struct live_source source;
	const char *problem;

	if (!is_core(elf))
		return "neither a core dump of this kind of machine nor zones memory";
	problem = find_segment(fd, bytes, elf, &source);
	return problem ? problem : live_memory_copy(memory, &source);
}

/* Anything else may be compressed. */
static struct error *copy_packed(struct live_memory *memory, const char *path)
{
	struct file_bytes bytes;
	struct error *err = file_read(path, LIVE_BYTES_MAX, &bytes);

	if (err)
		return err;
	if (bytes.size && !is_compressed(&bytes))
		err = error_new(ERROR_INPUT, "%s: neither zones memory nor a core dump", path);
	else
		err = decompress(path, LIVE_BYTES_MAX, &bytes, NULL);
	if (err == NULL) {
		const char *problem = live_memory_copy(memory,
			&(struct live_source){.fd = -1, .size = bytes.size, .data = bytes.data});
		if (problem)
			err = error_new(ERROR_INPUT, "%s: %s", path, problem);
	}
	file_bytes_deinit(&bytes);
	return err;
}

static struct error *copy_file(struct live_memory *memory, const char *path, int fd)
{
	union {
		struct elf_header elf;
		uint64_t magic;
	} start = {0};
	const char *problem;
	struct stat info;

	if (fstat(fd, &info) != 0)
		return error_system(errno, "cannot read %s", path);
	if (!S_ISREG(info.st_mode))
		return error_new(ERROR_INPUT, "%s: is not a file", path);
	uint64_t bytes = (uint64_t)info.st_size;
	(void)!pread(fd, &start, sizeof(start), 0);
	if (is_elf(&start.elf))
		problem = copy_core(memory, fd, bytes, &start.elf);
	else if (start.magic == ZONEWIRE_MAGIC)
		problem = live_memory_copy(memory, &(struct live_source){.fd = fd, .size = bytes});
	else
		return copy_packed(memory, path);
	return problem ? error_new(ERROR_INPUT, "%s: %s", path, problem) : NULL;
}

struct error *live_open_file(const char *path, struct live **result)
{
	struct live_memory memory = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return error_system(errno, "cannot open %s", path);
	struct error *err = copy_file(&memory, path, fd);
	close(fd);
	if (err)
		return err;
	live_memory_end(&memory, zone_region_last_tick(&memory.region),
		zone_region_tells_end(&memory.region) ? ZONEWIRE_SAVED : ZONEWIRE_SAVED_AFTER);
	struct live *live = xalloc(sizeof(*live));
	*live = (struct live){.path = xstrdup(path),
		.memory = memory,
		.pidfd = -1,
		.fd = -1,
		.place_fd = -1,
		.state = LIVE_SAVED};
	*result = live;
	return NULL;
}
