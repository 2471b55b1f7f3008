/*
 * sonde doctor: what this machine allows, and the exact command that would allow more.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "record/ability.h"
#include "record/carried/carried_libraries.h"
#include "record/events/event_ability.h"

enum verdict {
	VERDICT_OK,
	VERDICT_LIMITED,
	VERDICT_NO,
};

struct check {
	const char *name;
	/* Sets text to the state, and *remedy to what would allow more (NULL: nothing). */
	enum verdict (*look)(
		const struct recorder_ability *a, char *text, size_t size, const char **remedy);
	bool needs_perf; /* unavailable if perf events are refused */
};

static enum verdict look_sampling(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	if (a->perf_open) {
		snprintf(text, size, "perf events work on our own programs (paranoid level %d)",
			a->paranoid);
		return VERDICT_OK;
	}
	snprintf(text, size, "perf_event_open: %s", strerror(a->perf_errno));
	if (a->paranoid > 2)
		*remedy = "sudo sysctl kernel.perf_event_paranoid=2";
	else if (a->seccomp)
		*remedy = event_container_cure;
	return VERDICT_NO;
}

static enum verdict look_preload(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	(void)remedy;
	if (a->preload)
		snprintf(text, size,
			"commands can be sampled by a library, where perf events are refused");
	else
		snprintf(text, size, "libsonde-preload.so %s", library_missing);
	return a->preload ? VERDICT_OK : VERDICT_NO;
}

static enum verdict look_kernel(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	if (a->kernel) {
		snprintf(text, size, "kernel code is sampled too");
		return VERDICT_OK;
	}
	snprintf(text, size, "only user code is sampled");
	if (a->perf_open)
		*remedy = a->is_root ? "start the container with --cap-add PERFMON"
				     : "sudo sysctl kernel.perf_event_paranoid=1";
	return a->perf_open ? VERDICT_LIMITED : VERDICT_NO;
}

static enum verdict look_kernel_names(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	if (a->kallsyms) {
		snprintf(text, size, "/proc/kallsyms shows addresses");
		return VERDICT_OK;
	}
	snprintf(text, size, "/proc/kallsyms hides addresses: kernel frames stay unnamed");
	/* The kernel requires both (kallsyms_show_value). */
	*remedy = "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";
	return VERDICT_LIMITED;
}

static enum verdict look_rings(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	snprintf(text, size, "%" PRIu64 " KB for each CPU", a->ring_bytes >> 10);
	if (a->ring_bytes >= (uint64_t)1 << 20)
		return VERDICT_OK;
	*remedy = "sudo sysctl kernel.perf_event_mlock_kb=4612";
	return VERDICT_LIMITED;
}

static enum verdict look_memory(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	if (a->remote_reads) {
		snprintf(text, size,
			"a child's memory can be read: deep stacks are whole while they stand "
			"still");
		return VERDICT_OK;
	}
	snprintf(text, size, "a child's memory can't be read: deep stacks may be cut");
	*remedy = "sudo sysctl kernel.yama.ptrace_scope=1";
	return VERDICT_LIMITED;
}

static enum verdict look_wakers(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	if (a->waking_refusal[0] == '\0') {
		snprintf(text, size, "who wakes threads that wait can be recorded, with --wakers");
		return VERDICT_OK;
	}
	snprintf(text, size, "%s", a->waking_refusal);
	if (!a->is_root)
		*remedy = "sudo sonde record --wakers";
	return VERDICT_LIMITED;
}

static enum verdict look_exact(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	if (a->exact_refusal[0] == '\0') {
		snprintf(text, size, "stacks are copied whole in the kernel at each sample");
		return VERDICT_OK;
	}
	snprintf(text, size,
		"stacks can't be copied in the kernel: %s; commands that sonde starts have a "
		"library copy theirs",
		a->exact_refusal);
	if (strstr(a->exact_refusal, "CAP_BPF"))
		*remedy = a->is_root ? "start the container with --cap-add BPF --cap-add PERFMON"
				     : "sudo setcap cap_bpf,cap_perfmon+ep $(which sonde)";
	return VERDICT_LIMITED;
}

/* Depends on the program, not the machine. */
static enum verdict look_generated(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	(void)a;
	snprintf(text, size,
		"code made at run time (Java, JavaScript) has no unwind rules: its callers are "
		"likely, marked [guessed]");
	*remedy = "a jitdump from the program: node --perf-prof";
	return VERDICT_LIMITED;
}

static enum verdict look_rate(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	snprintf(text, size, "up to %d samples a second (kernel.perf_event_max_sample_rate)",
		a->max_sample_rate);
	if (a->max_sample_rate >= 10000)
		return VERDICT_OK;
	*remedy = "sudo sysctl kernel.perf_event_max_sample_rate=100000";
	return VERDICT_LIMITED;
}

static enum verdict look_attaching(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	if (a->any_process) {
		snprintf(text, size, "-p takes any process");
		return VERDICT_OK;
	}
	if (a->is_root) {
		snprintf(text, size,
			"-p takes programs of root that have no capability that sonde lacks");
		*remedy = "start the container with --cap-add SYS_PTRACE";
		return VERDICT_LIMITED;
	}
	if (a->ptrace_scope > 0) {
		snprintf(text, size,
			"-p takes our own processes, without the outer part of deep stacks "
			"(kernel.yama.ptrace_scope is %d)",
			a->ptrace_scope);
		*remedy = "sudo sysctl kernel.yama.ptrace_scope=0";
		return VERDICT_LIMITED;
	}
	snprintf(text, size, "-p takes our own processes");
	*remedy = "sudo sonde record -p PID";
	return VERDICT_LIMITED;
}

static enum verdict look_machine(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	if (a->system_wide) {
		snprintf(text, size, "other users' programs can be sampled too");
		return VERDICT_OK;
	}
	snprintf(text, size, "only our own programs can be sampled");
	*remedy = a->is_root ? "start the container with --cap-add PERFMON --pid host"
			     : "sudo sysctl kernel.perf_event_paranoid=0";
	return VERDICT_LIMITED;
}

static enum verdict look_agent(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	const char *ptrace = a->any_process ? "" : " CAP_SYS_PTRACE (others' libraries),";
	const char *read = a->reads_all ? "" : " CAP_DAC_READ_SEARCH (their files),";
	const char *log = a->kallsyms ? "" : " CAP_SYSLOG (kernel names),";
	int length;

	if (!a->system_wide) {
		snprintf(text, size, "sonde agent needs CAP_PERFMON, to sample the whole machine");
		*remedy = a->is_root ? "start the container with --cap-add PERFMON --pid host"
				     : "sudo systemctl start sonde-agent";
		return VERDICT_NO;
	}
	if (!*ptrace && !*read && !*log) {
		snprintf(text, size, "sonde agent can sample and name everything");
		return VERDICT_OK;
	}
	length = snprintf(text, size, "sonde agent works here, without%s%s%s", ptrace, read, log);
	if (length > 0 && (size_t)length < size)
		text[length - 1] = '\0'; /* the last comma */
	return VERDICT_LIMITED;
}

static enum verdict look_hardware(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	(void)remedy;
	snprintf(text, size,
		a->hardware ? "there are hardware counters: -e cycles and the like work"
			    : "this machine has no hardware counters: time can be sampled, cycles "
			      "can't be counted");
	return a->hardware ? VERDICT_OK : VERDICT_LIMITED;
}

static enum verdict look_events(
	const struct recorder_ability *a, char *text, size_t size, const char **remedy)
{
	struct strbuf possible = {0};

	event_put_possible(&possible);
	snprintf(text, size, "%s%s can be counted, with -e", possible.size ? possible.data : "none",
		a->hardware ? ", cycles ..." : "");
	strbuf_deinit(&possible);
	if (a->kernel)
		return VERDICT_OK;
	*remedy = "sudo sysctl kernel.perf_event_paranoid=1";
	return VERDICT_LIMITED;
}

static const struct check checks[] = {
	{"sampling", look_sampling, false},
	{"preloading", look_preload, false},
	{"kernel code", look_kernel, false},
	{"kernel names", look_kernel_names, false},
	{"ring buffers", look_rings, true},
	{"deep stacks", look_memory, false},
	{"exact stacks", look_exact, true},
	{"generated code", look_generated, false},
	{"wakers", look_wakers, true},
	{"sample rate", look_rate, true},
	{"attaching", look_attaching, true},
	{"whole machine", look_machine, true},
	{"agent", look_agent, true},
	{"hardware", look_hardware, true},
	{"events", look_events, true},
	{0},
};

static void print_check(const struct check *check, const struct recorder_ability *ability)
{
	static const char *const verdicts[] = {"ok", "limited", "no"};
	const char *remedy = NULL;
	char text[320];
	enum verdict verdict = VERDICT_NO;

	if (check->needs_perf && !ability->perf_open)
		snprintf(text, sizeof(text), "not without perf events");
	else
		verdict = check->look(ability, text, sizeof(text), &remedy);
	printf("%-14s %-8s %s\n", check->name, verdicts[verdict], text);
	if (remedy)
		printf("%-14s %-8s more with: %s\n", "", "", remedy);
}

static const char *conclusion(const struct recorder_ability *ability)
{
	if (ability->perf_open)
		return "sonde record works here.";
	return ability->preload ? "sonde record works here, by a preloaded library."
				: "sonde record can't sample here.";
}

static int doctor_run(const struct command *self, int argc, char **argv)
{
	struct recorder_ability ability;
	struct operands operands;
	int status;

	if (!options_parse(self, argc, argv, NULL, NULL, &operands, &status))
		return status;
	if (operands.count > 0)
		return options_usage_error(self, "no operands");
	recorder_probe(&ability);
	for (const struct check *check = checks; check->name; check++)
		print_check(check, &ability);
	printf("%s\n", conclusion(&ability));
	return EXIT_SUCCESS;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "report what this machine allows, and how to allow more",
	.usage = "",
	.operand = OPERAND_NONE,
	.run = doctor_run,
};
