/*
 * Demangling with libiberty, bounded.
 *
 * libiberty passes its output to a callback piece by piece.  At the limit, the callback leaves by
 * longjmp, which libiberty's printers allow: they keep no state, and no memory except one
 * identifier's (for Rust names in other scripts).  The D demangler has no callback, so names with
 * many back references, the only way for output to grow fast, are not demangled.
 */
#include "obj/demangle.h"

#include <stdlib.h>
#ifndef __wasm__
#include <setjmp.h>
#endif

#include <libiberty/demangle.h>

#include "base/alloc.h"
#include "base/map.h"

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)
/*
 * libiberty's own recursion limit rejects names of more than 1,024 bytes, but templates have longer
 * ones.  Without the limit, it needs about 200 bytes of stack per byte of the name.
 */
#define CPP_LIMITED_MAX	  1024
#define CPP_UNLIMITED_MAX 8192
/* It has no limit for D; 110 bytes of stack per byte of the name. */
#define D_INPUT_MAX 4096
/* Each back reference may double the output. */
#define D_BACK_REFERENCES_MAX 12

/*
 * libiberty's D demangler allocates with these.  Including their header would also bring names that
 * conflict with ours (base/alloc.h).
 */
void *xmalloc(size_t size);
void *xrealloc(void *old, size_t size);

void *xmalloc(size_t size)
{
	return xrealloc_array(NULL, size, 1);
}

void *xrealloc(void *old, size_t size)
{
	return xrealloc_array(old, size, 1);
}

struct demangler {
	struct arena *arena;
	struct str_table names; /* mangled; index → results */
	struct str *results;
	size_t capacity;
};

struct demangler *demangler_create(void)
{
	struct demangler *d = xalloc(sizeof(*d));

	d->arena = arena_create();
	str_table_init(&d->names, d->arena);
	return d;
}

void demangler_destroy(struct demangler *d)
{
	if (d == NULL)
		return;
	str_table_deinit(&d->names);
	free(d->results);
	arena_destroy(d->arena);
	free(d);
}

bool demangle_is_mangled(struct str name)
{
	return name.size > 2 && name.data[0] == '_' &&
	       (name.data[1] == 'Z' || name.data[1] == 'R' || name.data[1] == 'D');
}

/* The output of one run of libiberty so far. */
struct output {
	struct strbuf text;
	bool is_full;
#ifndef __wasm__
	jmp_buf enough;
#endif
};

/* WebAssembly has no longjmp here: libiberty goes on, and the rest is not kept. */
static void output_leave(struct output *out)
{
	out->is_full = true;
#ifndef __wasm__
	longjmp(out->enough, 1);
#endif
}

static void output_add(const char *piece, size_t size, void *opaque)
{
	struct output *out = opaque;

	if (out->is_full)
		return;
	if (size > DEMANGLE_OUTPUT_MAX - out->text.size) {
		strbuf_add(&out->text, (struct str){piece, DEMANGLE_OUTPUT_MAX - out->text.size});
		strbuf_add(&out->text, STR("…"));
		output_leave(out);
		return;
	}
	strbuf_add(&out->text, (struct str){piece, size});
}

/*
 * A Rust name begins with _R, or is a C++ name with a hash: 17h and 16 digits.  libiberty would
 * scan a whole name to find that it is neither.
 */
static bool may_be_rust(const char *mangled)
{
	return mangled[1] == 'R' || strstr(mangled, "17h") != NULL;
}

/* Prints a name of C++ or Rust; false if it is not well-formed, or too long. */
static bool print_bounded(const char *mangled, struct output *out)
{
#ifndef __wasm__
	if (setjmp(out->enough))
		return true;
#endif
	if (may_be_rust(mangled) && rust_demangle_callback(mangled, OPTIONS, output_add, out))
		return true;
	strbuf_clear(&out->text);
	out->is_full = false;
	size_t size = strlen(mangled);
	if (size > CPP_UNLIMITED_MAX)
		return false;
	int limit = size > CPP_LIMITED_MAX ? DMGL_NO_RECURSE_LIMIT : 0;
	return cplus_demangle_v3_callback(mangled, OPTIONS | limit, output_add, out) != 0;
}

static bool print_d(const char *mangled, struct output *out)
{
	unsigned int back_references = 0;

	for (const char *p = mangled; *p; p++)
		back_references += *p == 'Q';
	if (back_references > D_BACK_REFERENCES_MAX || strlen(mangled) > D_INPUT_MAX)
		return false;
	char *text = dlang_demangle(mangled, OPTIONS);
	if (text == NULL)
		return false;
	struct str s = str_from(text);
	if (s.size > DEMANGLE_OUTPUT_MAX)
		s.size = DEMANGLE_OUTPUT_MAX;
	strbuf_add(&out->text, s);
	free(text);
	return true;
}

static struct str demangle_new(struct demangler *d, struct str name)
{
	struct output *out = xalloc(sizeof(*out));
	struct str result = name;

	bool known = name.data[1] == 'D' ? print_d(name.data, out) : print_bounded(name.data, out);
	if (known && out->text.size)
		result = arena_str(d->arena, strbuf_str(&out->text));
	strbuf_deinit(&out->text);
	free(out);
	return result;
}

struct str demangle(struct demangler *d, struct str name)
{
	if (name.size > DEMANGLE_INPUT_MAX)
		name.size = DEMANGLE_INPUT_MAX;
	size_t known = d->names.count;
	uint32_t i = str_table_intern(&d->names, name);
	if (i < known)
		return d->results[i];
	if (d->capacity < d->names.capacity) {
		d->capacity = d->names.capacity;
		d->results = xrealloc_array(d->results, d->capacity, sizeof(*d->results));
	}
	struct str copy = d->names.strings[i];
	d->results[i] = demangle_is_mangled(copy) && memchr(copy.data, 0, copy.size) == NULL
				? demangle_new(d, copy)
				: copy;
	return d->results[i];
}
