/*
 * The text of a report: titles, labels and the plain text form.  Names from the program have
 * everything except printable UTF-8 as \xNN, so that they cannot control a terminal.
 */
#include <stdarg.h>
#include <string.h>

#include "zonereport/report_work.h"

enum { LABEL_COLUMNS = 30, LABEL_BYTES = 4 * LABEL_COLUMNS + 1 };
/* If there are longer names: otherwise C++ functions would look alike. */
enum { LABEL_COLUMNS_MAX = 100, LABEL_BYTES_MAX = 4 * LABEL_COLUMNS_MAX + 1 };

/* ---- escaping ---- */

/* The size of the UTF-8 character at s, and its code point; 0: invalid. */
static size_t decode(const unsigned char *s, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t bytes = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

	if (bytes == 1) {
		*code = s[0];
		return 1;
	}
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	*code = s[0] & (0x7fu >> bytes);
	for (size_t i = 1; i < bytes; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[bytes] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return bytes;
}

/* Controls, and characters that are invisible or change the direction of others. */
static bool is_printable(uint32_t c)
{
	return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && c != 0x61c && c != 0xfeff &&
	       !(c >= 0x200b && c <= 0x200f) && !(c >= 0x2028 && c <= 0x202e) &&
	       !(c >= 0x2060 && c <= 0x206f) && !(c >= 0xfff9 && c <= 0xfffb) &&
	       !(c >= 0xe0000 && c <= 0xe007f);
}

struct writer {
	char *to;
	size_t room, used; /* room: without the NUL */
	size_t columns, columns_max;
};

static bool put_bytes(struct writer *w, const char *s, size_t bytes, size_t columns)
{
	if (w->used + bytes > w->room || w->columns + columns > w->columns_max)
		return false;
	memcpy(w->to + w->used, s, bytes);
	w->used += bytes;
	w->columns += columns;
	return true;
}

/* Writes as many whole characters of the name as fit. */
static bool put_escaped(struct writer *w, const char *name)
{
	static const char digit[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)name;

	while (*s) {
		uint32_t code = 0;
		size_t bytes = decode(s, &code);
		size_t raw = bytes ? bytes : 1;

		if (bytes && is_printable(code)) {
			if (!put_bytes(w, (const char *)s, bytes, 1))
				return false;
			s += bytes;
			continue;
		}
		for (size_t i = 0; i < raw; i++, s++) {
			char hex[4] = {'\\', 'x', digit[*s >> 4], digit[*s & 15]};

			if (!put_bytes(w, hex, sizeof(hex), sizeof(hex)))
				return false;
		}
	}
	return true;
}

/* False: it did not fit completely. */
static bool put_label(struct writer *w, const struct zone_row *row)
{
	char number[16];
	int bytes = snprintf(number, sizeof(number), " (%u)", (unsigned)row->number);

	return put_bytes(w, row->prefix ? &row->prefix : " ", 1, 1) &&
	       put_escaped(w, row->info.name[0] ? row->info.name : "?") &&
	       (!row->number || put_bytes(w, number, (size_t)bytes, (size_t)bytes));
}

size_t zone_row_label(const struct zone_row *row, char *label, size_t bytes)
{
	struct writer w = {.to = label, .room = bytes - 1, .columns_max = SIZE_MAX};

	put_label(&w, row);
	label[w.used] = '\0';
	return w.used;
}

/* ---- titles ---- */

static const char *mode_title(enum zone_mode mode)
{
	switch (mode) {
	case ZONE_MODE_HIER:
		return "sort hier";
	case ZONE_MODE_GRAPH:
		return "call graph";
	case ZONE_MODE_DESCENDANTS:
		return "descendants";
	case ZONE_MODE_NAME:
		return "sort name";
	case ZONE_MODE_SELF:
	case ZONE_MODES:
		break;
	}
	return "sort self";
}

static void put_title(struct zone_report *report)
{
	double ms = report->frame_ms, fps = ms > 0 ? 1000 / ms : 0;
	struct zone_unit unit = zone_unit_of(ms);
	size_t frame = report->query.frame;
	int used = snprintf(report->title, sizeof(report->title),
		"%3.3lf %s/frame (fps: %3.2lf)  %s - ", ms / unit.ms, unit.name, fps,
		mode_title(report->query.mode));

	if (frame == 0)
		snprintf(report->title + used, sizeof(report->title) - (size_t)used,
			"current frame");
	else
		snprintf(report->title + used, sizeof(report->title) - (size_t)used,
			"%zu frame%s ago", frame, frame == 1 ? "" : "s");
}

void zone_report_title_run(struct zone_report *report)
{
	snprintf(report->title, sizeof(report->title), "%.3f ms in all  %s", report->frame_ms,
		mode_title(report->query.mode));
}

/* Appends a text, after "; " if it is not the first; omits it if it does not fit. */
__attribute__((format(printf, 2, 3))) static void add_trouble(
	struct zone_report *report, const char *format, ...)
{
	size_t used = strlen(report->trouble), room = sizeof(report->trouble) - used;
	const char *between = used ? "; " : "";
	size_t skip = strlen(between);
	va_list arguments;
	int bytes;

	if (room <= skip)
		return;
	memcpy(report->trouble + used, between, skip);
	va_start(arguments, format);
	bytes = vsnprintf(report->trouble + used + skip, room - skip, format, arguments);
	va_end(arguments);
	if (bytes < 0 || (size_t)bytes >= room - skip)
		report->trouble[used] = '\0';
}

static void zone_name(const struct zone_history *history, uint32_t zone, char name[LABEL_BYTES])
{
	struct writer w = {.to = name, .room = LABEL_BYTES - 1, .columns_max = LABEL_COLUMNS};

	put_escaped(&w, zone_history_zone(history, zone).name);
	name[w.used] = '\0';
}

void zone_last_end_words(
	uint32_t open_zone, const char *open, const char *ended, char *text, size_t bytes)
{
	text[0] = '\0';
	if (ended[0])
		snprintf(text, bytes, "%s ended where %s was open", ended, open);
	else if (open_zone == ZONEWIRE_ZONE_GLOBAL)
		snprintf(text, bytes, "where no zone was open");
	else if (open[0])
		snprintf(text, bytes, "where %s was open", open);
}

static void put_ends(struct zone_report *report, const struct zone_history *history)
{
	unsigned long long missing = history->trouble[ZONEWIRE_MISSING_END];
	unsigned long long extra = history->trouble[ZONEWIRE_EXTRA_END];
	char open[LABEL_BYTES], ended[LABEL_BYTES], words[2 * LABEL_BYTES + 64];

	if (!missing && !extra)
		return;
	zone_name(history, history->trouble_open, open);
	zone_name(history, history->trouble_ended, ended);
	zone_last_end_words(history->trouble_open, open, ended, words, sizeof(words));
	if (missing)
		add_trouble(report, "%llu missing Prof_End", missing);
	if (extra)
		add_trouble(report, "%llu extra Prof_End", extra);
	if (words[0])
		add_trouble(report, "last: %s", words);
}

struct loss {
	unsigned long long count;
	const char *one, *several;
};

static void put_loss(struct zone_report *report, struct loss loss)
{
	if (loss.count)
		add_trouble(
			report, "%llu %s", loss.count, loss.count == 1 ? loss.one : loss.several);
}

static void put_troubles(struct zone_report *report, const uint64_t *trouble)
{
	const struct loss losses[] = {
		{trouble[ZONEWIRE_TOO_DEEP], "entry too deep to measure, with all below it",
			"entries too deep to measure, with all below them"},
		{trouble[ZONEWIRE_NO_NODES], "entry without room for its stack, with all below it",
			"entries without room for their stack, with all below them"},
		{trouble[ZONEWIRE_NO_ZONES], "time no room for a zone, put into ...other",
			"times no room for a zone, put into ...other"},
		{trouble[ZONEWIRE_NO_SLOTS], "entry by a thread without room, with all below it",
			"entries by threads without room, with all below them"},
		{trouble[ZONEWIRE_NO_RING], "thread without events", "threads without events"},
		{trouble[ZONEWIRE_INTERRUPTED], "entry by a signal handler not measured",
			"entries by signal handlers not measured"},
		{trouble[ZONEWIRE_TICK_TOO_BIG], "frame cut", "frames cut"},
		{trouble[ZONEWIRE_CLOCK_BACK], "time the clock went back",
			"times the clock went back"},
		{trouble[ZONEWIRE_NO_STREAMS], "frame of a stream without room",
			"frames of streams without room"},
		{trouble[ZONEWIRE_UNTOLD_CHILD],
			"child process by _Fork or clone, which is not measured",
			"child processes by _Fork or clone, which are not measured"},
	};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		put_loss(report, losses[i]);
}

/* Describes what is missing in this history. */
static void put_losses(struct zone_report *report, const struct zone_history *history)
{
	const struct loss losses[] = {
		{history->bytes_lost, "byte of frames overwritten before it was read",
			"bytes of frames overwritten before they were read"},
		{history->frames_lost, "frame lost for lack of memory",
			"frames lost for lack of memory"},
		{history->deltas_cut, "zone of a too large frame not in the history",
			"zones of too large frames not in the history"},
	};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		put_loss(report, losses[i]);
}

void report_titles(struct zone_report *report, const struct report_work *work)
{
	double part = report->total_ms > 0 ? report->overhead_ms / report->total_ms : 0;

	put_title(report);
	if (work->history->end_is_proven)
		add_trouble(
			report, "its end is not known: open zones took at least as long as shown");
	put_ends(report, work->history);
	put_troubles(report, work->history->trouble);
	put_losses(report, work->history);
	if (part > 0.04)
		add_trouble(report,
			"estimated %4.2f%% profile overhead--%5.3f microsec/call, %5.4f ms total",
			part * 100, report->query.call_ns / 1e3, report->overhead_ms);
}

/* ---- text ---- */

/* The width of labels: that of the longest, within limits. */
static size_t label_columns(const struct zone_report *report)
{
	size_t columns = LABEL_COLUMNS;

	for (size_t i = 0; i < report->row_count && columns < LABEL_COLUMNS_MAX; i++) {
		char label[LABEL_BYTES_MAX];
		struct writer w = {.to = label,
			.room = sizeof(label),
			.columns = (size_t)report->row[i].indent,
			.columns_max = LABEL_COLUMNS_MAX};

		if (!put_label(&w, &report->row[i]))
			return LABEL_COLUMNS_MAX;
		if (columns < w.columns)
			columns = w.columns;
	}
	return columns;
}

/* Writes a label with its indent in exactly that many columns; a truncated one ends in dots. */
static void write_label(const struct zone_row *row, size_t columns, FILE *file)
{
	char label[LABEL_BYTES_MAX];
	struct writer w = {.to = label, .room = sizeof(label) - 1, .columns_max = columns};
	size_t whole = columns - 3;

	for (int i = 0; i < row->indent; i++)
		put_bytes(&w, " ", 1, 1);
	struct writer dotted = w;

	if (!put_label(&w, row)) {
		w = dotted;
		w.columns_max = whole;
		put_label(&w, row);
		w.columns_max = columns;
		put_bytes(&w, "...", 3, 3);
	}
	while (put_bytes(&w, " ", 1, 1))
		;
	label[w.used] = '\0';
	fputs(label, file);
}

/* Columns have no unit if it is the default, milliseconds. */
bool zone_report_write(const struct zone_report *report, FILE *file)
{
	bool is_usual = report->unit.ms == 1;
	size_t columns = label_columns(report);

	fprintf(file, "%s\n", report->title);
	if (report->trouble[0])
		fprintf(file, "%s\n", report->trouble);
	fprintf(file, "%-*s", (int)columns, " zone");
	for (int c = 0; c < ZONE_COLUMNS; c++) {
		char header[16];

		snprintf(header, sizeof(header), "%s%s%s", zone_measure_name(report->column[c]),
			is_usual || report->column[c] == ZONE_COUNT ? "" : " ",
			is_usual || report->column[c] == ZONE_COUNT ? "" : report->unit.name);
		fprintf(file, " %10s", header);
	}
	fputc('\n', file);
	for (size_t i = 0; i < report->row_count; i++) {
		write_label(&report->row[i], columns, file);
		for (int c = 0; c < ZONE_COLUMNS; c++)
			fprintf(file, " %10.3lf",
				zone_row_value(&report->row[i], report->column[c]) /
					(report->column[c] == ZONE_COUNT ? 1 : report->unit.ms));
		fputc('\n', file);
	}
	return !ferror(file);
}
