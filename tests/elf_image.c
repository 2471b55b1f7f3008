/*
 * ELF files: header, program headers, the sections' bytes, section headers.
 */
#include "elf_image.h"

#include <elf.h>

void elf_image_deinit(struct elf_image *image)
{
	vec_deinit(&image->sections);
}

uint32_t elf_image_add(struct elf_image *image, struct elf_image_section section)
{
	vec_push(&image->sections, section);
	return (uint32_t)image->sections.count;
}

static void add_bytes(struct strbuf *out, const void *data, size_t size)
{
	strbuf_add(out, (struct str){data, size});
}

static void write_file_header(
	struct strbuf *out, uint64_t segments, uint64_t sections, uint64_t sections_off)
{
	Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_shoff = sections_off,
		.e_ehsize = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)segments,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)sections,
		.e_shstrndx = (uint16_t)(sections - 1)};

	add_bytes(out, &h, sizeof(h));
}

static void write_segment(struct strbuf *out, const struct elf_image_section *s, uint64_t file_off)
{
	Elf64_Phdr h = {.p_type = PT_LOAD,
		.p_flags = PF_R | (s->flags & SHF_EXECINSTR ? PF_X : 0),
		.p_offset = file_off,
		.p_vaddr = s->obj_addr,
		.p_filesz = s->bytes.size,
		.p_memsz = s->bytes.size,
		.p_align = 1};

	add_bytes(out, &h, sizeof(h));
}

static void write_section(
	struct strbuf *out, const struct elf_image_section *s, uint32_t name, uint64_t file_off)
{
	Elf64_Shdr h = {.sh_name = name,
		.sh_type = s->type,
		.sh_flags = s->flags,
		.sh_addr = s->obj_addr,
		.sh_offset = file_off,
		.sh_size = s->bytes.size,
		.sh_link = s->link,
		.sh_addralign = 1,
		.sh_entsize = s->entry_size};

	add_bytes(out, &h, sizeof(h));
}

void elf_image_write(const struct elf_image *image, struct strbuf *out)
{
	size_t count = image->sections.count, segments = 0;
	struct strbuf names = {0}, headers = {0};
	const Elf64_Shdr none = {0};

	for (size_t i = 0; i < count; i++)
		segments += (image->sections.data[i].flags & SHF_ALLOC) != 0;
	uint64_t off = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);
	uint64_t sections_off = off;
	add_bytes(&headers, &none, sizeof(none));
	strbuf_add_char(&names, '\0');
	for (size_t i = 0; i < count; i++) {
		const struct elf_image_section *s = &image->sections.data[i];
		write_section(&headers, s, (uint32_t)names.size, sections_off);
		sections_off += s->bytes.size;
		add_bytes(&names, s->name, strlen(s->name) + 1);
	}
	struct elf_image_section own_names = {.type = SHT_STRTAB, .bytes = strbuf_str(&names)};
	write_section(&headers, &own_names, 0, sections_off);
	sections_off += names.size;

	write_file_header(out, segments, count + 2, sections_off);
	for (size_t i = 0; i < count; i++) {
		const struct elf_image_section *s = &image->sections.data[i];
		if (s->flags & SHF_ALLOC)
			write_segment(out, s, off);
		off += s->bytes.size;
	}
	for (size_t i = 0; i < count; i++)
		strbuf_add(out, image->sections.data[i].bytes);
	strbuf_add(out, strbuf_str(&names));
	strbuf_add(out, strbuf_str(&headers));
	strbuf_deinit(&names);
	strbuf_deinit(&headers);
}
