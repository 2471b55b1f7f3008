/*
 * Writes a capture file: a batch collects data, an output takes finished chunks, and the writer
 * decides when to move data from the one to the other.  A background thread syncs the file to the
 * disk.
 */
#include "record/file/capture_writer.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "formats/sonde/layout/capture_batch.h"
#include "record/file/capture_compact.h"
#include "record/file/capture_output.h"

/* ---- sync ---- */

/*
 * fdatasync may take longer than a ring buffer takes to fill, so a separate thread calls it.  Its
 * failures are ignored: a disk that loses data reports that at the next write, and a file that
 * cannot be synced (a pipe) has no disk.
 */

static const uint64_t sync_interval_ns = 5000000000u;

struct capture_sync {
	int fd;
	uint64_t last_ns;
	bool running, refused; /* the thread runs; it could not be started */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool wanted, stopping; /* under the lock */
};

static struct capture_sync *capture_sync_create(int fd)
{
	struct capture_sync *s = xalloc(sizeof(*s));

	s->fd = fd;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	return s;
}

static void *sync_main(void *argument)
{
	struct capture_sync *s = argument;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (!s->wanted && !s->stopping)
			pthread_cond_wait(&s->changed, &s->lock);
		if (s->stopping)
			break;
		s->wanted = false;
		pthread_mutex_unlock(&s->lock);
		(void)fdatasync(s->fd);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* The thread takes no signals: they are for the recorder. */
static void sync_start(struct capture_sync *s)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	s->running = pthread_create(&s->thread, NULL, sync_main, s) == 0;
	s->refused = !s->running;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void capture_sync_request(struct capture_sync *s, uint64_t now_ns)
{
	if (s->last_ns == 0)
		s->last_ns = now_ns;
	if (now_ns - s->last_ns < sync_interval_ns || s->refused)
		return;
	s->last_ns = now_ns;
	if (!s->running)
		sync_start(s);
	pthread_mutex_lock(&s->lock);
	s->wanted = true;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void capture_sync_destroy(struct capture_sync *s)
{
	if (s == NULL)
		return;
	if (s->running) {
		pthread_mutex_lock(&s->lock);
		s->stopping = true;
		pthread_cond_signal(&s->changed);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
	}
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- the writer ---- */

enum {
	STREAM_LEVEL = 3,
};

/*
 * Callers flush about every 100 ms.  This is a little less, so that each flush writes, and a kill
 * -9 loses at most the data since the flush before the last.
 */
static const uint64_t write_interval_ns = 80000000;

struct capture_writer {
	struct capture_output output;
	struct capture_batch batch;
	struct capture_sync *sync;
	uint32_t metric_count;
	uint64_t last_write_ns;
	uint64_t samples, dropped;
	/* Their values in the file, or 0. */
	uint64_t counters[CAPTURE_COUNTER_COUNT];
	uint64_t metric_lost[CAPTURE_METRIC_MAX], metric_counted[CAPTURE_METRIC_MAX];
	uint8_t *fates; /* [fate_count] NULL: all nodes are kept */
	size_t fate_count;
};

struct error *capture_writer_create(const char *path, struct capture_writer **writer)
{
	struct capture_output output;
	struct error *err = capture_output_open(&output, path);

	if (err)
		return err;
	struct capture_writer *w = xalloc(sizeof(*w));
	w->output = output;
	w->sync = capture_sync_create(output.fd);
	capture_batch_init(&w->batch, STREAM_LEVEL, capture_output_put, &w->output);
	capture_batch_write_file_header(&w->batch);
	*writer = w;
	return NULL;
}

static void writer_destroy(struct capture_writer *w)
{
	capture_sync_destroy(w->sync);
	capture_batch_deinit(&w->batch);
	capture_output_deinit(&w->output);
	free(w->fates);
	free(w);
}

static void writer_write(struct capture_writer *w)
{
	size_t samples = capture_samples_waiting(w->batch.samples);

	if (capture_batch_write(&w->batch))
		w->samples += samples;
	else
		w->dropped += samples;
}

/* Whether the writer accepts anything; makes room if the batch is full. */
static bool writer_accepts(struct capture_writer *w)
{
	if (capture_writer_failed(w))
		return false;
	if (capture_batch_is_full(&w->batch))
		writer_write(w);
	return !capture_writer_failed(w);
}

void capture_writer_string(struct capture_writer *w, enum capture_key key, struct str value)
{
	if (writer_accepts(w))
		capture_put_fact(&w->batch.rows[CAPTURE_CHUNK_FACTS],
			&(struct capture_fact){.key = key, .string = value});
}

void capture_writer_number(struct capture_writer *w, enum capture_key key, uint64_t value)
{
	if (writer_accepts(w))
		capture_put_fact(&w->batch.rows[CAPTURE_CHUNK_FACTS],
			&(struct capture_fact){.key = key, .number = value});
}

void capture_writer_metric(
	struct capture_writer *w, uint32_t metric, struct str name, struct str unit)
{
	assert(metric < CAPTURE_METRIC_MAX);
	if (metric >= w->metric_count)
		w->metric_count = metric + 1;
	if (writer_accepts(w))
		capture_put_metric(&w->batch.rows[CAPTURE_CHUNK_METRICS],
			&(struct capture_metric){metric, name, unit});
}

void capture_writer_object(struct capture_writer *w, uint32_t object, struct str path,
	struct str build_id, enum capture_object_kind kind)
{
	if (writer_accepts(w))
		capture_put_object(&w->batch.rows[CAPTURE_CHUNK_OBJECTS],
			&(struct capture_object){object, kind, path, build_id, false});
}

void capture_writer_replaced(struct capture_writer *w, uint32_t object, struct str path,
	struct str build_id, enum capture_object_kind kind)
{
	if (writer_accepts(w))
		capture_put_object(&w->batch.rows[CAPTURE_CHUNK_OBJECTS],
			&(struct capture_object){object, kind, path, build_id, true});
}

void capture_writer_mark(struct capture_writer *w, uint32_t object, struct str name, uint64_t va)
{
	if (writer_accepts(w))
		capture_put_mark(&w->batch.rows[CAPTURE_CHUNK_MARKS],
			&(struct capture_mark){object, name, va});
}

void capture_writer_tail(struct capture_writer *w, const struct capture_tail *tail)
{
	if (writer_accepts(w))
		capture_put_tail(&w->batch.rows[CAPTURE_CHUNK_TAILS], tail);
}

void capture_writer_process(struct capture_writer *w, uint32_t process, int64_t pid,
	uint32_t parent_process, uint64_t start_ns, struct str name)
{
	if (writer_accepts(w))
		capture_put_process(&w->batch.rows[CAPTURE_CHUNK_PROCESSES],
			&(struct capture_process){process, parent_process, pid, start_ns, name});
}

void capture_writer_thread(struct capture_writer *w, uint32_t thread, uint32_t process, int64_t tid,
	uint64_t start_ns, struct str name)
{
	if (writer_accepts(w))
		capture_put_thread(&w->batch.rows[CAPTURE_CHUNK_THREADS],
			&(struct capture_thread){thread, process, tid, start_ns, name});
}

void capture_writer_mapping(struct capture_writer *w, uint32_t process, uint64_t time_ns,
	uint64_t low_va, uint64_t high_va, uint64_t slide, uint32_t object)
{
	if (writer_accepts(w))
		capture_put_mapping(&w->batch.rows[CAPTURE_CHUNK_MAPPINGS],
			&(struct capture_mapping){
				process, object, time_ns, low_va, high_va, slide});
}

void capture_writer_node(struct capture_writer *w, uint32_t node, uint32_t parent, uint32_t object,
	uint64_t obj_addr)
{
	struct capture_stacks_encoder *stacks = w->batch.stacks;

	if (writer_accepts(w))
		capture_stacks_node(stacks, node, parent,
			capture_stacks_frame(stacks, (struct capture_frame){object, obj_addr}));
}

void capture_writer_sample(struct capture_writer *w, uint64_t time_ns, uint32_t thread,
	uint32_t node, uint32_t zone, uint32_t labels, const int64_t *weight)
{
	struct capture_sample sample = {
		.time_ns = time_ns, .thread = thread, .node = node, .zone = zone, .labels = labels};

	if (!writer_accepts(w)) {
		w->dropped++;
		return;
	}
	for (uint32_t i = 0; i < w->metric_count; i++)
		sample.weight[i] = weight[i];
	capture_samples_add(w->batch.samples, &sample, w->metric_count);
}

void capture_writer_label(struct capture_writer *w, struct str key, struct str value)
{
	if (writer_accepts(w))
		capture_put_label(&w->batch.rows[CAPTURE_CHUNK_LABELS],
			&(struct capture_label){key, value, STR(""), 0});
}

void capture_writer_label_set(struct capture_writer *w, uint32_t rest, uint32_t label)
{
	if (writer_accepts(w))
		capture_put_label_set(&w->batch.rows[CAPTURE_CHUNK_LABEL_SETS],
			&(struct capture_label_set){rest, label});
}

/* Larger values come only from a corrupt counter, and sums of weights could not hold them. */
static int64_t zone_weight(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

void capture_writer_zone_row(struct capture_writer *w, const struct capture_zone_row *row)
{
	struct capture_sample sample = {.time_ns = row->time_ns,
		.thread = row->thread,
		.node = row->node,
		.weight = {zone_weight(row->self_ns), zone_weight(row->entries)}};

	if (writer_accepts(w))
		capture_samples_add(w->batch.zone_rows, &sample, 2);
}

void capture_writer_zone_event(
	struct capture_writer *w, uint64_t time_ns, uint32_t thread, uint32_t node)
{
	struct capture_sample sample = {.time_ns = time_ns, .thread = thread, .node = node};

	if (writer_accepts(w))
		capture_samples_add(w->batch.zone_events, &sample, 0);
}

void capture_writer_tick(struct capture_writer *w, const struct capture_tick *tick)
{
	if (writer_accepts(w))
		capture_put_tick(&w->batch.rows[CAPTURE_CHUNK_TICKS], tick);
}

static void put_count(struct capture_writer *w, uint64_t *written, uint32_t counter, uint64_t value)
{
	if (*written == value || !writer_accepts(w))
		return;
	*written = value;
	capture_put_count(
		&w->batch.rows[CAPTURE_CHUNK_COUNTERS], &(struct capture_count){counter, value});
}

void capture_writer_counter(struct capture_writer *w, enum capture_counter counter, uint64_t value)
{
	put_count(w, &w->counters[counter], counter, value);
}

void capture_writer_metric_counts(
	struct capture_writer *w, uint32_t metric, uint64_t lost, uint64_t counted)
{
	assert(metric < CAPTURE_METRIC_MAX);
	put_count(w, &w->metric_lost[metric], CAPTURE_METRIC_LOST(metric), lost);
	if (counted != UINT64_MAX)
		put_count(w, &w->metric_counted[metric], CAPTURE_METRIC_COUNTED(metric), counted);
}

void capture_writer_note(
	struct capture_writer *w, enum capture_note_kind kind, uint64_t count, struct str text)
{
	if (writer_accepts(w))
		capture_put_note(&w->batch.rows[CAPTURE_CHUNK_NOTES],
			&(struct capture_note){kind, count, text});
}

void capture_writer_symbol(struct capture_writer *w, uint32_t object, uint64_t obj_addr,
	const struct capture_symbol_frame *frames, uint32_t count)
{
	if (count && writer_accepts(w))
		capture_symbols_add(w->batch.symbols, object, obj_addr, frames, count);
}

bool capture_writer_keep_nodes(struct capture_writer *w, uint8_t *fates, size_t count)
{
	if (!capture_can_compact(&w->output))
		return false;
	w->fates = fates;
	w->fate_count = count;
	return true;
}

void capture_writer_write(struct capture_writer *w)
{
	if (!capture_writer_failed(w) && !capture_batch_is_empty(&w->batch))
		writer_write(w);
}

static void go_on_in(struct capture_writer *w, struct capture_output copy)
{
	w->output = copy;
	w->sync = capture_sync_create(copy.fd);
}

/* The old thread of capture_sync is the parent's. */
struct error *capture_writer_divert(struct capture_writer *w, const char *path)
{
	struct capture_output copy;
	struct error *err = capture_output_copy(&copy, path, &w->output);

	if (err)
		return err;
	go_on_in(w, copy);
	return NULL;
}

void capture_writer_flush(struct capture_writer *w, uint64_t now_ns)
{
	if (capture_writer_failed(w) || now_ns - w->last_write_ns < write_interval_ns)
		return;
	w->last_write_ns = now_ns;
	if (capture_batch_is_empty(&w->batch))
		return;
	writer_write(w);
	if (w->output.is_regular)
		capture_sync_request(w->sync, now_ns);
}

bool capture_writer_failed(const struct capture_writer *w)
{
	return w->output.failure != 0;
}

uint64_t capture_writer_dropped(const struct capture_writer *w)
{
	return w->dropped;
}

uint64_t capture_writer_size_bytes(const struct capture_writer *w)
{
	return w->output.size;
}

/* Called also after a failure, as it shows readers how many samples were dropped. */
static void write_end(struct capture_writer *w)
{
	struct strbuf end = {0}, chunk = {0};

	capture_put_end(&end, w->samples, w->dropped);
	capture_pack_chunk(w->batch.packer, CAPTURE_CHUNK_END, strbuf_str(&end), &chunk);
	(void)capture_output_write_anyway(&w->output, strbuf_str(&chunk));
	strbuf_deinit(&end);
	strbuf_deinit(&chunk);
}

static struct error *failure_error(const struct capture_writer *w)
{
	if (w->output.failure == 0)
		return NULL;
	struct error *err = error_system(w->output.failure, "cannot write %s", w->output.path);
	return w->dropped ? error_prefix(err, "%llu samples are not in the recording",
				    (unsigned long long)w->dropped)
			  : err;
}

/* Writes the note and the end; what is written next follows what was there before. */
static struct error *finish_with_note(struct capture_writer *w, struct str note)
{
	struct capture_place place = capture_packer_place(w->batch.packer);

	capture_writer_note(w, CAPTURE_NOTE_INFO, 1, note);
	capture_writer_write(w);
	write_end(w);
	capture_packer_go_to(w->batch.packer, place);
	struct error *err = capture_output_settle(&w->output);

	capture_sync_destroy(w->sync);
	w->sync = NULL;
	capture_output_close(&w->output);
	return err ? err : failure_error(w);
}

struct error *capture_writer_secure(
	struct capture_writer *w, const char *path, struct str note, bool *is_whole)
{
	struct capture_output copy;

	capture_writer_write(w);
	struct error *not_copied = capture_output_copy(&copy, path, &w->output);
	struct error *err = finish_with_note(w, note);

	*is_whole = err == NULL;
	if (not_copied) {
		/* There is nothing to go on in. */
		w->output.failure = EBADF;
		if (err == NULL)
			return not_copied;
		error_destroy(not_copied);
		return err;
	}
	capture_output_deinit(&w->output);
	go_on_in(w, copy);
	return err;
}

struct error *capture_writer_finish(struct capture_writer *w, uint64_t *size_bytes)
{
	if (!capture_writer_failed(w))
		writer_write(w);
	write_end(w);
	capture_sync_destroy(w->sync);
	w->sync = NULL;
	struct error *astray = capture_output_settle(&w->output);
	if (!astray && !capture_writer_failed(w))
		capture_compact(&w->output, w->fates, w->fate_count);
	capture_output_close(&w->output);
	struct error *err = failure_error(w);
	if (size_bytes)
		*size_bytes = astray ? 0 : w->output.size;
	writer_destroy(w);
	if (!astray)
		return err;
	error_destroy(err);
	return astray;
}

void capture_writer_abandon(struct capture_writer *w)
{
	if (w == NULL)
		return;
	capture_output_remove(&w->output);
	writer_destroy(w);
}
