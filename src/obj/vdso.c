/*
 * Finds the vDSO with getauxval, which does not report its size.  Like all linked ELF files, it
 * ends with its section headers or its last segment.
 */
#include "obj/vdso.h"

#include <elf.h>
#include <stdint.h>
#include <sys/auxv.h>

bool vdso_bytes(struct str *bytes)
{
	const char *start = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (start == NULL)
		return false;
	memcpy(&header, start, sizeof(header));
	uint64_t size = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		memcpy(&segment, start + header.e_phoff + (uint64_t)i * sizeof(segment),
			sizeof(segment));
		if (segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > size)
			size = segment.p_offset + segment.p_filesz;
	}
	*bytes = (struct str){start, size};
	return true;
}
