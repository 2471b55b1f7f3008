/*
 * Which perf events may be opened here, found out by trying, and the messages for refusals.
 *
 * Events that happen only in kernel code need the right to sample there.  Without it,
 * perf_event_open accepts them with exclude_kernel, but then never counts anything.  So they are
 * tried with the kernel, others without.
 */
#include "record/events/event_ability.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include "record/events/perf_attr.h"

/* ---- refusals ---- */

/* Docker's filter allows CAP_PERFMON; Podman's since containers/container-libs#424. */
const char event_container_cure[] =
	"start the container with --cap-add PERFMON, or on its host `sudo sonde record -p PID`; "
	"where neither helps, with --security-opt seccomp=unconfined";

struct error *ability_refusal(const struct error *cause)
{
	int paranoid = perf_event_paranoid();

	if (cause->code == ENOSYS && !perf_event_is_filtered())
		return error_new(
			ERROR_UNSUPPORTED, "this kernel has no perf events (%s)", cause->message);
	if (cause->code == EMFILE)
		return error_new(ERROR_UNSUPPORTED,
			"sampling could not be set up: %s: allow more with `ulimit -n`",
			cause->message);
	if (cause->code != EACCES && cause->code != EPERM && cause->code != ENOSYS)
		return error_new(
			ERROR_UNSUPPORTED, "sampling could not be set up: %s", cause->message);
	if (paranoid > 2)
		return error_new(ERROR_UNSUPPORTED,
			"sampling is not allowed, as kernel.perf_event_paranoid is %d: allow it "
			"with `sudo sysctl kernel.perf_event_paranoid=2`",
			paranoid);
	if (perf_event_is_filtered())
		return error_new(ERROR_UNSUPPORTED,
			"sampling is not allowed, as a seccomp filter refuses perf_event_open "
			"(%s): %s",
			cause->message, event_container_cure);
	return error_new(ERROR_UNSUPPORTED, "sampling is not allowed: %s", cause->message);
}

struct error *ability_refusal_machine(const struct error *cause)
{
	if ((cause->code != EACCES && cause->code != EPERM) || geteuid() == 0)
		return ability_refusal(cause);
	return error_new(ERROR_UNSUPPORTED,
		"the whole machine may be recorded by root, with `sudo sonde record -a`, or by "
		"all after `sudo sysctl kernel.perf_event_paranoid=0`; it is %d",
		perf_event_paranoid());
}

/* ---- events ---- */

static enum event_verdict try_event(uint32_t type, uint64_t config, bool in_kernel)
{
	int code = perf_attr_try(type, config, in_kernel, false);

	if (code == 0)
		return EVENT_POSSIBLE;
	return code == EACCES || code == EPERM || code == ENOSYS ? EVENT_FORBIDDEN : EVENT_ABSENT;
}

enum event_verdict event_try(const struct event_spec *spec)
{
	return try_event(spec->type, spec->config, spec->in_kernel);
}

enum event_verdict event_try_name(const struct event_name *name)
{
	return try_event(name->type, name->config, name->in_kernel);
}

enum event_verdict event_try_hardware(void)
{
	return try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false);
}

void event_put_possible(struct strbuf *out)
{
	size_t count = event_name_count();
	bool is_first = true;

	for (size_t i = 0; i < count; i++) {
		struct event_name event = event_name_at(i);

		if (event.kind != EVENT_SOFTWARE || event.is_rare ||
			event_try_name(&event) != EVENT_POSSIBLE)
			continue;
		strbuf_printf(out, "%s%s", is_first ? "" : ", ", event.name);
		is_first = false;
	}
}

static struct error *refuse_absent(const struct event_spec *spec)
{
	struct strbuf possible = {0};
	struct error *err;

	if (event_try_hardware() == EVENT_POSSIBLE || spec->type == PERF_TYPE_SOFTWARE ||
		spec->type == PERF_TYPE_TRACEPOINT)
		return error_new(
			ERROR_UNSUPPORTED, "this machine does not count %.*s", STR_ARG(spec->name));
	event_put_possible(&possible);
	err = error_new(ERROR_UNSUPPORTED,
		"this machine has no hardware counters, so %.*s can't be counted; these can: %.*s",
		STR_ARG(spec->name), STR_ARG(strbuf_str(&possible)));
	strbuf_deinit(&possible);
	return err;
}

static struct error *refuse_forbidden(const struct event_spec *spec)
{
	int code = perf_attr_try(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false, false);

	if (code == 0)
		return error_new(ERROR_UNSUPPORTED,
			"%.*s happen in the kernel, which you may not sample: allow it with `sudo "
			"sysctl kernel.perf_event_paranoid=1`, or record as root",
			STR_ARG(spec->name));
	struct error *cause = error_system(code, "perf_event_open");
	struct error *refusal = ability_refusal(cause);

	error_destroy(cause);
	return error_prefix(refusal, "%.*s can't be counted", STR_ARG(spec->name));
}

struct error *event_refusal(const struct event_spec *spec)
{
	switch (event_try(spec)) {
	case EVENT_FORBIDDEN:
		return refuse_forbidden(spec);
	case EVENT_ABSENT:
		return refuse_absent(spec);
	case EVENT_POSSIBLE:
		break;
	}
	return NULL;
}
