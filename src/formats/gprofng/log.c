/*
 * log.xml.  Elements come in any order, and fields stand below the packet that they are of, packets
 * below the profile that says in which file they are.
 */
#include "formats/gprofng/log.h"

#include "base/word.h"
#include "formats/gprofng/xml_scan.h"

/* As many kinds as there may be: each is looked at for each packet. */
enum { KINDS_MAX = 64 };

static const char *const field_names[FIELD_COUNT] = {"LWPID", "THRID", "CPUID", "TSTAMP", "FRINFO",
	"MSTATE", "NTICK", "SRQST", "HTYPE", "HSIZE", "HVADDR", "HOVADDR", "HWCTAG", "HWCINT"};

struct log_reader {
	struct gprofng_log *log;
	struct arena *arena;
	struct strbuf value;
	struct str file; /* of the profile that is being told of */
};

static bool attribute(struct log_reader *r, const struct xml_element *e, const char *name)
{
	return xml_attribute(e, name, &r->value);
}

static struct str kept(struct log_reader *r)
{
	return arena_str(r->arena, strbuf_str(&r->value));
}

static void read_process(struct log_reader *r, const struct xml_element *e)
{
	r->log->pid = xml_number(e, "pid", r->log->pid);
	r->log->word_size = xml_number(e, "wsize", r->log->word_size);
	/* The one without attributes is the command. */
	if (memchr(e->attributes.data, '=', e->attributes.size) == NULL && e->text.size &&
		r->log->command.size == 0)
		r->log->command = arena_str(r->arena, e->text);
}

static void read_event(struct log_reader *r, const struct xml_element *e)
{
	if (!attribute(r, e, "kind"))
		return;
	struct str kind = strbuf_str(&r->value);
	if (str_equal(kind, STR("run")) && r->log->start_ns == 0) {
		r->log->start_ns = xml_seconds(e, "tstamp", 0);
		r->log->start_unix_ns = xml_seconds(e, "time", 0);
	} else if (str_equal(kind, STR("exit"))) {
		r->log->duration_ns = xml_seconds(e, "tstamp", 0);
	}
}

static void read_field(struct log_reader *r, const struct xml_element *e)
{
	if (r->log->kinds.count == 0 || !attribute(r, e, "name"))
		return;
	struct gprofng_kind *kind = &r->log->kinds.data[r->log->kinds.count - 1];
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (!str_equal(strbuf_str(&r->value), str_from(field_names[i])))
			continue;
		uint64_t offset = xml_number(e, "offset", UINT64_MAX);
		if (offset > UINT16_MAX || !attribute(r, e, "type"))
			return;
		bool is_long = str_ends_with(strbuf_str(&r->value), STR("64"));
		kind->fields[i] = (struct gprofng_place){(uint32_t)offset, is_long ? 8 : 4};
		return;
	}
}

static void read_element(struct log_reader *r, const struct xml_element *e)
{
	if (str_equal(e->name, STR("experiment")) && attribute(r, e, "version")) {
		r->log->version = kept(r);
	} else if (str_equal(e->name, STR("system")) && attribute(r, e, "hostname")) {
		r->log->host = kept(r);
	} else if (str_equal(e->name, STR("process"))) {
		read_process(r, e);
	} else if (str_equal(e->name, STR("event"))) {
		read_event(r, e);
	} else if (str_equal(e->name, STR("profile"))) {
		r->file = STR("");
		r->log->interval_ns = xml_number(e, "ptimer", r->log->interval_ns / 1000) * 1000;
	} else if (str_equal(e->name, STR("profdata")) && attribute(r, e, "fname")) {
		r->file = kept(r);
	} else if (str_equal(e->name, STR("profpckt")) && r->log->kinds.count < KINDS_MAX) {
		vec_push(&r->log->kinds,
			(struct gprofng_kind){
				.number = (uint32_t)xml_number(e, "kind", 0), .file = r->file});
	} else if (str_equal(e->name, STR("field"))) {
		read_field(r, e);
	}
}

void gprofng_log_read(struct gprofng_log *log, struct str text, struct arena *arena)
{
	struct xml_scan scan = {.rest = text};
	struct log_reader r = {.log = log, .arena = arena};
	struct xml_element element;

	*log = (struct gprofng_log){0};
	while (xml_scan_next(&scan, &element))
		read_element(&r, &element);
	strbuf_deinit(&r.value);
}

void gprofng_log_deinit(struct gprofng_log *log)
{
	vec_deinit(&log->kinds);
}

uint64_t gprofng_field(const struct gprofng_kind *kind, const uint8_t *packet, size_t size,
	enum gprofng_field field)
{
	struct gprofng_place place = kind->fields[field];

	if (place.size == 0 || place.offset > size || size - place.offset < place.size)
		return 0;
	return word_read(packet + place.offset, place.size, false);
}
