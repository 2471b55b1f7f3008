/*
 * The settings of the program's own displays. Each function only changes the query, which takes
 * effect at the next drawing.
 */
#include <limits.h>

#include "zones/shown.h"

void Prof_set_report_mode(Prof_Report_Mode mode)
{
	if (!zones_shown_lock())
		return;
	zone_query_set_mode(&zones_shown.query, (enum zone_mode)mode);
	zones_shown_unlock();
}

Prof_Report_Mode Prof_get_report_mode(void)
{
	return (Prof_Report_Mode)Prof_GET_(zones_shown.query.mode);
}

void Prof_move_cursor(int num)
{
	if (!zones_shown_lock())
		return;
	if (zones_shown_ready())
		zone_query_move_cursor(&zones_shown.query, zones_shown.history, num);
	zones_shown_unlock();
}

void Prof_set_cursor(int num)
{
	if (!zones_shown_lock())
		return;
	zones_shown.query.cursor = num < 0 ? 0 : num;
	zones_shown_unlock();
}

void Prof_select(void)
{
	if (!zones_shown_lock())
		return;
	if (zones_shown_ready())
		zone_query_select(&zones_shown.query, zones_shown.history);
	zones_shown_unlock();
}

void Prof_select_parent(void)
{
	if (!zones_shown_lock())
		return;
	if (zones_shown_ready())
		zone_query_select_parent(&zones_shown.query, zones_shown.history);
	zones_shown_unlock();
}

void Prof_move_frame(int num)
{
	if (!zones_shown_lock())
		return;
	if (zones_shown_ready())
		zone_query_move_frame(&zones_shown.query, zones_shown.history, num);
	zones_shown_unlock();
}

void Prof_set_frame(int num)
{
	if (!zones_shown_lock())
		return;
	zones_shown.query.frame = 0;
	if (num > 0 && zones_shown_ready())
		zone_query_move_frame(
			&zones_shown.query, zones_shown.history, num == INT_MAX ? -INT_MAX : -num);
	zones_shown_unlock();
}

void Prof_set_smoothing(int slot)
{
	if (!zones_shown_lock())
		return;
	zones_shown.query.average = slot < 0		    ? 0
				    : slot >= ZONE_AVERAGES ? ZONE_AVERAGES - 1
							    : (unsigned)slot;
	zones_shown_unlock();
}

void Prof_set_average(int slot)
{
	Prof_set_smoothing(slot);
}

int Prof_get_smoothing(void)
{
	return (int)Prof_GET_(zones_shown.query.average);
}

void Prof_set_recursion(Prof_Recursion recursion)
{
	if (!zones_shown_lock())
		return;
	zones_shown.query.recursion =
		recursion == Prof_SPREAD_RECURSION ? ZONE_SPREAD : ZONE_FLATTEN;
	zones_shown_unlock();
}

/* ---- frozen ---- */

void Prof_freeze_over(double ms)
{
	if (!zones_shown_lock())
		return;
	zones_shown.freeze_over_ms = ms;
	if (zones_shown_ready())
		zone_history_freeze_over(zones_shown.history, ms);
	zones_shown_unlock();
}

void Prof_set_frozen(int frozen)
{
	if (!zones_shown_lock())
		return;
	if (zones_shown_ready())
		zone_history_set_frozen(zones_shown.history, frozen != 0);
	zones_ring_freeze(frozen != 0);
	zones_shown_unlock();
}

int Prof_get_frozen(void)
{
	struct zonewire_header *header = zones_header();

	return header && Prof_GET_(header->is_frozen) != 0;
}
