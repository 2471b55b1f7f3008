/*
 * The list of events.
 */
#include "cli/event_help.h"

#include <stdio.h>
#include <string.h>

#include "record/events/event_ability.h"

/* Width of the column of names. */
#define NAME_WIDTH 26

static const char *verdict_word(enum event_verdict verdict)
{
	switch (verdict) {
	case EVENT_POSSIBLE:
		return "yes";
	case EVENT_FORBIDDEN:
		return "not you";
	case EVENT_ABSENT:
		break;
	}
	return "no";
}

static bool print_event(const struct event_name *event)
{
	enum event_verdict verdict = event_try_name(event);

	if (!event->help && !event->alias) {
		printf("  %-*s %s\n", NAME_WIDTH, event->name, verdict_word(verdict));
		return verdict == EVENT_FORBIDDEN;
	}
	printf("  %-*s %-8s ", NAME_WIDTH, event->name, verdict_word(verdict));
	if (event->help)
		printf("%s", event->help);
	if (event->alias)
		printf("%salso called %s", event->help ? "; " : "", event->alias);
	printf("\n");
	return verdict == EVENT_FORBIDDEN;
}

/* Returns whether any of them is forbidden. */
static bool print_kind(const char *title, enum event_kind kind)
{
	size_t count = event_name_count();
	bool forbidden = false;

	printf("%s\n", title);
	for (size_t i = 0; i < count; i++) {
		struct event_name event = event_name_at(i);

		if (event.kind == kind)
			forbidden |= print_event(&event);
	}
	printf("\n");
	return forbidden;
}

static void print_others(void)
{
	const char *directory = event_tracepoint_directory();

	printf("Others\n");
	printf("  %-*s %-8s an event of the processor's by its number in hexadecimal\n", NAME_WIDTH,
		"rNNN", verdict_word(event_try_hardware()));
	printf("  %-*s %-8s a tracepoint of the kernel's", NAME_WIDTH, "GROUP:NAME",
		directory ? "yes" : "no");
	if (directory)
		printf("; they stand in %s\n\n", directory);
	else
		printf(", for root, once tracefs is mounted:\n"
		       "  %-*s %-8s sudo mount -t tracefs tracefs /sys/kernel/tracing\n\n",
			NAME_WIDTH, "", "");
}

void event_help_print(void)
{
	bool forbidden = print_kind("Software events, which the kernel counts", EVENT_SOFTWARE);

	forbidden |= print_kind("Hardware events, which the processor counts", EVENT_HARDWARE);
	forbidden |= print_kind("Its caches", EVENT_CACHE);
	print_others();
	if (event_try_hardware() == EVENT_ABSENT)
		printf("This machine has no hardware counters; it is a virtual one, most "
		       "likely.\n");
	if (forbidden)
		printf("Allow what is not for you with `sudo sysctl "
		       "kernel.perf_event_paranoid=1`, or record as root.\n");
	printf("Each takes :period=N, a sample after so many, or :freq=HZ, samples a second "
	       "(default %u).\n",
		EVENT_FREQUENCY_DEFAULT);
}
