/*
 * The reader of one format that is a folder, FUZZ_READER, on any files: the bytes are taken apart
 * into files (tests/folder_files.h), and these written into a folder.  No crash, and what is
 * accepted is a whole profile.
 */
#include <stdlib.h>

#include "../trace_files.h"
#include "formats/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

/* The cases must be alike in every run: no cache of symbols. */
__attribute__((constructor)) static void forget_machine(void)
{
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = NULL;
	char *folder = folder_files_create((struct str){(const char *)data, size});
	struct error *err = profile_read(folder, FUZZ_READER, &p);

	error_destroy(err);
	profile_destroy(p);
	folder_files_remove(folder);
	return 0;
}

size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity)
{
	struct strbuf bytes = {0};

	/* Those of perf.data are files. */
	if (n > 1 || strcmp(FUZZ_READER, "perf-data") == 0)
		return 0;
	bool is_uftrace = strcmp(FUZZ_READER, "uftrace") == 0;
	if (n == 1 && !is_uftrace)
		return 0;
	if (is_uftrace && n == 1)
		trace_files_uftrace_rest(&bytes);
	else if (is_uftrace)
		trace_files_uftrace_whole(&bytes);
	else
		trace_files_gprofng(&bytes);
	if (bytes.size > capacity)
		abort();
	memcpy(data, bytes.data, bytes.size);
	size_t size = bytes.size;
	strbuf_deinit(&bytes);
	return size;
}
