/*
 * Locates the unwind rules in an ELF file, and the input for deriving rules where it has none:
 * code, and the starts of functions.
 */
#include <elf.h>
#include <string.h>

#include "obj/bare_code.h"
#include "obj/cfi.h"
#include "obj/code_frames.h"
#include "obj/go_functions.h"
#include "obj/lazy_bytes.h"
#include "obj/objfile.h"
#include "obj/plt.h"
#include "obj/section_unpack.h"
#include "obj/symtab.h"

/* ---- sections of rules ---- */

/*
 * Without section headers (images from memory, stripped files), .eh_frame is found through its
 * index.  .eh_frame_hdr begins with a version, three encodings and the address of .eh_frame, which
 * all linkers write as a signed, pc-relative 32-bit number.
 */
static bool eh_frame_place(
	struct objfile *file, uint64_t *obj_addr, uint64_t *file_off, uint64_t *left)
{
	struct objfile_section header;
	uint8_t head[8];
	int32_t distance;

	if (!objfile_eh_frame_hdr_header(file, &header) || header.size < sizeof(head) ||
		!objfile_read(file, header.file_off, head, sizeof(head)) || head[0] != 1 ||
		head[1] != 0x1b)
		return false;
	memcpy(&distance, head + 4, sizeof(distance));
	*obj_addr = header.obj_addr + 4 + (uint64_t)(int64_t)distance;
	return objfile_place(file, *obj_addr, file_off, left);
}

static bool eh_frame_by_index(struct objfile *file, struct cfi_section *section)
{
	uint64_t obj_addr, file_off, left;

	if (!eh_frame_place(file, &obj_addr, &file_off, &left))
		return false;
	const uint8_t *bytes = objfile_bytes(file, file_off, left);
	if (bytes == NULL)
		return false;
	*section = (struct cfi_section){
		.bytes = bytes, .size = left, .obj_addr = obj_addr, .kind = CFI_EH_FRAME_UNSIZED};
	return true;
}

static bool cfi_section_named(
	struct objfile *file, const char *name, enum cfi_section_kind kind, struct cfi_section *out)
{
	struct objfile_section s;

	if (!objfile_section(file, name, &s) || s.bytes == NULL || s.size == 0)
		return false;
	*out = (struct cfi_section){
		.bytes = s.bytes, .size = s.size, .obj_addr = s.obj_addr, .kind = kind};
	return true;
}

static uint64_t section_addr(struct objfile *file, const char *name)
{
	struct objfile_section section;

	return objfile_header_named(file, name, &section) ? section.obj_addr : 0;
}

/* Everything except the sections of rules. */
static struct cfi_object object_facts(struct objfile *file)
{
	return (struct cfi_object){
		.name = objfile_name(file),
		.arch = arch_of_machine(objfile_machine(file)),
		.text_addr = section_addr(file, ".text"),
		.data_addr = section_addr(file, ".got"),
	};
}

size_t objfile_cfi_sections(
	struct objfile *file, struct cfi_section *sections, struct cfi_object *object)
{
	size_t count = 0;

	if (cfi_section_named(file, ".eh_frame", CFI_EH_FRAME, &sections[count]) ||
		eh_frame_by_index(file, &sections[count]))
		count++;
	if (cfi_section_named(file, ".debug_frame", CFI_DEBUG_FRAME, &sections[count]))
		count++;
	*object = object_facts(file);
	return count;
}

/* ---- code without unwind rules ---- */

/* The file's processor if rules can be derived from its code, else NULL. */
static const struct arch *code_arch(const struct objfile *file)
{
	const struct arch *arch = arch_of_machine(objfile_machine(file));

	return arch && arch->decode ? arch : NULL;
}

static bool read_code(void *context, uint64_t obj_addr, uint8_t *bytes, size_t size)
{
	struct objfile *file = context;
	uint64_t file_off, left;

	return objfile_place(file, obj_addr, &file_off, &left) && size <= left &&
	       objfile_read(file, file_off, bytes, size);
}

void objfile_add_relocated(struct objfile *file, struct code_starts *starts)
{
	const struct arch *arch = code_arch(file);
	struct objfile_section relocations;
	Elf64_Rela one;

	if (arch == NULL || !objfile_section(file, ".rela.dyn", &relocations) ||
		relocations.bytes == NULL)
		return;
	for (size_t off = 0; off + sizeof(one) <= relocations.size; off += sizeof(one)) {
		memcpy(&one, relocations.bytes + off, sizeof(one));
		if (ELF64_R_TYPE(one.r_info) == arch->relative_relocation)
			vec_push(&starts->addrs, (uint64_t)one.r_addend);
	}
}

/* Symbol and relocation tables up to this total size are read completely. */
#define TABLES_SMALL ((uint64_t)4 << 20)

static bool tables_are_small(struct objfile *file)
{
	struct objfile_section section;
	uint64_t size = 0;

	for (uint32_t i = 1; objfile_section_header(file, i, &section); i++)
		if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM ||
			section.type == SHT_RELA)
			size += section.size < TABLES_SMALL ? section.size : TABLES_SMALL + 1;
	return size <= TABLES_SMALL;
}

/* Adds the functions of a symbol table, which is read in pieces. */
static void add_functions(
	struct objfile *file, uint64_t file_off, uint64_t size, struct code_starts *starts)
{
	Elf64_Sym symbols[1024];

	for (uint64_t off = 0; off + sizeof(*symbols) <= size; off += sizeof(symbols)) {
		uint64_t count = (size - off) / sizeof(*symbols);

		count = count < ARRAY_SIZE(symbols) ? count : ARRAY_SIZE(symbols);
		if (!objfile_read(
			    file, file_off + off, (uint8_t *)symbols, count * sizeof(*symbols)))
			return;
		for (size_t i = 0; i < count; i++)
			if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
				symbols[i].st_shndx != SHN_UNDEF)
				vec_push(&starts->addrs, symbols[i].st_value);
	}
}

static void add_stubs(struct objfile *file, struct code_starts *starts)
{
	enum { STUB_BYTES = 16 };
	struct plt_section sections[PLT_SECTION_MAX];
	size_t count = plt_sections(file, sections);

	for (size_t i = 0; i < count; i++)
		for (uint64_t at = sections[i].low; at < sections[i].high; at += STUB_BYTES)
			vec_push(&starts->addrs, at);
}

static void add_go_function(void *context, uint64_t low, uint64_t high, const char *name)
{
	struct code_starts *starts = context;

	(void)high;
	(void)name;
	vec_push(&starts->addrs, low);
}

/* For large tables: only starts that are cheap to find, so no names and no pointers in data. */
static void add_starts_of_large(struct objfile *file, struct code_starts *starts)
{
	struct objfile_section s;

	for (uint32_t i = 1; objfile_section_header(file, i, &s); i++)
		if (s.type == SHT_SYMTAB || s.type == SHT_DYNSYM)
			add_functions(file, s.file_off, s.size, starts);
	add_stubs(file, starts);
	go_functions_each(file, add_go_function, starts);
}

static void add_starts(void *context, struct code_starts *starts)
{
	if (!tables_are_small(context)) {
		add_starts_of_large(context, starts);
		return;
	}
	struct symtab *symtab = symtab_create(context, NULL);

	objfile_add_relocated(context, starts);
	for (size_t i = 0; i < symtab_count(symtab); i++)
		vec_push(&starts->addrs, symtab_at(symtab, i).low);
	symtab_destroy(symtab);
}

/* Ranges come in file order, which is also address order; ranges out of order are skipped. */
static void add_code(struct cfi_code *code, uint64_t low, uint64_t size)
{
	size_t count = code->count;

	if (count == CFI_CODE_RANGES_MAX || low > UINT64_MAX - size || size == 0 ||
		(count && code->ranges[count - 1].high > low))
		return;
	code->ranges[count].low = low;
	code->ranges[count].high = low + size;
	code->count++;
}

void objfile_code(struct objfile *file, struct cfi_code *code)
{
	const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;
	struct objfile_section s;
	uint32_t number = 1;

	*code = (struct cfi_code){.read = read_code,
		.add_starts = add_starts,
		.context = file,
		.arch = code_arch(file)};
	if (code->arch == NULL)
		return;
	for (; objfile_section_header(file, number, &s); number++)
		if (s.type == SHT_PROGBITS && (s.flags & wanted) == wanted)
			add_code(code, s.obj_addr, s.size);
	for (size_t i = 0; number == 1 && i < objfile_segment_count(file); i++) {
		struct objfile_segment segment = objfile_segment(file, i);
		if (segment.executable)
			add_code(code, segment.obj_addr, segment.file_size);
	}
}

enum { DISTRUSTED_MAX = BARE_CODE_STARTS_MAX + CFI_GO_FUNCTIONS_MAX };

struct go_code {
	struct objfile *file;
	struct bare_code_start starts[BARE_CODE_STARTS_MAX];
	size_t start_count;
	struct go_switches switches;
};

/* Whether a Go program starts there, as opposed to code that a C thread calls in a Go library. */
static bool is_go_start(const char *name)
{
	return strcmp(name, "runtime.rt0_go") == 0 ||
	       (strncmp(name, "_rt0_", strlen("_rt0_")) == 0 && strstr(name, "_lib") == NULL);
}

static void add_go_code(void *context, uint64_t low, uint64_t high, const char *name)
{
	struct go_code *go = context;

	if (go->start_count < BARE_CODE_STARTS_MAX && is_go_start(name))
		go->starts[go->start_count++] = (struct bare_code_start){low, high};
	else
		go_switches_add(&go->switches, go->file, low, high, name);
}

/*
 * Go's linker describes these functions as if they stayed on their stack and had been called.  In
 * fact they begin the program or a goroutine, or switch to another stack.
 */
static size_t distrust(const struct go_code *go, uint64_t addrs[DISTRUSTED_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < go->start_count; i++)
		addrs[count++] = go->starts[i].low;
	for (size_t i = 0; i < go->switches.facts.function_count; i++)
		addrs[count++] = go->switches.facts.functions[i];
	return count;
}

/* ---- opening rules ---- */

static bool read_lazily(void *context, uint64_t file_off, uint8_t *bytes, size_t size)
{
	return objfile_read(context, file_off, bytes, size);
}

/* Some bytes of the file as a section. */
static bool open_lazily(struct objfile *file, uint64_t file_off, uint64_t size, uint64_t obj_addr,
	struct cfi_section *out)
{
	if (size == 0 || size > SECTION_UNPACK_MAX)
		return false;
	struct lazy_bytes *lazy = lazy_bytes_create(read_lazily, file, file_off, size);
	if (lazy == NULL)
		return false;
	out->lazy = lazy;
	out->bytes = lazy_bytes_data(lazy);
	out->size = size;
	out->obj_addr = obj_addr;
	return true;
}

/* A section that is in the file as it is. */
static bool open_section(
	struct objfile *file, const char *name, enum cfi_section_kind kind, struct cfi_section *out)
{
	struct objfile_section s;

	*out = (struct cfi_section){.kind = kind};
	return objfile_header_named(file, name, &s) && s.type != SHT_NOBITS &&
	       !(s.flags & SHF_COMPRESSED) &&
	       open_lazily(file, s.file_off, s.size, s.obj_addr, out);
}

static bool open_eh_frame_by_index(struct objfile *file, struct cfi_section *out)
{
	uint64_t obj_addr, file_off, left;

	*out = (struct cfi_section){.kind = CFI_EH_FRAME_UNSIZED};
	return eh_frame_place(file, &obj_addr, &file_off, &left) &&
	       open_lazily(file, file_off, left, obj_addr, out);
}

static void open_header(struct objfile *file, struct cfi_header *out)
{
	struct cfi_section section;
	struct objfile_section s;

	if (objfile_eh_frame_hdr_header(file, &s) &&
		open_lazily(file, s.file_off, s.size, s.obj_addr, &section))
		*out = (struct cfi_header){.bytes = section.bytes,
			.size = section.size,
			.obj_addr = section.obj_addr,
			.lazy = section.lazy};
}

/* A packed .debug_frame is unpacked at once. */
static void open_sections(struct objfile *file, struct cfi_source *source)
{
	struct cfi_section *next = source->sections;

	if (open_section(file, ".eh_frame", CFI_EH_FRAME, next) ||
		open_eh_frame_by_index(file, next)) {
		open_header(file, &source->header);
		next++;
	}
	if (open_section(file, ".debug_frame", CFI_DEBUG_FRAME, next) ||
		cfi_section_named(file, ".debug_frame", CFI_DEBUG_FRAME, next))
		next++;
	source->section_count = (size_t)(next - source->sections);
}

struct cfi_table *objfile_open_cfi(struct objfile *file)
{
	struct cfi_source source = {.object = object_facts(file)};
	struct cfi_object *object = &source.object;
	struct cfi_bare bare[BARE_CODE_MAX];
	struct cfi_code code;
	uint64_t distrusted[DISTRUSTED_MAX];
	struct go_code go = {.file = file};

	open_sections(file, &source);
	objfile_code(file, &code);
	object->code = &code;
	if (go_functions_each(file, add_go_code, &go))
		object->go = &go.switches.facts;
	object->bare = bare;
	object->bare_count = bare_code_find(file, go.starts, go.start_count, bare);
	object->bare_count = bare_code_add_switches(bare, object->bare_count, &go.switches);
	object->distrusted = distrusted;
	object->distrusted_count = distrust(&go, distrusted);
	if (source.section_count == 0 && object->bare_count == 0 && code.count == 0)
		return NULL;
	return cfi_table_open(&source);
}
