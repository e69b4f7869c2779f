/* sim_show.c - scontrol show and squeue: what they print of the simulated slurmctld. */
#include <stdio.h>
#include <string.h>

#include "base/hostlist.h"
#include "sim_slurm.h"

/* Jobs that leave room on a node leave processors idle. */
static bool shows_mixed(const struct sim_ctld *c, const struct ctld_node *n)
{
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (c->jobs[i].shares && sim_ctld_is_on(c, &c->jobs[i], n))
			return true;
	return false;
}

static void show_state(const struct sim_ctld *c, const struct ctld_node *n, bool star,
		       struct str *out)
{
	str_adds(out, n->down             ? "DOWN"
		      : n->job == 0       ? "IDLE"
		      : shows_mixed(c, n) ? "MIXED"
					  : "ALLOCATED");
	if (n->not_responding && star)
		str_adds(out, "*");
	if (n->pool != SIM_POOLS_MAX)
		str_adds(out, "+CLOUD");
	if (n->completing)
		str_adds(out, "+COMPLETING");
	if (n->drain)
		str_adds(out, "+DRAIN");
	if (n->invalid)
		str_adds(out, "+INVALID_REG");
	if (n->reboot)
		str_adds(out, "+REBOOT_ISSUED");
	if (n->not_responding && !star)
		str_adds(out, "+NOT_RESPONDING");
	if (n->power_down)
		str_adds(out, "+POWER_DOWN");
	if (n->powering_down)
		str_adds(out, "+POWERING_DOWN");
	if (n->powered_down)
		str_adds(out, "+POWERED_DOWN");
	if (n->powering_up)
		str_adds(out, "+POWERING_UP");
	if (n->power_up)
		str_adds(out, "+POWER_UP");
}

static void show_kept(const struct sim_ctld *c, struct str *out)
{
	size_t begin = out->len;

	for (size_t i = 0; i < c->n; i++)
		if (c->nodes[i].kept)
			str_addf(out, "%s%s", out->len > begin ? "," : "", c->nodes[i].name);
	for (size_t p = 0; c->w->set.fixed && p < c->w->set.npools; p++)
		if (c->w->set.pools[p].warm > 0)
			str_addf(out, "%s%s:%u", out->len > begin ? "," : "",
				 c->w->set.pools[p].nodes, (unsigned)c->w->set.pools[p].warm);
	if (out->len == begin)
		str_adds(out, "(null)");
}

/* Only what burstd acts on. */
void sim_ctld_show_config(const struct sim_ctld *c, struct str *out)
{
	str_addf(out,
		 "Configuration data as of 2027-01-15T08:00:00\n"
		 "AuthInfo                = socket=/run/munge/munge.socket.2,cred_expire=%d\n"
		 "BOOT_TIME               = 2027-01-15T07:00:00\n"
		 "SLURM_VERSION           = %s\n"
		 "SuspendExcNodes         = ",
		 (int)c->w->set.requeue_s - 1, c->w->set.old_slurm ? "22.05.8" : "24.11.5");
	show_kept(c, out);
	str_adds(out, "\nSuspendRate             = 0 nodes/min\n\n"
		      "Slurmctld(primary) at ctl is UP\n");
}

void sim_ctld_show_nodes(const struct sim_ctld *c, struct str *out)
{
	size_t begin = out->len;

	for (size_t i = 0; i < c->n; i++) {
		const struct ctld_node *n = &c->nodes[i];

		if (n->deleted)
			continue;
		str_addf(out,
			 "NodeName=%s CoresPerSocket=1 CPUAlloc=0 CPUTot=8 CPULoad=N/A "
			 "AvailableFeatures=cloud ActiveFeatures=cloud Gres=gpu:h100:8 "
			 "NodeAddr=%s NodeHostName=%s RealMemory=1000 AllocMem=0 FreeMem=N/A "
			 "Sockets=8 Boards=1 State=",
			 n->name, n->addr, n->host);
		show_state(c, n, c->w->set.old_slurm, out);
		str_adds(out, " ThreadsPerCore=1 TmpDisk=0 Weight=10 Owner=N/A MCS_label=N/A "
			      "Partitions=");
		if (n->pool != SIM_POOLS_MAX)
			str_addf(out, "%s,", c->w->set.pools[n->pool].name);
		str_adds(out, "all BootTime=None SlurmdStartTime=None");
		if (n->reason[0] != '\0')
			str_addf(out, " Reason=%s [slurm@2027-01-15T08:00:00]", n->reason);
		if (n->inst != 0 && c->w->set.instance_ids)
			str_addf(out, " InstanceId=i-%u", (unsigned)n->inst);
		str_adds(out, "\n");
	}
	if (out->len == begin)
		str_adds(out, "No nodes in the system\n");
}

void sim_ctld_trace(const struct sim_ctld *c)
{
	for (size_t i = 0; c->w->tracing && i < c->n; i++) {
		const struct ctld_node *n = &c->nodes[i];
		struct str s;

		str_init(&s, 200);
		show_state(c, n, false, &s);
		SIM_TRACE(c->w, "  ctld: %s %s, job %u, \"%s\"", n->name, s.p, (unsigned)n->job,
			  n->reason);
		str_fini(&s);
	}
}

static void list_nodes(const struct sim_ctld *c, const struct ctld_job *j, struct str *out)
{
	const char *names[JOB_NODES_MAX];

	for (uint32_t i = 0; i < j->n; i++)
		names[i] = c->nodes[j->nodes[i]].name;
	hostlist_fold(out, names, j->n);
}

static const char *state_of(const struct ctld_job *j)
{
	static const char *const names[] = {"COMPLETED", "PENDING", "CONFIGURING",
					    "RUNNING",   "FAILED",  "COMPLETING"};

	return j->state == JOB_FAILED && j->node_fail ? "NODE_FAIL" : names[j->state];
}

/* A job's account is by its number; its time limit is the shortest that it keeps. */
static void show_payer(const struct ctld_job *j, struct str *out)
{
	int64_t month_s = INT64_C(30) * 86400, limit_s = (j->runtime + SIM_SECOND - 1) / SIM_SECOND;
	char account[24];

	limit_s = limit_s < month_s ? limit_s : month_s;
	(void)snprintf(account, sizeof(account), "acct%u", (unsigned)j->id % 3);

	str_addf(out,
		 "| |%-128s|user%u|normal|%lld:%02lld|%u|%u|%s|cpu=%u,gres/gpu=%u|%u|*|"
		 "%-65s|%-65s|%-65s|%-65s|%-65s|",
		 account, (unsigned)j->id % 7, (long long)(limit_s / 60), (long long)(limit_s % 60),
		 (unsigned)j->n, (unsigned)j->n * 8, j->shares ? "YES" : "NO", (unsigned)j->n * 8,
		 (unsigned)j->n * 8, (unsigned)j->n, "N/A", "gres/gpu:8", "N/A", "N/A",
		 j->id % 2 == 0 ? "(null)" : "key");
}

void sim_ctld_show_jobs(const struct sim_ctld *c, struct sim_columns which, struct str *out)
{
	for (size_t i = 0; i < JOBS_MAX; i++) {
		const struct ctld_job *j = &c->jobs[i];
		char id[24];

		if (j->state == JOB_FREE || j->state == JOB_FAILED ||
		    (j->state == JOB_PENDING && !which.all))
			continue;
		str_addf(out, "%u|%s|%s|%s|%s|", (unsigned)j->id, sim_ctld_id(j, id), state_of(j),
			 j->pool == JOB_ANY_POOL ? "all" : c->w->set.pools[j->pool].name,
			 j->held                   ? "JobHeldUser"
			 : j->begin_at > c->w->now ? "BeginTime"
						   : "Resources");
		if (j->state != JOB_PENDING)
			list_nodes(c, j, out);
		if (which.payers)
			show_payer(j, out);
		if (which.constraints)
			str_addf(out, "%s%s", which.payers ? "" : "|",
				 j->constraint != NULL ? j->constraint : "(null)");
		str_adds(out, "\n");
	}
}

const char *sim_ctld_constraint(const struct sim_ctld *c, uint64_t job, int64_t then)
{
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (c->jobs[i].state != JOB_FREE && c->jobs[i].id == job &&
		    c->jobs[i].submitted <= then)
			return c->jobs[i].constraint;
	return NULL;
}

static void show_detail(const struct sim_ctld *c, const struct ctld_job *j, struct str *out)
{
	str_addf(out, "%-24u%-24s%-24d%-24lld%-300s%-72s", (unsigned)j->id, state_of(j),
		 j->held ? 0 : 7, (long long)((j->begin_at + c->w->wall) / SIM_SECOND), j->comment,
		 "");
	if (j->het != 0)
		str_addf(out, "%-24u", (unsigned)j->het);
	else
		str_addf(out, "%-24s", "N/A");
	str_addf(out, "%-24d\n", j->requeued);
}

int sim_ctld_show_details(struct sim_ctld *c, const char *ids, struct str *out)
{
	size_t begin = out->len;

	for (const char *id = ids; id != NULL; id = strchr(id, ',')) {
		id += *id == ',';
		for (size_t i = 0; i < JOBS_MAX; i++)
			if (sim_ctld_is_shown(&c->jobs[i], ids, id))
				show_detail(c, &c->jobs[i], out);
	}
	return out->len == begin && strchr(ids, ',') == NULL ? -1 : 0;
}

static void show_word(const struct ctld_job *j, struct str *out)
{
	char id[24];

	str_addf(out, "%u|%s|%s|all|None||1000|%u|||(null)", (unsigned)j->id, sim_ctld_id(j, id),
		 state_of(j), (unsigned)j->n);
	show_payer(j, out);
	str_addf(out, "%s %-1025s\n", j->constraint != NULL ? j->constraint : "(null)", "(null)");
}

void sim_ctld_show_words(struct sim_ctld *c, const char *ids, struct str *out)
{
	for (const char *id = ids; id != NULL; id = strchr(id, ',')) {
		id += *id == ',';
		for (size_t i = 0; i < JOBS_MAX; i++)
			if (sim_ctld_is_shown(&c->jobs[i], ids, id))
				show_word(&c->jobs[i], out);
	}
}
