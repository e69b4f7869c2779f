/* Rules on the programs that slurmctld calls: they must be burstd's, and have enough time. */
#include <string.h>

#include "slurm/look.h"
#include "slurm/rules_private.h"
#include "slurm/show.h"

static bool is_set(const struct slurm_look *l, struct slurm_text program)
{
	if (program.n > 0 && slurm_version_has(&l->version, SLURM_POWER_ACTIONS))
		return true;
	return program.n > 0 && program.p[0] == '/';
}

bool rule_runs(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	return is_set(l, l->value) || slurm_look_found_value(l);
}

static bool is_hook(struct slurm_text program, const char *name)
{
	size_t n = strlen(name);

	return program.n > n && program.p[program.n - n - 1] == '/' &&
	       memcmp(program.p + program.n - n, name, n) == 0;
}

bool rule_hook(struct slurm_look *l, const struct slurm_rule *r)
{
	return is_hook(l->value, r->arg) || slurm_look_found_value(l);
}

/* Passes without a program: rule_runs() has failed then. */
bool rule_hook_if_runs(struct slurm_look *l, const struct slurm_rule *r)
{
	return !is_set(l, l->value) || rule_hook(l, r);
}

/* 22.05 shows "PrologSlurmctld", 24.11 "PrologSlurmctld[0]", "PrologSlurmctld[1]" and so on. */
static bool has_prolog(const struct slurm_look *l, struct slurm_text *first)
{
	static const char name[] = "PrologSlurmctld";
	struct slurm_text rest = l->config, key, value;

	*first = (struct slurm_text){NULL, 0};
	while (slurm_show_next(&rest, &key, &value)) {
		if (key.n < sizeof(name) - 1 || memcmp(key.p, name, sizeof(name) - 1) != 0 ||
		    (key.n > sizeof(name) - 1 && key.p[sizeof(name) - 1] != '['))
			continue;
		if (first->n == 0)
			*first = value;
		if (is_hook(value, "burst-prolog"))
			return true;
	}
	return false;
}

bool rule_prolog(struct slurm_look *l, const struct slurm_rule *r)
{
	(void)r;
	if (has_prolog(l, &l->value))
		return true;
	if (l->value.n > 0 && l->value.p[0] == '/')
		slurm_look_wanted(l, "burst-prolog here, and this one as /etc/burstd/"
				     "prolog-slurmctld, which burst-prolog runs first");
	return slurm_look_found_value(l);
}

bool rule_prolog_may_wait(struct slurm_look *l, const struct slurm_rule *r)
{
	enum { NOT_SET = 65534 };
	struct slurm_text global = slurm_show_setting(l->config, "ResumeTimeout"), first;
	struct slurm_text own = slurm_show_setting(l->config, "PrologTimeout");
	int64_t limit, longest = 0;

	(void)r;
	limit = slurm_show_number(own.p != NULL ? own : l->value);
	for (size_t i = 0; i < l->n; i++) {
		int64_t s = slurm_look_seconds(&l->nodes[i], SLURM_OWN_RESUME,
					       slurm_show_number(global));

		longest = s > longest ? s : longest;
	}
	if (limit < 0 || limit >= NOT_SET || limit > longest || !has_prolog(l, &first))
		return true;
	if (longest != SLURM_INFINITE)
		slurm_look_wanted(l, "not set, or more than %lld s", (long long)longest);
	return slurm_look_found(l, "%lld s%s", (long long)limit,
				own.p != NULL ? " by PrologTimeout" : "");
}
