/* The columns that say whose a row is, by Slurm: 1.4 has some of its own for that, the rest and all
 * of 1.2 is custom. */
#include <assert.h>
#include <string.h>

#include "base/fmt.h"
#include "ledger/ascii.h"
#include "ledger/focus_private.h"
#include "ledger/number.h"

/* Custom texts keep their letters as \u escapes, in JSON's way without the quotes. */
static void escaped(struct focus_line *l, struct csv *out, const char *text)
{
	if (text[0] == '\0') {
		csv_null(out);
		return;
	}
	focus_clear(l);
	ascii_json(&l->text, text);
	if (l->text.len >= 2)
		l->text.p[--l->text.len] = '\0';
	csv_text(out, l->text.len >= 1 ? l->text.p + 1 : "");
}

static bool is_job(const struct focus_line *l)
{
	return l->c->owner == ALLOCATE_JOB;
}

static void cost_class(struct focus_line *l, struct csv *out)
{
	csv_own(out, allocate_class_str(l->c->class));
}

static void owner_type(struct focus_line *l, struct csv *out)
{
	static const char *const words[] = {"job", "pool", "cluster"};

	csv_own(out, words[l->c->owner]);
}

static void job_id(struct focus_line *l, struct csv *out)
{
	escaped(l, out, is_job(l) ? l->c->job_id : "");
}

static void job_attempt(struct focus_line *l, struct csv *out)
{
	char text[FMT_U64_SIZE];

	if (is_job(l))
		csv_own(out, fmt_u64(text, l->c->attempt));
	else
		csv_null(out);
}

/* Who is a pseudonym would be known by the names of their jobs. */
static const char *shown_job_name(const struct focus_line *l)
{
	return is_job(l) && l->o->site_key == NULL ? l->c->job_name : "";
}

static void job_name(struct focus_line *l, struct csv *out)
{
	escaped(l, out, shown_job_name(l));
}

static void user_name(struct focus_line *l, struct csv *out)
{
	struct str user;

	str_init(&user, l->text.max);
	str_adds(&user, focus_user(l));
	escaped(l, out, user.p);
	str_fini(&user);
}

static void account(struct focus_line *l, struct csv *out)
{
	escaped(l, out, l->c->account);
}

static void partition(struct focus_line *l, struct csv *out)
{
	escaped(l, out, l->c->partition);
}

static void qos(struct focus_line *l, struct csv *out)
{
	escaped(l, out, l->c->qos);
}

static void wckey(struct focus_line *l, struct csv *out)
{
	escaped(l, out, l->c->wckey);
}

static void cluster(struct focus_line *l, struct csv *out)
{
	escaped(l, out, l->o->cluster);
}

static void market(struct focus_line *l, struct csv *out)
{
	if (charge_is_of_no_machine(l->c))
		csv_null(out);
	else
		csv_own(out, provider_market_str(l->c->market));
}

static void method_id(struct focus_line *l, struct csv *out)
{
	focus_clear(l);
	str_adds(&l->text, "burst/");
	ascii_id(&l->text, l->o->method);
	str_adds(&l->text, "/1");
	csv_own(out, l->text.p);
}

/* Which part of the instance's day this is; all of them are 1. */
static void method_details(struct focus_line *l, struct csv *out)
{
	const bool gpus = l->c->gpus > 0;
	char text[NUMBER_REAL_SIZE];

	if (l->category != FOCUS_USAGE || l->origin_picos <= 0) {
		csv_null(out);
		return;
	}
	focus_clear(l);
	str_addf(&l->text,
		 "{\"Elements\":[{\"AllocatedRatio\":%s,\"UsageUnit\":\"%s\","
		 "\"UsageQuantity\":%lld}]}",
		 number_real(text, (double)l->row->picos / (double)l->origin_picos),
		 gpus ? "GPU-Seconds" : "CPU-Seconds",
		 (long long)(gpus ? l->row->gpu_s : l->row->cpu_s));
	csv_own(out, l->text.p);
}

/* The rest of a machine, which nobody had, has none. */
static void allocated_id(struct focus_line *l, struct csv *out)
{
	if (!is_job(l)) {
		csv_null(out);
		return;
	}
	focus_clear(l);
	ascii_id(&l->text, l->o->cluster);
	str_adds(&l->text, "/");
	ascii_id(&l->text, l->c->job_id);
	str_addf(&l->text, ".%llu", (unsigned long long)l->c->attempt);
	csv_own(out, l->text.p);
}

static void allocated_name(struct focus_line *l, struct csv *out)
{
	const char *text = shown_job_name(l);

	if (text[strspn(text, " ")] == '\0') {
		csv_null(out);
		return;
	}
	focus_clear(l);
	ascii_name(&l->text, text);
	csv_text(out, l->text.p);
}

static void tag(struct str *s, const char *key, const char *value)
{
	if (value[0] == '\0')
		return;
	str_addf(s, "%s\"burst/%s\":", s->len > 1 ? "," : "", key);
	ascii_json(s, value);
}

static void allocated_tags(struct focus_line *l, struct csv *out)
{
	struct str user;

	str_init(&user, l->text.max);
	str_adds(&user, focus_user(l));
	focus_clear(l);
	str_adds(&l->text, "{");
	tag(&l->text, "class", allocate_class_str(l->c->class));
	tag(&l->text, "account", l->c->account);
	tag(&l->text, "user", user.p);
	tag(&l->text, "partition", l->c->partition);
	tag(&l->text, "qos", l->c->qos);
	tag(&l->text, "wckey", l->c->wckey);
	if (is_job(l))
		tag(&l->text, "job", l->c->job_id);
	str_adds(&l->text, "}");
	csv_own(out, l->text.p);
	str_fini(&user);
}

static void list_cost_exact(struct focus_line *l, struct csv *out)
{
	if (l->category == FOCUS_USAGE && l->row->list_nano >= 0)
		csv_money(out, l->row->list_nano, true);
	else
		csv_null(out);
}

static void gpu_seconds(struct focus_line *l, struct csv *out)
{
	csv_i64(out, l->row->gpu_s);
}

static void estimated(struct focus_line *l, struct csv *out)
{
	csv_own(out, l->row->estimated ? "true" : "false");
}

#define TEXT "STRING"
#define JSON "JSON"

#define METHOD  "how the instance was divided"
#define DETAILS "which part of the instance's day this is, and what the owner had"
#define WHOM    "the attempt of the job that caused the charge; null: nobody had this part"
#define TAGS    "what Slurm knows of the job, and the class of the cost"

const struct focus_column focus_slurm_columns[] = {
	{"AllocatedMethodId", FOCUS_NEW, TEXT, "", method_id},
	{"AllocatedMethodDetails", FOCUS_NEW, JSON, "", method_details},
	{"AllocatedResourceId", FOCUS_NEW, TEXT, "", allocated_id},
	{"AllocatedResourceName", FOCUS_NEW, TEXT, "", allocated_name},
	{"AllocatedTags", FOCUS_NEW, JSON, "", allocated_tags},
	{"x_AllocatedMethodId", FOCUS_OLD, TEXT, METHOD, method_id},
	{"x_AllocatedMethodDetails", FOCUS_OLD, JSON, DETAILS, method_details},
	{"x_AllocatedResourceId", FOCUS_OLD, TEXT, WHOM, allocated_id},
	{"x_AllocatedTags", FOCUS_OLD, JSON, TAGS, allocated_tags},
	{"x_CostClass", FOCUS_BOTH, TEXT,
	 "run, lost, boot, boot_failed, idle, drain, teardown, pad, orphan, shared, tax",
	 cost_class},
	{"x_OwnerType", FOCUS_BOTH, TEXT, "job, pool or cluster", owner_type},
	{"x_JobId", FOCUS_BOTH, TEXT, "Slurm's job id, with the index of an array", job_id},
	{"x_JobAttempt", FOCUS_BOTH, TEXT, "1: the job's first run", job_attempt},
	{"x_JobName", FOCUS_BOTH, TEXT, "the user's text; letters beyond ASCII as in JSON",
	 job_name},
	{"x_UserName", FOCUS_BOTH, TEXT, "Slurm's user, or a pseudonym", user_name},
	{"x_SlurmAccount", FOCUS_BOTH, TEXT, "Slurm's account", account},
	{"x_Partition", FOCUS_BOTH, TEXT, "Slurm's partition", partition},
	{"x_QosName", FOCUS_BOTH, TEXT, "Slurm's QOS", qos},
	{"x_WckeyName", FOCUS_BOTH, TEXT, "Slurm's wckey", wckey},
	{"x_ClusterName", FOCUS_BOTH, TEXT, "the cluster", cluster},
	{"x_Market", FOCUS_BOTH, TEXT, "on-demand, spot or reserved", market},
	{"x_ListCostExact", FOCUS_BOTH, "DECIMAL",
	 "the list price of the same time, to the last nano-unit; null: not known",
	 list_cost_exact},
	{"x_GpuSeconds", FOCUS_BOTH, "INTEGER", "GPU seconds that the owner had", gpu_seconds},
	{"x_Estimated", FOCUS_BOTH, "BOOLEAN", "true: the provider did not tell the instance's end",
	 estimated},
	{0},
};

size_t focus_columns_of(enum focus_version v, const struct focus_column *out[FOCUS_COLUMNS_MAX])
{
	const struct focus_column *const tables[] = {focus_columns, focus_slurm_columns};
	size_t n = 0;

	for (size_t t = 0; t < 2; t++)
		for (const struct focus_column *c = tables[t]; c->name != NULL; c++)
			if ((c->in & 1U << v) != 0) {
				assert(n < FOCUS_COLUMNS_MAX);
				out[n++] = c;
			}
	return n;
}
