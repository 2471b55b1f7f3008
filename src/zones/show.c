/* What the program's displays draw: the report with IProf's fields, its text, and the graph. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "zones/shown.h"
#include <prof_internal.h>

/* A report without rows, before there are any zones. */
static struct zone_report *empty_report(void)
{
	struct zone_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	snprintf(report->title, sizeof(report->title), "no zones yet");
	report->column[0] = ZONE_SELF;
	report->column[1] = ZONE_HIER;
	report->column[2] = ZONE_COUNT;
	report->focus_row = report->cursor_row = -1;
	return report;
}

/* Creates the current report; NULL: no memory. */
static struct zone_report *make_report(void)
{
	return zones_shown_ready() ? zone_report_create(zones_shown.history, &zones_shown.query)
				   : empty_report();
}

/* ---- the report's object: one piece of memory with all its strings ---- */

/* Copies a string to *text, and advances it. */
static char *put_string(char **text, const char *string)
{
	size_t bytes = strlen(string) + 1;
	char *place = *text;

	memcpy(place, string, bytes);
	*text += bytes;
	return place;
}

static size_t strings_bytes(const struct zone_report *report)
{
	size_t bytes = strlen(report->title) + strlen(report->trouble) + 2;
	size_t i;

	for (i = 0; i < report->row_count; i++)
		bytes += strlen(report->row[i].info.name) + 1;
	/* The headers' names; none is longer. */
	return bytes + (ZONE_COLUMNS + 1) * sizeof("count");
}

static void fill_record(
	Prof_Report_Record *record, const struct zone_report *report, size_t index, char **text)
{
	const struct zone_row *row = &report->row[index];
	int column;

	record->indent = row->indent;
	record->name = put_string(text, row->info.name);
	record->number = (int)row->number;
	record->prefix = row->prefix;
	record->value_flag = (1 << ZONE_COLUMNS) - 1;
	for (column = 0; column < ZONE_COLUMNS; column++)
		record->values[column] = zone_row_value(row, report->column[column]);
	record->heat = row->heat;
	record->zone = zones_object(row->zone);
}

static Prof_Report *copy_report(const struct zone_report *report)
{
	size_t rows = report->row_count * sizeof(Prof_Report_Record), i;
	Prof_Report *copy = calloc(1, sizeof(*copy) + rows + strings_bytes(report));
	char *text;

	if (!copy)
		return NULL;
	copy->record = (Prof_Report_Record *)(copy + 1);
	text = (char *)copy->record + rows;
	copy->title[0] = put_string(&text, report->title);
	if (report->trouble[0])
		copy->title[1] = put_string(&text, report->trouble);
	copy->header[0] = put_string(&text, "zone");
	for (i = 0; i < ZONE_COLUMNS; i++)
		copy->header[i + 1] = put_string(&text, zone_measure_name(report->column[i]));
	copy->num_record = (int)report->row_count;
	copy->hilight = report->cursor_row;
	for (i = 0; i < report->row_count; i++)
		fill_record(&copy->record[i], report, i, &text);
	return copy;
}

Prof_Report *Prof_create_report(void)
{
	struct zone_report *report;
	Prof_Report *copy = NULL;
	int saved_errno = errno;

	if (!zones_shown_lock())
		return NULL;
	report = make_report();
	zones_shown_unlock();
	if (report)
		copy = copy_report(report);
	zone_report_destroy(report);
	errno = saved_errno;
	return copy;
}

void Prof_free_report(Prof_Report *report)
{
	free(report);
}

/* ---- text ---- */

/* Written without the lock, because writing a file can block. */
int Prof_report_write(FILE *file)
{
	struct zone_report *report;
	bool is_written;

	if (!zones_shown_lock())
		return 0;
	report = make_report();
	zones_shown_unlock();
	is_written = report && zone_report_write(report, file);
	zone_report_destroy(report);
	return is_written;
}

int Prof_report_writefile(const char *path)
{
	FILE *file = fopen(path, "ae");
	int is_written;

	if (!file)
		return 0;
	is_written = Prof_report_write(file);
	if (fclose(file) != 0)
		is_written = 0;
	return is_written;
}

/* ---- the graph ---- */

/* A zone's part of the graph, the newest frame last. */
struct graph_part {
	struct graph_part *next;
	int id, count;
	float seconds[];
};

struct graph {
	struct graph_part *first, **end;
	int num_frames, marked; /* frame that is shown; -1: none of these */
};

/* The same in each run, so that a zone keeps its colour. */
static int name_hash(const char *name)
{
	uint32_t hash = 0x55555555;

	for (; *name; name++) {
		int c = *name;

		hash = (hash << 5) + (hash >> 27) + (uint32_t)c;
	}
	return hash ? (int)hash : 1;
}

static void graph_zone(uint32_t zone, const float *values, size_t count, void *data)
{
	struct graph *graph = data;
	struct graph_part *part = malloc(sizeof(*part) + sizeof(part->seconds[0]) * count);
	size_t i;

	if (!part)
		return;
	for (i = 0; i < count; i++)
		part->seconds[i] = values[i] / 1000;
	part->id = name_hash(zone_history_zone(zones_shown.history, zone).name);
	part->count = (int)count;
	part->next = NULL;
	*graph->end = part;
	graph->end = &part->next;
}

static void graph_all(struct graph *graph)
{
	size_t frame = zones_shown.query.frame;

	zone_history_graph(zones_shown.history, zones_shown.query.slot, (size_t)graph->num_frames,
		graph_zone, graph);
	if (frame > 0 && frame < (size_t)graph->num_frames)
		graph->marked = graph->num_frames - 1 - (int)frame;
}

void Prof_graph(int num_frames, void (*callback)(int id, int x0, int x1, float *values, void *data),
	void *data)
{
	struct graph graph = {NULL, NULL, num_frames, -1};
	struct graph_part *part;
	float none = 0;

	if (num_frames <= 0 || !callback || !zones_shown_lock())
		return;
	graph.end = &graph.first;
	if (zones_shown_ready())
		graph_all(&graph);
	zones_shown_unlock();
	/* Without the lock: the callback may call other functions, or never return. */
	while ((part = graph.first) != NULL) {
		callback(part->id, num_frames - part->count, num_frames, part->seconds, data);
		graph.first = part->next;
		free(part);
	}
	if (graph.marked >= 0)
		callback(0, graph.marked, graph.marked, &none, data);
}
