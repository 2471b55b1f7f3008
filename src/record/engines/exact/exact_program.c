/*
 * Loads the BPF program with libbpf, which fits it to the running kernel's structures (CO-RE).  It
 * is there twice: as newer kernels take it, which tell it a sample's time, and as older ones do.
 */
#include "record/engines/exact/exact_program.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "record/engines/exact/exact_object.h"

#define RING_MIN ((size_t)1 << 20)

/* The last line that libbpf or the verifier had to say; libbpf has one printer for all. */
static char last_words[256];

static int keep_words(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char words[sizeof(last_words)];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(words, sizeof(words), format, arguments);
	words[strcspn(words, "\n")] = '\0';
	/* The first is the cause, the others tell who gave up for it. */
	if (last_words[0] == '\0')
		memcpy(last_words, words, sizeof(words));
	return 0;
}

struct error *exact_program_refusal(int code, const char *what)
{
	return error_new(ERROR_UNSUPPORTED, "%s: %s%s%s", what, strerror(code),
		last_words[0] ? "; " : "", last_words);
}

static void set_settings(struct bpf_object *object, const struct exact_settings *settings)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		if (strstr(bpf_map__name(map), ".rodata"))
			bpf_map__set_initial_value(map, settings, sizeof(*settings));
	}
}

/* Loads one of the two programs with a ring of that size. 0, or an errno. */
static int load(struct exact_program *p, const struct exact_settings *settings, size_t ring_bytes)
{
	LIBBPF_OPTS(bpf_object_open_opts, names, .object_name = "sonde");
	const char *wanted = p->is_plain ? "on_sample" : "on_sample_told";
	struct bpf_program *program;
	int code;

	p->object = bpf_object__open_mem(exact_object, exact_object_bytes, &names);
	if (!p->object)
		return errno;
	bpf_object__for_each_program(program, p->object)
	{
		bpf_program__set_autoload(program, strcmp(bpf_program__name(program), wanted) == 0);
	}
	set_settings(p->object, settings);
	bpf_map__set_max_entries(
		bpf_object__find_map_by_name(p->object, "rests"), (uint32_t)ring_bytes);
	code = -bpf_object__load(p->object);
	if (code) {
		exact_program_unload(p);
		return code;
	}
	p->ring_bytes = ring_bytes;
	p->fd = bpf_program__fd(bpf_object__find_program_by_name(p->object, wanted));
	return 0;
}

static struct error *load_best(
	struct exact_program *p, const struct exact_settings *settings, size_t ring_bytes)
{
	int code;

	last_words[0] = '\0';
	code = load(p, settings, ring_bytes);
	while ((code == ENOMEM || code == EPERM) && ring_bytes / 2 >= RING_MIN) {
		ring_bytes /= 2;
		code = load(p, settings, ring_bytes);
	}
	if (code && !p->is_plain) {
		p->is_plain = true;
		last_words[0] = '\0';
		code = load(p, settings, ring_bytes);
	}
	return code ? exact_program_refusal(code, "the kernel refused its BPF program") : NULL;
}

struct error *exact_program_load(struct exact_program *p, const struct exact_settings *settings,
	size_t ring_bytes, bool is_plain)
{
	libbpf_print_fn_t printer = libbpf_set_print(keep_words);
	struct error *err;

	*p = (struct exact_program){.is_plain = is_plain};
	err = load_best(p, settings, ring_bytes);
	libbpf_set_print(printer);
	return err;
}

void exact_program_unload(struct exact_program *p)
{
	bpf_object__close(p->object);
	p->object = NULL;
}

int exact_program_map(const struct exact_program *p, const char *name)
{
	return bpf_object__find_map_fd_by_name(p->object, name);
}
