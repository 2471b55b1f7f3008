/*
 * Cells of the statistics.
 */
#include "view/cells.h"

struct cell cells_counted(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.counted);
}

struct cell cells_expected(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.expected);
}

struct cell cells_lost(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.lost);
}

struct cell cells_foreign(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.foreign);
}

struct cell cells_critical(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.critical);
}

struct cell cells_guessed(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.guessed);
}

struct cell cells_excluded(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.excluded);
}

struct cell cells_duration(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.duration_ns);
}

struct cell cells_cpu(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.cpu_ns);
}

struct cell cells_interval(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.interval_ns);
}

struct cell cells_interval_asked(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.interval_asked_ns);
}

struct cell cells_fit(const struct report *report, size_t row)
{
	const struct certificate *c = &report->stats->certificate;

	(void)row;
	return (struct cell){.is_null = !c->is_known, .flag = certificate_is_fit(c)};
}

struct cell cells_stacks(const struct report *report, size_t row)
{
	(void)row;
	return (struct cell){.number = report->stats->stack_count};
}

struct cell cells_functions(const struct report *report, size_t row)
{
	(void)row;
	return (struct cell){.number = report->stats->entity_count};
}

struct cell cells_stack_depth_max(const struct report *report, size_t row)
{
	(void)row;
	return (struct cell){.number = report->stats->depth_max};
}

struct cell cells_stack_depth_mean(const struct report *report, size_t row)
{
	(void)row;
	if (report->stats->total == 0 || report->tree->has_negative)
		return (struct cell){.is_null = true};
	return (struct cell){.mean = report->stats->depth_mean};
}

struct cell cells_recursive(const struct report *report, size_t row)
{
	(void)row;
	return (struct cell){.weight = report->stats->recursive};
}

static const struct stats_metric *stats_metric(const struct report *report)
{
	return &report->stats->metrics[report->query.metric.i];
}

struct cell cells_metric_total(const struct report *report, size_t row)
{
	(void)row;
	return (struct cell){.weight = stats_metric(report)->total};
}

struct cell cells_metric_samples(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(stats_metric(report)->samples);
}
