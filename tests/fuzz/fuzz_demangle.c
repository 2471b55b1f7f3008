/*
 * Demangling: no name may take long or print without end.
 */
#include <assert.h>

#include "obj/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct demangler *demangler = demangler_create();
	struct str name = demangle(demangler, (struct str){(const char *)data, size});

	assert(name.size <= DEMANGLE_OUTPUT_MAX + 3);
	demangler_destroy(demangler);
	return 0;
}
