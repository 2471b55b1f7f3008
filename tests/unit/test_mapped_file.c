/*
 * The files of mappings, and their build IDs: small ELF files that this process maps, deletes,
 * replaces and overwrites.
 */
#include "record/processes/mapped_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../scratch.h"
#include "../unit.h"
#include "base/clock.h"
#include "base/process_file.h"
#include "record/processes/proc.h"

enum { FILE_SIZE = 8192, ID_SIZE = 8, PADDING_SIZE = 100 };

struct note {
	uint32_t name_size, id_size, type;
	char name[4];
	uint8_t id[ID_SIZE];
};

static const char *text_of_id(uint8_t first)
{
	static build_id_text text;

	snprintf(text, sizeof(text), "%02x00000000000000", first);
	return text;
}

/* A file whose notes are not where its memory says, so that an image is read otherwise. */
struct made {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	uint8_t padding[PADDING_SIZE];
	struct note note;
};

static void make64(uint8_t *bytes, uint8_t first)
{
	struct made m = {.header = {.e_type = ET_DYN,
				 .e_machine = EM_X86_64,
				 .e_version = EV_CURRENT,
				 .e_ehsize = sizeof(Elf64_Ehdr),
				 .e_phoff = offsetof(struct made, segments),
				 .e_phentsize = sizeof(Elf64_Phdr),
				 .e_phnum = 2},
		.segments = {{.p_type = PT_NOTE,
				     .p_offset = offsetof(struct made, note),
				     .p_vaddr = 0x400000 + offsetof(struct made, note),
				     .p_filesz = sizeof(struct note),
				     .p_align = 4},
			{.p_type = PT_LOAD, .p_vaddr = 0x400000, .p_filesz = FILE_SIZE}},
		.note = {4, ID_SIZE, NT_GNU_BUILD_ID, "GNU", {first}}};

	memcpy(m.header.e_ident, ELFMAG, SELFMAG);
	m.header.e_ident[EI_CLASS] = ELFCLASS64;
	m.header.e_ident[EI_DATA] = ELFDATA2LSB;
	m.header.e_ident[EI_VERSION] = EV_CURRENT;
	memset(bytes, 0, FILE_SIZE);
	memcpy(bytes, &m, sizeof(m));
}

static void make32(uint8_t *bytes, uint8_t first)
{
	Elf32_Ehdr header = {
		.e_phoff = sizeof(header), .e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 1};
	Elf32_Phdr segment = {.p_type = PT_NOTE,
		.p_offset = sizeof(header) + sizeof(segment),
		.p_filesz = sizeof(struct note),
		.p_align = 4};
	struct note note = {4, ID_SIZE, NT_GNU_BUILD_ID, "GNU", {first}};

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS32;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	memset(bytes, 0, FILE_SIZE);
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), &segment, sizeof(segment));
	memcpy(bytes + segment.p_offset, &note, sizeof(note));
}

struct fixture {
	char *folder, path[256];
	struct object_table *objects;
	uint8_t bytes[FILE_SIZE];
	struct object_origin origin; /* of the mapping at memory */
	void *memory;
};

/* Writes f->bytes; with O_TRUNC in place. */
static void write_file(struct fixture *f, int flags)
{
	int fd = open(f->path, O_WRONLY | O_CREAT | flags, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, f->bytes, FILE_SIZE), FILE_SIZE);
	close(fd);
}

static void take_line(void *context, const struct maps_line *line)
{
	struct fixture *f = context;

	if (line->low_va != (uint64_t)(uintptr_t)f->memory)
		return;
	f->origin = (struct object_origin){.pid = getpid(),
		.path = str_from(f->path),
		.low_va = line->low_va,
		.high_va = line->high_va,
		.device = line->device,
		.inode = line->inode,
		.time_ns = clock_monotonic_ns()};
}

static void map_file(struct fixture *f)
{
	int fd = open(f->path, O_RDONLY);

	assert_true(fd >= 0);
	f->memory = mmap(NULL, FILE_SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(f->memory, MAP_FAILED);
	close(fd);
	maps_read(getpid(), take_line, f);
	assert_int_not_equal(f->origin.inode, 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->folder = scratch_create();
	snprintf(f->path, sizeof(f->path), "%s/made.so", f->folder);
	f->objects = object_table_create(NULL);
	make64(f->bytes, 1);
	write_file(f, 0);
	map_file(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	munmap(f->memory, FILE_SIZE);
	object_table_destroy(f->objects);
	scratch_destroy(f->folder);
	free(f);
	return 0;
}

static void assert_id(struct fixture *f, uint32_t object, const char *id)
{
	struct str found = object_table_info(f->objects, object).build_id;

	assert_int_equal(found.size, strlen(id));
	assert_memory_equal(found.data, id, found.size);
}

/* The process that had it mapped. */
static int64_t ended_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void from_the_file(void **state)
{
	struct fixture *f = *state;
	uint32_t object = object_table_mapped(f->objects, &f->origin);

	assert_id(f, object, text_of_id(1));
	assert_int_equal(object_table_mapped(f->objects, &f->origin), object);
	assert_true(object_table_open(f->objects, object));
	assert_false(object_table_is_replaced(f->objects, object));
	/* Of another path, it is another object. */
	f->origin.path = STR("/nowhere/made.so");
	assert_int_not_equal(object_table_mapped(f->objects, &f->origin), object);
}

static void of_a_32_bit_file(void **state)
{
	struct fixture *f = *state;

	make32(f->bytes, 7);
	assert_int_equal(unlink(f->path), 0);
	write_file(f, 0);
	map_file(f);
	assert_id(f, object_table_mapped(f->objects, &f->origin), text_of_id(7));
}

/* Neither the path nor the mapping leads to it: the memory does. */
static void from_memory(void **state)
{
	struct fixture *f = *state;

	f->origin.low_va = f->origin.high_va = 0;
	f->origin.path = STR("/nowhere/made.so (deleted)");
	uint32_t object = object_table_mapped(f->objects, &f->origin);

	assert_id(f, object, text_of_id(1));
	assert_false(object_table_open(f->objects, object));
}

/* The inode at the path is another one, as overlayfs shows it: the build ID decides. */
static void from_memory_and_path(void **state)
{
	struct fixture *f = *state;

	f->origin.low_va = f->origin.high_va = 0;
	make64(f->bytes, 1);
	assert_int_equal(unlink(f->path), 0);
	write_file(f, 0);
	uint32_t object = object_table_mapped(f->objects, &f->origin);

	assert_id(f, object, text_of_id(1));
	assert_true(object_table_open(f->objects, object));
}

static void of_another_file_at_the_path(void **state)
{
	struct fixture *f = *state;

	f->origin.low_va = f->origin.high_va = 0;
	make64(f->bytes, 2);
	assert_int_equal(unlink(f->path), 0);
	write_file(f, 0);
	uint32_t object = object_table_mapped(f->objects, &f->origin);

	assert_id(f, object, text_of_id(1));
	assert_false(object_table_open(f->objects, object));
}

/* A process that is gone, in a mount namespace that is gone. */
static void of_a_process_that_is_gone(void **state)
{
	struct fixture *f = *state;
	uint32_t object = object_table_mapped(f->objects, &f->origin);
	struct object_origin origin = f->origin;

	origin.pid = ended_process();
	assert_int_equal(unlink(f->path), 0);
	assert_int_equal(object_table_mapped(f->objects, &origin), object);
	/* Another inode there was never seen. */
	origin.inode++;
	assert_id(f, object_table_mapped(f->objects, &origin), "");
}

/* In place: the same inode has other contents, and each version is an object of its own. */
static void overwritten(void **state)
{
	struct fixture *f = *state;
	struct timespec later = {.tv_sec = 1, .tv_nsec = 7};
	uint32_t first = object_table_mapped(f->objects, &f->origin);

	make64(f->bytes, 2);
	write_file(f, O_TRUNC);
	/* Long ago, so that it does not look written since it was mapped. */
	assert_int_equal(utimensat(AT_FDCWD, f->path, (struct timespec[]){later, later}, 0), 0);
	uint32_t second = object_table_mapped(f->objects, &f->origin);

	assert_int_not_equal(first, second);
	assert_id(f, second, text_of_id(2));
	assert_false(object_table_open(f->objects, first));
	assert_true(object_table_open(f->objects, second));
	assert_true(object_table_is_replaced(f->objects, first));
	assert_false(object_table_is_replaced(f->objects, second));
}

/* Before it was looked at: which build was mapped, nobody knows. */
static void overwritten_since_it_was_mapped(void **state)
{
	struct fixture *f = *state;

	f->origin.time_ns -= SECOND_NS;
	make64(f->bytes, 2);
	write_file(f, O_TRUNC);
	uint32_t object = object_table_mapped(f->objects, &f->origin);

	assert_id(f, object, "");
	assert_true(object_table_is_replaced(f->objects, object));
	assert_false(object_table_open(f->objects, object));
}

TEST(a_vdso_has_one)
{
	struct object_table *objects = object_table_create(NULL);
	struct object_origin origin = {.pid = getpid(), .path = STR("[vdso]")};
	uint32_t object = object_table_mapped(objects, &origin);

	assert_true(object_table_info(objects, object).build_id.size >= 2 * 8);
	assert_true(object_table_open(objects, object));
	object_table_destroy(objects);
}

/*
 * A process whose root is a folder, as a container's is: where its links lead in ours, it has
 * nothing.
 */
TEST(links_of_another_root_stay_in_it)
{
	char outside[128], link[128], inside[128], relative[128];
	int ready[2], fd;
	char byte;

	if (geteuid() != 0)
		skip();
	char *root = scratch_create();

	snprintf(outside, sizeof(outside), "%s-outside", root);
	snprintf(inside, sizeof(inside), "%s/inside", root);
	snprintf(link, sizeof(link), "%s/link", root);
	snprintf(relative, sizeof(relative), "%s/relative", root);
	for (int i = 0; i < 2; i++) {
		fd = open(i ? inside : outside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
	assert_int_equal(symlink(outside, link), 0);
	assert_int_equal(symlink("/inside", relative), 0);
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();

	if (pid == 0)
		_exit(chroot(root) != 0 || write(ready[1], "", 1) != 1 || pause());
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(process_file_open(pid, "/link", O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
	fd = process_file_open(pid, "/relative", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	unlink(outside);
	scratch_destroy(root);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(from_the_file),
		WITH_FILE(of_a_32_bit_file),
		WITH_FILE(from_memory),
		WITH_FILE(from_memory_and_path),
		WITH_FILE(of_another_file_at_the_path),
		WITH_FILE(of_a_process_that_is_gone),
		WITH_FILE(overwritten),
		WITH_FILE(overwritten_since_it_was_mapped),
		cmocka_unit_test(a_vdso_has_one),
		cmocka_unit_test(links_of_another_root_stay_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
