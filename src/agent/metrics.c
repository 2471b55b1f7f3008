/*
 * Names and types follow Prometheus's conventions: base units, _total for counters.
 */
#include "agent/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/draft.h"
#include "base/file.h"

static void put(struct strbuf *out, const char *name, const char *help, double value)
{
	struct str text = str_from(name);
	bool is_counter = str_ends_with(text, STR("_total"));

	strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name,
		is_counter ? "counter" : "gauge", name, value);
}

static void put_shard(struct strbuf *out, const char *name, const char *shard, uint64_t value)
{
	strbuf_printf(out, "%s{shard=\"", name);
	for (; *shard; shard++) {
		if (*shard == '"' || *shard == '\\')
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, *shard == '\n' ? ' ' : *shard);
	}
	strbuf_printf(out, "\"} %" PRIu64 "\n", value);
}

/* Of each shard that something was sent to, or should have been. */
static void put_shards(struct strbuf *out, const struct sender *s, const struct spool *spool)
{
	static const struct {
		const char *name, *type, *help;
	} rows[] = {
		{"sonde_agent_shard_segments", "gauge",
			"Segments in the spool that are known to be for the shard."},
		{"sonde_agent_shard_bytes", "gauge", "Their size."},
		{"sonde_agent_shard_failures", "gauge", "Failed attempts in a row, now."},
		{"sonde_agent_shard_errors_total", "counter",
			"Attempts to send to the shard that failed."},
	};

	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", rows[row].name, rows[row].help,
			rows[row].name, rows[row].type);
		for (size_t i = 0; i < s->queues.list.count; i++) {
			const struct sender_queue *queue = &s->queues.list.data[i];
			struct sender_waiting waiting = sender_waiting(s, spool, i);
			const uint64_t values[ARRAY_SIZE(rows)] = {
				waiting.segments, waiting.bytes, queue->failures, queue->errors};

			put_shard(out, rows[row].name, queue->place, values[row]);
		}
	}
}

void agent_metrics_put(const struct agent_metrics *m, struct strbuf *out)
{
	const struct {
		const char *name, *help;
		double value;
	} rows[] = {
		{"sonde_agent_samples_total", "Samples in finished segments.", (double)m->samples},
		{"sonde_agent_samples_lost_total", "Samples that had no room.", (double)m->lost},
		{"sonde_agent_samples_unwritten_total",
			"Samples for which there was no room on the disk.",
			(double)m->gone[LEDGER_UNWRITTEN]},
		{"sonde_agent_stacks_truncated_total",
			"Stacks that could not be walked to their root.", (double)m->truncated},
		{"sonde_agent_rate_hertz", "Samples a second of CPU time, now.", m->rate_hz},
		{"sonde_agent_rate_halvings_total", "How often the budget halved the rate.",
			(double)m->halvings},
		{"sonde_agent_names", "Whether segments get names.", m->has_names},
		{"sonde_agent_paused", "Whether the budget has paused sampling.", m->is_paused},
		{"sonde_agent_pauses_total", "How often the budget paused sampling.",
			(double)m->pauses},
		{"sonde_agent_paused_seconds_total",
			"Time without sampling: by the budget, and the two below.",
			(double)(m->gone[LEDGER_PAUSED_NS] + m->gone[LEDGER_DOWN_NS] +
				 m->gone[LEDGER_EARLY_NS]) /
				1e9},
		{"sonde_agent_down_seconds_total", "Time without sampling, as no agent ran.",
			(double)m->gone[LEDGER_DOWN_NS] / 1e9},
		{"sonde_agent_early_seconds_total",
			"Time without sampling, as a segment ended early or could not begin.",
			(double)m->gone[LEDGER_EARLY_NS] / 1e9},
		{"sonde_agent_late_seconds_total",
			"Time without sampling, as a segment began late.",
			(double)m->late_ns / 1e9},
		{"sonde_agent_cpu_seconds_total", "CPU time of the agent, with all its processes.",
			(double)m->own_cpu_ns / 1e9},
		{"sonde_agent_cpu_limit_ratio", "The share of one CPU that the agent may use.",
			m->cpu_share},
		{"sonde_agent_memory_bytes", "Memory of the agent, with rings.",
			(double)m->memory_bytes},
		{"sonde_agent_memory_peak_bytes", "The most memory so far.",
			(double)m->memory_peak},
		{"sonde_agent_memory_limit_bytes", "Memory that the agent may use.",
			(double)m->memory_most},
		{"sonde_agent_segments_written_total", "Finished segments.", (double)m->segments},
		{"sonde_agent_segments_broken_total",
			"Segments whose process ended early; what they have is kept.",
			(double)m->gone[LEDGER_BROKEN]},
		{"sonde_agent_segments_salvaged_total",
			"Unfinished segments of a killed agent that were kept.",
			(double)m->segments_salvaged},
		{"sonde_agent_segments_nameless_total",
			"Segments that were left without any names, for lack of memory.",
			(double)m->segments_nameless},
		{"sonde_agent_segment_bytes_total", "Size of finished segments.",
			(double)m->segment_bytes},
		{"sonde_agent_segments_sent_total", "Segments that the store has.",
			(double)m->segments_sent},
		{"sonde_agent_sent_bytes_total", "Their size.", (double)m->sent_bytes},
		{"sonde_agent_store_errors_total", "Attempts to send that failed.",
			(double)m->store_errors},
		{"sonde_agent_segments_dropped_total",
			"Segments removed that no store got: by limits, for room on the disk, "
			"or unreadable.",
			(double)m->gone[LEDGER_DROPPED]},
		{"sonde_agent_dropped_bytes_total", "Their size.",
			(double)m->gone[LEDGER_DROPPED_BYTES]},
		{"sonde_agent_spool_segments", "Segments in the spool.", (double)m->spool_segments},
		{"sonde_agent_spool_bytes", "Their size.", (double)m->spool_bytes},
		{"sonde_agent_start_time_seconds", "Start of the agent, since 1970.",
			(double)m->start_unix_ns / 1e9},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		put(out, rows[i].name, rows[i].help, rows[i].value);
	if (m->sender && m->sender->queues.list.count > 0)
		put_shards(out, m->sender, m->spool);
}

struct error *agent_metrics_write(const struct agent_metrics *m, int folder, const char *path)
{
	struct draft draft;
	struct error *err = draft_open(&draft, folder, path, 0644);
	struct strbuf text = {0};

	if (err)
		return err;
	/* In such a folder, another user's process reads them. */
	if (folder != AT_FDCWD)
		(void)fchmod(draft.fd, 0644);
	agent_metrics_put(m, &text);
	err = draft_end(&draft, file_write_all(draft.fd, text.data, text.size, path));
	strbuf_deinit(&text);
	return err;
}
