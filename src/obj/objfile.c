/*
 * Reads ELF files with libelf.
 *
 * Everything is read with pread on demand; nothing is mapped.  So if a file is truncated while it
 * is open, a read fails instead of raising SIGBUS, and opening a library of 100 MB costs no more
 * than opening a small one.  Sizes in the file are bounded before anything is allocated; sections
 * are decompressed here instead of by libelf, to control the bound and to support zstd.
 *
 * Sources: the System V gABI (chapters 4 and 5, "Section Compression"), the LSB on notes.
 */
#include "obj/objfile.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "obj/build_id.h"
#include "obj/section_unpack.h"

/* Bounds on what a file may make us allocate. */
#define SECTION_SIZE_MAX  SECTION_UNPACK_MAX
#define NOTES_SIZE_MAX	  ((uint64_t)1 << 20)
#define SEGMENT_COUNT_MAX 65536

/* Smaller packed sections are not worth storing: they unpack fast. */
#define STORE_MIN ((size_t)64 << 10)

struct unpacked { /* a decompressed section */
	size_t index;
	uint8_t *bytes;
	size_t size;
};

struct objfile {
	Elf *elf;
	int fd; /* -1: in memory */
	char *name;
	GElf_Ehdr header;
	size_t section_names; /* index of the section that holds the names, 0: none */
	build_id_text build_id;
	size_t build_id_size;
	VEC(struct objfile_segment) segments;
	uint64_t eh_frame_hdr_off, eh_frame_hdr_addr,
		eh_frame_hdr_size; /* PT_GNU_EH_FRAME; size 0 */
	VEC(struct unpacked) unpacked;
	const struct objfile_store *store; /* NULL: none */
};

/* ---- opening ---- */

/* size bytes of the file at offset, owned by libelf until close; NULL if the file is too short. */
static const uint8_t *file_chunk(struct objfile *file, uint64_t offset, uint64_t size)
{
	if (size == 0 || size > SECTION_SIZE_MAX || offset > INT64_MAX)
		return NULL;
	Elf_Data *data = elf_getdata_rawchunk(file->elf, (int64_t)offset, size, ELF_T_BYTE);
	return data && data->d_size == size ? data->d_buf : NULL;
}

static void take_notes(struct objfile *file, const GElf_Phdr *ph)
{
	if (file->build_id_size || ph->p_filesz > NOTES_SIZE_MAX)
		return;
	const uint8_t *notes = file_chunk(file, ph->p_offset, ph->p_filesz);
	if (notes)
		file->build_id_size =
			build_id_in_notes(notes, ph->p_filesz, ph->p_align, file->build_id);
}

static void take_segments(struct objfile *file)
{
	size_t count = 0;

	if (elf_getphdrnum(file->elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && i < SEGMENT_COUNT_MAX; i++) {
		GElf_Phdr ph;
		if (gelf_getphdr(file->elf, (int)i, &ph) == NULL)
			break;
		if (ph.p_type == PT_LOAD) {
			vec_push(&file->segments,
				(struct objfile_segment){ph.p_offset, ph.p_filesz, ph.p_vaddr,
					ph.p_memsz, (ph.p_flags & PF_X) != 0});
		} else if (ph.p_type == PT_NOTE) {
			take_notes(file, &ph);
		} else if (ph.p_type == PT_GNU_EH_FRAME) {
			file->eh_frame_hdr_off = ph.p_offset;
			file->eh_frame_hdr_addr = ph.p_vaddr;
			file->eh_frame_hdr_size = ph.p_filesz;
		}
	}
}

/* Relocatable files (kernel modules) and separate debug files may have notes in sections only. */
static void take_note_sections(struct objfile *file)
{
	Elf_Scn *scn = NULL;

	while (file->build_id_size == 0 && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		GElf_Shdr sh;
		if (gelf_getshdr(scn, &sh) == NULL || sh.sh_type != SHT_NOTE ||
			sh.sh_size > NOTES_SIZE_MAX)
			continue;
		const uint8_t *notes = file_chunk(file, sh.sh_offset, sh.sh_size);
		if (notes)
			file->build_id_size = build_id_in_notes(
				notes, sh.sh_size, sh.sh_addralign, file->build_id);
	}
}

/* any: also accept other classes and byte orders. */
static struct error *take_headers(struct objfile *file, bool any)
{
	if (elf_kind(file->elf) != ELF_K_ELF || gelf_getehdr(file->elf, &file->header) == NULL)
		return error_new(ERROR_INPUT, "%s: not an ELF file", file->name);
	if (!any && (!objfile_is_64bit(file) || objfile_is_big_endian(file)))
		return error_new(ERROR_UNSUPPORTED,
			"%s: an ELF file, but not a little-endian 64-bit one", file->name);
	if (elf_getshdrstrndx(file->elf, &file->section_names) != 0)
		file->section_names = 0;
	take_segments(file);
	take_note_sections(file);
	return NULL;
}

/* Takes over fd. */
static struct error *create(Elf *elf, int fd, const char *name, bool any, struct objfile **result)
{
	struct objfile *file = xalloc(sizeof(*file));

	file->elf = elf;
	file->fd = fd;
	file->name = xstrdup(name);
	struct error *err =
		elf ? take_headers(file, any) : error_new(ERROR_INPUT, "%s: not an ELF file", name);
	if (err)
		objfile_close(file);
	else
		*result = file;
	return err;
}

static struct error *open_path(const char *path, bool any, struct objfile **file)
{
	/* O_NONBLOCK: do not wait on a fifo; no effect on regular files. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return error_system(errno, "%s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_new(ERROR_INPUT, "%s: not a regular file", path);
	}
	elf_version(EV_CURRENT);
	return create(elf_begin(fd, ELF_C_READ, NULL), fd, path, any, file);
}

static struct error *open_memory(
	const void *bytes, size_t size, const char *name, bool any, struct objfile **file)
{
	elf_version(EV_CURRENT);
	/* libelf's parameter is not const, but it writes only for elf_update and conversions. */
	return create(elf_memory((char *)(uintptr_t)bytes, size), -1, name, any, file);
}

struct error *objfile_open(const char *path, struct objfile **file)
{
	return open_path(path, false, file);
}

struct error *objfile_open_any(const char *path, struct objfile **file)
{
	return open_path(path, true, file);
}

struct error *objfile_open_memory(
	const void *bytes, size_t size, const char *name, struct objfile **file)
{
	return open_memory(bytes, size, name, false, file);
}

struct error *objfile_open_any_memory(
	const void *bytes, size_t size, const char *name, struct objfile **file)
{
	return open_memory(bytes, size, name, true, file);
}

void objfile_close(struct objfile *file)
{
	if (file == NULL)
		return;
	for (size_t i = 0; i < file->unpacked.count; i++)
		free(file->unpacked.data[i].bytes);
	vec_deinit(&file->unpacked);
	vec_deinit(&file->segments);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->name);
	free(file);
}

/* ---- facts ---- */

const char *objfile_name(const struct objfile *file)
{
	return file->name;
}

struct str objfile_build_id(const struct objfile *file)
{
	return (struct str){file->build_id, file->build_id_size};
}

unsigned int objfile_machine(const struct objfile *file)
{
	return file->header.e_machine;
}

bool objfile_is_64bit(const struct objfile *file)
{
	return file->header.e_ident[EI_CLASS] == ELFCLASS64;
}

bool objfile_is_big_endian(const struct objfile *file)
{
	return file->header.e_ident[EI_DATA] == ELFDATA2MSB;
}

bool objfile_is_relocatable(const struct objfile *file)
{
	return file->header.e_type == ET_REL;
}

uint64_t objfile_entry(const struct objfile *file)
{
	return file->header.e_entry;
}

uint64_t objfile_headers_size(const struct objfile *file)
{
	const GElf_Ehdr *header = &file->header;
	uint64_t end;

	if (__builtin_add_overflow(
		    header->e_phoff, (uint64_t)header->e_phnum * header->e_phentsize, &end) ||
		end < header->e_ehsize)
		end = header->e_ehsize;
	return end;
}

size_t objfile_segment_count(const struct objfile *file)
{
	return file->segments.count;
}

struct objfile_segment objfile_segment(const struct objfile *file, size_t i)
{
	return file->segments.data[i];
}

/*
 * How well a segment explains a mapping that begins at file_off; 0: not at all.  The loader maps
 * whole pages, so a page may belong to two segments.  Unless a mapping was split later, it begins
 * with its segment.
 */
static unsigned int segment_fit(const struct objfile_segment *s, uint64_t file_off)
{
	static const uint64_t page_mask = 4095;
	uint64_t page_off = s->file_off & ~page_mask;

	if (file_off < page_off || file_off - page_off >= s->file_size + (s->file_off & page_mask))
		return 0;
	return 1u + (file_off == page_off ? 2u : 0u) + (s->executable ? 1u : 0u);
}

bool objfile_slide(const struct objfile *file, uint64_t va, uint64_t file_off, uint64_t *slide)
{
	unsigned int best = 0;

	for (size_t i = 0; i < file->segments.count; i++) {
		const struct objfile_segment *s = &file->segments.data[i];
		unsigned int fit = segment_fit(s, file_off);
		if (fit <= best)
			continue;
		best = fit;
		*slide = va - (s->obj_addr - s->file_off + file_off);
	}
	return best != 0;
}

/* ---- sections ---- */

void objfile_set_store(struct objfile *file, const struct objfile_store *store)
{
	file->store = store;
}

/* The store's key for a packed section; NULL: the section is too small, or the file has no name. */
static char *store_key(const struct objfile *file, const struct objfile_section *section)
{
	if (file->store == NULL || file->build_id_size == 0 || section->size < STORE_MIN)
		return NULL;
	return xasprintf("%s-%u-%zx", file->build_id, section->index, section->size);
}

/* Unpacks a section, or loads it from the store; NULL: the data is invalid. */
static uint8_t *unpack_or_load(const struct objfile *file, const struct objfile_section *section,
	bool gnu_style, uint64_t *size)
{
	char *key = store_key(file, section);
	uint8_t *bytes = NULL;

	if (key && section_unpacked_size(section->bytes, section->size, gnu_style, size))
		bytes = file->store->load(file->store->context, key, *size);
	if (bytes == NULL) {
		bytes = section_unpack(section->bytes, section->size, gnu_style, size);
		if (bytes && key)
			file->store->keep(file->store->context, key, bytes, *size);
	}
	free(key);
	return bytes;
}

static bool section_unpacked(struct objfile *file, struct objfile_section *section, bool gnu_style)
{
	for (size_t i = 0; i < file->unpacked.count; i++) {
		if (file->unpacked.data[i].index == section->index) {
			section->bytes = file->unpacked.data[i].bytes;
			section->size = file->unpacked.data[i].size;
			return true;
		}
	}
	uint64_t size = 0;
	uint8_t *bytes = unpack_or_load(file, section, gnu_style, &size);
	if (bytes == NULL)
		return false;
	vec_push(&file->unpacked, (struct unpacked){section->index, bytes, size});
	section->bytes = bytes;
	section->size = size;
	return true;
}

static struct objfile_section section_header(Elf_Scn *scn, const GElf_Shdr *sh)
{
	return (struct objfile_section){
		.obj_addr = sh->sh_addr,
		.file_off = sh->sh_offset,
		.size = sh->sh_size,
		.type = sh->sh_type,
		.index = (uint32_t)elf_ndxscn(scn),
		.link = sh->sh_link,
		.entry_size = sh->sh_entsize,
		.flags = sh->sh_flags,
	};
}

/* Reads a section; gnu_style: its name begins with .zdebug_. */
static bool section_read(struct objfile *file, Elf_Scn *scn, const GElf_Shdr *sh, bool gnu_style,
	struct objfile_section *section)
{
	struct objfile_section s = section_header(scn, sh);

	if (sh->sh_type != SHT_NOBITS) {
		if (sh->sh_size > SECTION_SIZE_MAX)
			return false;
		Elf_Data *data = elf_rawdata(scn, NULL);
		if (data == NULL || (data->d_buf == NULL && sh->sh_size != 0))
			return false;
		s.bytes = data->d_buf ? data->d_buf : (const uint8_t *)"";
		s.size = data->d_size;
		if (((sh->sh_flags & SHF_COMPRESSED) || gnu_style) &&
			!section_unpacked(file, &s, gnu_style))
			return false;
	}
	*section = s;
	return true;
}

static const char *section_name(struct objfile *file, const GElf_Shdr *sh)
{
	const char *name = elf_strptr(file->elf, file->section_names, sh->sh_name);

	return name ? name : "";
}

static bool section_by_name(
	struct objfile *file, const char *name, bool gnu_style, struct objfile_section *section)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while (file->section_names && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &sh) && strcmp(section_name(file, &sh), name) == 0)
			return section_read(file, scn, &sh, gnu_style, section);
	}
	return false;
}

bool objfile_section(struct objfile *file, const char *name, struct objfile_section *section)
{
	static const char prefix[] = ".debug_";

	if (section_by_name(file, name, false, section))
		return true;
	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	char *packed = xasprintf(".z%s", name + 1);
	bool found = section_by_name(file, packed, true, section);
	free(packed);
	return found;
}

bool objfile_section_of_type(struct objfile *file, uint32_t type, struct objfile_section *section)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &sh) && sh.sh_type == type)
			return section_read(file, scn, &sh, false, section);
	}
	return false;
}

bool objfile_section_at(struct objfile *file, uint32_t index, struct objfile_section *section)
{
	Elf_Scn *scn = elf_getscn(file->elf, index);
	GElf_Shdr sh;

	return index && scn && gelf_getshdr(scn, &sh) &&
	       section_read(file, scn, &sh, false, section);
}

bool objfile_section_header(struct objfile *file, uint32_t index, struct objfile_section *section)
{
	Elf_Scn *scn = elf_getscn(file->elf, index);
	GElf_Shdr sh;

	if (index == 0 || scn == NULL || gelf_getshdr(scn, &sh) == NULL)
		return false;
	*section = section_header(scn, &sh);
	return true;
}

bool objfile_header_named(struct objfile *file, const char *name, struct objfile_section *section)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while (file->section_names && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &sh) && strcmp(section_name(file, &sh), name) == 0) {
			*section = section_header(scn, &sh);
			return true;
		}
	}
	return false;
}

bool objfile_has_contents(struct objfile *file, const char *name)
{
	struct objfile_section section;

	return objfile_header_named(file, name, &section) && section.type != SHT_NOBITS;
}

/* ---- by position ---- */

bool objfile_place(
	const struct objfile *file, uint64_t obj_addr, uint64_t *file_off, uint64_t *left)
{
	for (size_t i = 0; i < file->segments.count; i++) {
		const struct objfile_segment *s = &file->segments.data[i];
		if (obj_addr < s->obj_addr || obj_addr - s->obj_addr >= s->file_size)
			continue;
		*file_off = s->file_off + (obj_addr - s->obj_addr);
		*left = s->file_size - (obj_addr - s->obj_addr);
		return true;
	}
	return false;
}

bool objfile_read(struct objfile *file, uint64_t file_off, uint8_t *bytes, size_t size)
{
	/* libelf would keep the bytes until the file is closed. */
	if (file->fd >= 0)
		return pread(file->fd, bytes, size, (off_t)file_off) == (ssize_t)size;
	const uint8_t *chunk = file_chunk(file, file_off, size);
	if (chunk)
		memcpy(bytes, chunk, size);
	return chunk != NULL;
}

bool objfile_eh_frame_hdr_header(struct objfile *file, struct objfile_section *section)
{
	if (objfile_header_named(file, ".eh_frame_hdr", section) && section->type != SHT_NOBITS)
		return true;
	*section = (struct objfile_section){.obj_addr = file->eh_frame_hdr_addr,
		.file_off = file->eh_frame_hdr_off,
		.size = file->eh_frame_hdr_size,
		.type = SHT_PROGBITS};
	return section->size != 0;
}

bool objfile_eh_frame_hdr(struct objfile *file, struct objfile_section *section)
{
	if (objfile_section(file, ".eh_frame_hdr", section) && section->bytes)
		return true;
	const uint8_t *bytes = file_chunk(file, file->eh_frame_hdr_off, file->eh_frame_hdr_size);
	if (bytes == NULL)
		return false;
	*section = (struct objfile_section){.obj_addr = file->eh_frame_hdr_addr,
		.bytes = bytes,
		.size = file->eh_frame_hdr_size,
		.type = SHT_PROGBITS};
	return true;
}

const uint8_t *objfile_bytes(struct objfile *file, uint64_t file_off, uint64_t size)
{
	return file_chunk(file, file_off, size);
}
