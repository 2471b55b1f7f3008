/*
 * Counters of an intake, in the text format of prometheus.io/docs/instrumenting/exposition_formats.
 * The values of their labels come from this program, never from a client, so they need no escaping
 * and their number is fixed.
 */
#include "intake/counts.h"

#include <inttypes.h>

void intake_counts_add(struct intake_counts *counts, enum intake_path path, size_t body_bytes,
	const struct intake_answer *answer)
{
	counts->requests[path]++;
	counts->bytes[path] += body_bytes;
	counts->kept[path] += answer->kept;
	counts->rejected[path] += answer->rejected;
	if (answer->reason != REASON_NONE)
		counts->refused[answer->reason]++;
}

static void put_head(struct strbuf *out, const char *name, const char *type, const char *help)
{
	strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_by_path(
	struct strbuf *out, const char *name, const char *help, const uint64_t *values, int count)
{
	put_head(out, name, "counter", help);
	for (int i = 0; i < count; i++)
		strbuf_printf(out, "%s{path=\"%s\"} %" PRIu64 "\n", name, intake_path_names[i],
			values[i]);
}

void intake_counts_put(const struct intake_counts *counts, struct strbuf *out)
{
	/* Only these paths take profiles. */
	const int taking = INTAKE_PUSH + 1;

	put_by_path(out, "sonde_intake_requests_total", "Requests answered, also with a refusal.",
		counts->requests, INTAKE_PATH_COUNT);
	put_by_path(out, "sonde_intake_body_bytes_total", "Bytes of bodies, as they arrived.",
		counts->bytes, taking);
	put_by_path(out, "sonde_intake_profiles_total", "Profiles kept.", counts->kept, taking);
	put_by_path(out, "sonde_intake_profiles_rejected_total",
		"Profiles rejected in requests with several.", counts->rejected, taking);
	put_head(out, "sonde_intake_refused_total", "counter",
		"Requests refused, at least in part, by reason.");
	for (int i = REASON_NONE + 1; i < INTAKE_REASON_COUNT; i++)
		strbuf_printf(out, "sonde_intake_refused_total{reason=\"%s\"} %" PRIu64 "\n",
			intake_reason_names[i], counts->refused[i]);
}

void intake_gauge_put(struct strbuf *out, const char *name, const char *help, uint64_t value)
{
	put_head(out, name, "gauge", help);
	strbuf_printf(out, "%s %" PRIu64 "\n", name, value);
}
