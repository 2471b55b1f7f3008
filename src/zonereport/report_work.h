#ifndef SONDE_ZONEREPORT_REPORT_WORK_H
#define SONDE_ZONEREPORT_REPORT_WORK_H

/*
 * The input of rows: for each node, its values in the report, and its entity.  An entity is a zone,
 * or, with spread recursion, a zone with a given number of the same zone above it.
 *
 * Frameless time: if all threads are shown and some of them end frames, the time that the others
 * spend outside zones is not the value of a node but a separate sum.
 */

#include "zonereport/history_state.h"
#include "zonereport/report.h"

/* The sums of a row, in ticks and entries. */
struct entity_sum {
	double self, hier, count;
	double calls; /* entries in its hier, of zones that took time */
};

struct entity {
	uint32_t zone, depth;
	uint32_t number; /* maximum number of the same zone above; with spread recursion, the
			    depth */
	bool is_there;	 /* has a node */
	bool has_children;
	/* Sums of roots of averaged squares, over the nodes in self and hier. */
	double self_root, hier_root;
};

struct report_work {
	const struct zone_history *history;
	struct zone_query query; /* clamped */
	uint32_t node_count;
	struct node_value *value; /* [node_count]; 0 for slots that are not shown */
	struct entity_sum *total; /* [node_count]: including nodes below; self and count are not
				     used */
	uint32_t *entity_of;	  /* [node_count]; UINT32_MAX: not shown */
	uint32_t *first_entity;	  /* [zone_count + 1]: of each zone, ordered by depth */
	uint32_t zone_count;
	struct entity *entity; /* [entity_count] */
	uint32_t entity_count;
	struct entity_sum all; /* the sum of everything */
	double frameless;      /* ticks; not included anywhere else */
};

#define ENTITY_NONE UINT32_MAX

/* False: out of memory; call deinit anyway. */
bool report_work_init(struct report_work *work, const struct zone_history *history,
	const struct zone_query *query);
void report_work_deinit(struct report_work *work);
/* Whether no node above has the same entity. */
bool report_is_outermost(const struct report_work *work, uint32_t node);
/* The number of the node above; 0 for a root. */
uint32_t report_above(const struct report_work *work, uint32_t node);

/* Appends a row with those sums to the report, which must have room. */
struct zone_row *report_put_row(struct zone_report *report, const struct report_work *work,
	enum zone_row_kind kind, uint32_t entity, const struct entity_sum *sum);

/* Adds the rows for the query's mode; false: out of memory. */
bool report_flat(struct zone_report *report, const struct report_work *work);
bool report_graph(struct zone_report *report, const struct report_work *work);
/* Sets the titles, after the rows. */
void report_titles(struct zone_report *report, const struct report_work *work);

#endif
