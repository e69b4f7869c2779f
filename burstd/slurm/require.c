#include "slurm/require.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "slurm/look.h"
#include "slurm/show.h"

static void add(struct slurm_report *out, const struct slurm_problem *p)
{
	assert(out->n < SLURM_PROBLEMS_MAX);
	out->problems[out->n++] = *p;
	out->by_severity[p->severity]++;
}

/* Was this setting reported as not shown before? */
static bool said(const struct slurm_report *out, const struct slurm_rule *r, const char *why)
{
	for (size_t i = 0; i < out->n; i++)
		if (out->problems[i].why == why &&
		    strcmp(out->problems[i].setting, r->setting) == 0)
			return true;
	return false;
}

static void judge(struct slurm_look *l, const struct slurm_rule *r, enum slurm_severity severity,
		  struct slurm_report *out)
{
	static const char not_shown[] = "slurmctld does not show it, so that it cannot be checked.";

	if (!slurm_version_has(&l->version, r->trait))
		return;
	l->problem = (struct slurm_problem){
		.setting = r->setting, .severity = r->severity, .why = r->why};
	l->value = slurm_show_setting(l->config, r->setting);
	slurm_look_wanted(l, "%s", r->wanted);
	if (l->value.p == NULL && !r->optional) {
		l->problem.severity = SLURM_WARNING;
		l->problem.why = not_shown;
		(void)slurm_look_found(l, "not shown");
		if (severity == SLURM_WARNING && !said(out, r, not_shown))
			add(out, &l->problem);
	} else if (r->severity == severity && !r->ok(l, r)) {
		add(out, &l->problem);
	}
}

/* The settings end with an empty line; what follows are other tables. */
static int first_block(struct slurm_text *config, struct err *e)
{
	static const char head[] = "Configuration data as of ";
	const char *p = config->p, *end = p + config->n, *nl;

	if (config->n > SLURM_CONFIG_MAX)
		return err_set(e, ERR_LIMIT, "scontrol: a configuration of over %d bytes",
			       SLURM_CONFIG_MAX);
	if (config->n < sizeof(head) || memcmp(p, head, sizeof(head) - 1) != 0)
		return err_set(e, ERR_INVALID, "scontrol: not a configuration: \"%.*s\"",
			       (int)(config->n < 60 ? config->n : 60), config->n > 0 ? p : "");
	while ((nl = memchr(p, '\n', (size_t)(end - p))) != NULL && nl > p && nl + 1 < end)
		p = nl + 1;
	if (nl == NULL || nl > p)
		return err_set(e, ERR_INVALID, "scontrol: configuration cut short");
	config->n = (size_t)(p - config->p);
	return 0;
}

static int check_partitions(struct slurm_text partitions, struct err *e)
{
	if (partitions.n > SLURM_PARTITIONS_MAX)
		return err_set(e, ERR_LIMIT, "scontrol: partitions of over %d bytes",
			       SLURM_PARTITIONS_MAX);
	if (partitions.n > 0 && partitions.p[partitions.n - 1] != '\n')
		return err_set(e, ERR_INVALID, "scontrol: partitions cut short");
	return 0;
}

/* How long slurmctld holds a requeued job: a second more than cred_expire, or requeue_delay. */
static int64_t hold_of(const struct slurm_look *l)
{
	struct slurm_text value;
	int64_t n = 120; /* the default */

	if (slurm_version_has(&l->version, SLURM_REQUEUE_DELAY) &&
	    slurm_show_option(slurm_show_setting(l->config, "SchedulerParameters"), "requeue_delay",
			      &value)) {
		n = slurm_show_number(value);
		return n > 0 && n < INT32_MAX ? n * 1000 : 0;
	}
	if (slurm_show_option(slurm_show_setting(l->config, "AuthInfo"), "cred_expire", &value))
		n = slurm_show_number(value);
	return n > 0 && n < INT32_MAX ? (n + 1) * 1000 : 0;
}

/* The least share of RealMemory that a node registers; the default for CLOUD nodes is not 100. */
static uint32_t memory_percent_of(const struct slurm_look *l)
{
	struct slurm_text value;
	int64_t n = 90;

	if (slurm_show_has(slurm_show_setting(l->config, "SlurmdParameters"), "config_overrides"))
		return 0;
	if (slurm_show_option(slurm_show_setting(l->config, "SlurmctldParameters"),
			      "node_reg_mem_percent", &value))
		n = slurm_show_number(value);
	return n > 0 && n <= 100 ? (uint32_t)n : 1; /* unreadable: the least check */
}

static int read_version(struct slurm_look *l, struct slurm_report *out, struct err *e)
{
	struct slurm_text version = slurm_show_setting(l->config, "SLURM_VERSION"),
			  boot = slurm_show_setting(l->config, "BOOT_TIME");

	if (version.p == NULL || boot.n == 0 || boot.n >= sizeof(out->boot_time))
		return err_set(e, ERR_INVALID, "scontrol: configuration without %s",
			       version.p == NULL ? "SLURM_VERSION" : "BOOT_TIME");
	if (slurm_version_parse(&l->version, version.p, version.n, e) != 0)
		return err_wrap(e, "scontrol");
	out->version = l->version;
	memcpy(out->boot_time, boot.p, boot.n);
	out->boot_time[boot.n] = '\0';
	out->hold_ms = hold_of(l);
	out->memory_percent = memory_percent_of(l);
	return 0;
}

/* --- all that SlurmctldParameters must be, as one line -----------------------------------------
 */

static const char parameters[] = "SlurmctldParameters";

static size_t key_length(const char *p, size_t n)
{
	const char *end = memchr(p, '=', n);

	return end != NULL ? (size_t)(end - p) : n;
}

/* Is a problem's "power_save_interval=1, at most 5" or "no cloud_dns" about this word of the list?
 */
static bool is_about(const char *wanted, struct slurm_text word)
{
	size_t n = strcspn(wanted, ", "), k = key_length(wanted, n);

	return key_length(word.p, word.n) == k && strncasecmp(word.p, wanted, k) == 0;
}

static const char *unwanted(const char *wanted)
{
	return strncmp(wanted, "no ", 3) == 0 ? wanted + 3 : NULL;
}

static void join_word(struct str *s, const char *p, size_t n)
{
	str_addf(s, "%s%.*s", s->len > 0 ? "," : "", (int)n, p);
}

static void join_parameters(const struct slurm_look *l, struct slurm_report *r)
{
	struct slurm_text rest = slurm_show_setting(l->config, parameters), word;
	bool any = false;
	struct str s;

	str_init(&s, sizeof(r->parameters) - 1);
	while (slurm_show_item(&rest, &word)) {
		bool stays = word.n > 0;

		for (size_t i = 0; i < r->n && stays; i++) {
			const char *wanted = r->problems[i].wanted;

			stays = strcmp(r->problems[i].setting, parameters) != 0 ||
				!is_about(unwanted(wanted) != NULL ? unwanted(wanted) : wanted,
					  word);
		}
		if (stays)
			join_word(&s, word.p, word.n);
	}
	for (size_t i = 0; i < r->n; i++) {
		const char *wanted = r->problems[i].wanted;

		if (strcmp(r->problems[i].setting, parameters) != 0)
			continue;
		any = true;
		if (unwanted(wanted) == NULL)
			join_word(&s, wanted, strcspn(wanted, ", "));
	}
	if (any && !s.full)
		(void)snprintf(r->parameters, sizeof(r->parameters), "%s", s.p);
	str_fini(&s);
}

void slurm_need_budgets(struct slurm_need *need, const struct conf_budget *list, size_t n)
{
	bool accounts = false, qos = false, wckeys = false;
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		accounts |= list[i].accounts != NULL || list[i].each == CONF_EACH_ACCOUNT;
		qos |= list[i].qos != NULL;
		wckeys |= list[i].wckeys != NULL;
	}
	if (accounts)
		need->enforce[at++] = "associations";
	if (qos)
		need->enforce[at++] = "qos";
	if (wckeys)
		need->enforce[at++] = "wckeys";
}

int slurm_require(struct slurm_text config, struct slurm_text partitions,
		  const struct slurm_need *need, struct slurm_report *out, struct err *e)
{
	struct slurm_look l = {.need = need};
	int rc = -1;

	*out = (struct slurm_report){0};
	if (first_block(&config, e) != 0 || check_partitions(partitions, e) != 0)
		return -1;
	l.config = config;
	l.partitions = partitions;
	if (read_version(&l, out, e) != 0 || slurm_look_init(&l, e) != 0)
		goto out;
	for (int s = SLURM_ERROR; s >= SLURM_ADVICE; s--)
		for (size_t i = 0; i < slurm_nrules; i++)
			judge(&l, &slurm_rules[i], (enum slurm_severity)s, out);
	join_parameters(&l, out);
	rc = 0;
out:
	if (rc != 0)
		*out = (struct slurm_report){0};
	slurm_look_fini(&l);
	return rc;
}

const char *slurm_severity_name(enum slurm_severity s)
{
	static const char *const names[] = {"advice", "warning", "error"};

	return names[s];
}

void slurm_problem_print(const struct slurm_problem *p, struct str *out)
{
	str_addf(out, "%s is %s, wanted %s: %s", p->setting, p->found, p->wanted, p->why);
}
