/*
 * The tracks, threads and processes of a Perfetto trace.
 *
 * Source: track_descriptor.proto, process_tree.proto and their like in protos/perfetto/trace of
 * Perfetto.
 */
#include "formats/perfetto/reader.h"

bool perfetto_place_id(struct perfetto *f, struct map *places, uint64_t id, size_t count,
	size_t row_bytes, uint32_t *place)
{
	bool is_new;

	if (!map_get(places, id, 0, place) && f->tracks_left == 0) {
		f->too_many++;
		id = UINT64_MAX;
	}
	*place = *map_at(places, id, 0, (uint32_t)count, &is_new);
	if (is_new) {
		builder_charge(f->chrome.builder, row_bytes + MAP_ENTRY_BYTES);
		f->tracks_left -= f->tracks_left > 0;
	}
	return is_new;
}

uint32_t perfetto_track_at(struct perfetto *f, uint64_t uuid)
{
	uint32_t at;

	if (perfetto_place_id(
		    f, &f->track_ids, uuid, f->tracks.count, sizeof(struct perfetto_track), &at))
		vec_push(&f->tracks, (struct perfetto_track){0});
	return at;
}

/* Reads the ids and the name from a descriptor of a process or a thread. */
static void read_task(struct perfetto *f, struct cursor c, struct perfetto_track *track)
{
	uint32_t name = track->is_thread ? THREAD_NAME : PROCESS_NAME;
	struct proto_field field;

	while (proto_next(&c, &field)) {
		if (field.number == (track->is_thread ? THREAD_PID : PROCESS_PID))
			track->pid = (int32_t)field.value;
		else if (field.number == THREAD_TID && track->is_thread)
			track->tid = (int64_t)field.value;
		else if (field.number == name && field.type == PROTO_BYTES)
			track->name = builder_string(f->chrome.builder, field.bytes);
	}
}

uint32_t perfetto_thread_of(struct perfetto *f, uint64_t uuid)
{
	uint32_t at = perfetto_track_at(f, uuid);
	struct perfetto_track track = f->tracks.data[at], above = track;

	/* The process is that of the nearest parent that has one. */
	for (unsigned int i = 0; i < 16 && !above.is_thread && !above.is_process && above.parent;
		i++) {
		uint32_t parent = perfetto_track_at(f, above.parent);
		above = f->tracks.data[parent];
	}
	int64_t tid = track.is_thread ? track.tid : -1 - (int64_t)at;
	uint32_t thread = chrome_thread_at(&f->chrome, above.pid, tid);
	struct chrome_thread *t = &f->chrome.threads.data[thread];
	if (track.name.i && !track.is_process)
		t->name = track.name;
	return thread;
}

void perfetto_read_descriptor(struct perfetto *f, const struct proto_field *message)
{
	struct cursor c = proto_message(&f->file, message);
	struct perfetto_track track = {0};
	struct proto_field field;
	uint64_t uuid = 0;

	while (proto_next(&c, &field))
		switch (field.number) {
		case TRACK_UUID:
			uuid = field.value;
			break;
		case TRACK_NAME:
		case TRACK_STATIC_NAME:
		case TRACK_ATRACE_NAME:
			track.name = builder_string(f->chrome.builder, field.bytes);
			break;
		case TRACK_PROCESS:
			track.is_process = true;
			read_task(f, proto_message(&c, &field), &track);
			break;
		case TRACK_THREAD:
			track.is_thread = true;
			read_task(f, proto_message(&c, &field), &track);
			break;
		case TRACK_PARENT_UUID:
			track.parent = field.value;
			break;
		default:
			break;
		}
	uint32_t at = perfetto_track_at(f, uuid);
	f->tracks.data[at] = track;
	if (track.is_thread) {
		uint32_t thread = perfetto_thread_of(f, uuid);
		f->chrome.threads.data[thread].is_used = true;
	}
	if (track.is_process && track.name.i) {
		at = chrome_process_at(&f->chrome, track.pid);
		f->chrome.processes.data[at].name = track.name;
	}
}

/* Reads a process: its name is the first word of the command line. */
static void read_tree_process(struct perfetto *f, struct cursor c)
{
	struct proto_field field;
	string_id name = {0};
	int64_t pid = -1;

	while (proto_next(&c, &field)) {
		if (field.number == TREE_PROCESS_PID)
			pid = (int32_t)field.value;
		else if (field.number == TREE_PROCESS_COMMAND && name.i == 0)
			name = builder_string(f->chrome.builder, str_base_name(field.bytes));
	}
	if (pid >= 0 && name.i) {
		/* A new process moves `processes.data`. */
		uint32_t process = chrome_process_at(&f->chrome, pid);
		f->chrome.processes.data[process].name = name;
	}
}

static void read_tree_thread(struct perfetto *f, struct cursor c)
{
	struct proto_field field;
	string_id name = {0};
	int64_t pid = -1, tid = -1;

	while (proto_next(&c, &field)) {
		if (field.number == TREE_THREAD_TID)
			tid = (int32_t)field.value;
		else if (field.number == TREE_THREAD_NAME)
			name = builder_string(f->chrome.builder, field.bytes);
		else if (field.number == TREE_THREAD_TGID)
			pid = (int32_t)field.value;
	}
	if (pid >= 0 && tid >= 0 && name.i) {
		uint32_t thread = chrome_thread_at(&f->chrome, pid, tid);
		f->chrome.threads.data[thread].name = name;
	}
}

void perfetto_read_tree(struct perfetto *f, const struct proto_field *message)
{
	struct cursor c = proto_message(&f->file, message);
	struct proto_field field;

	while (proto_next(&c, &field)) {
		if (f->tracks_left == 0) {
			f->too_many++;
			return;
		}
		f->tracks_left--;
		if (field.number == TREE_PROCESS)
			read_tree_process(f, proto_message(&c, &field));
		else if (field.number == TREE_THREAD)
			read_tree_thread(f, proto_message(&c, &field));
	}
}
