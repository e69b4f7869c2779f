#include "slurm/version.h"

#include <assert.h>
#include <string.h>

enum { FIRST = 220500, NEVER = 1000000 };

/* The releases with which burstd was tested. */
static const uint32_t releases[] = {220500, 230200, 231100, 240500, 241100, 250500, 251100, 260500};

static const struct {
	uint32_t from, before;
	const char *releases;
} traits[SLURM_NTRAITS] = {
	[SLURM_ALWAYS] = {0, NEVER, "all"},
	[SLURM_HIDES_POWERED_DOWN] = {0, 230200, "22.05"},
	[SLURM_ADDR_BY_OPTION] = {0, 231100, "up to 23.02"},
	[SLURM_FORWARDS_BY_NAME] = {0, 231100, "up to 23.02"},
	[SLURM_CACHES_ADDR] = {0, 231100, "up to 23.02"},
	[SLURM_NO_ADDR_CACHE_IS_GONE] = {241100, NEVER, "from 24.11"},
	[SLURM_EXCLUDES_STATES] = {230200, NEVER, "from 23.02"},
	[SLURM_EXCLUDES_BY_UPDATE] = {230200, NEVER, "from 23.02"},
	[SLURM_RESUME_TIMEOUT_INFINITE] = {250500, NEVER, "from 25.05"},
	[SLURM_REQUEUE_ON_RESUME_FAILURE] = {250500, NEVER, "from 25.05"},
	[SLURM_REQUEUE_DELAY] = {251100, NEVER, "from 25.11"},
	[SLURM_MAX_TRES_GRES] = {250500, NEVER, "from 25.05"},
	/* 22.05 is so, and 25.05 is not; those between are not known. */
	[SLURM_FIFO_UNLESS_TOLD] = {0, 250500, "up to 24.11"},
	[SLURM_CGROUP_DISABLED] = {240500, NEVER, "from 24.05"},
	[SLURM_FULL_UNITS] = {0, 250500, "up to 24.11"},
	[SLURM_TOPOLOGY_YAML] = {250500, NEVER, "from 25.05"},
	[SLURM_KEEPS_LEAVES] = {250500, NEVER, "from 25.05"},
	[SLURM_KEEPS_BLOCKS] = {251100, NEVER, "from 25.11"},
	[SLURM_POWER_ACTIONS] = {260500, NEVER, "from 26.05"},
	[SLURM_HAS_EXCLUSIVE_COLUMN] = {260500, NEVER, "from 26.05"},
	[SLURM_BUG_STOP_WAITS] = {250500, 250504, "25.05.0 to 25.05.3"},
	[SLURM_BUG_REQUEUE_LOST] = {0, 231100, "up to 23.02"},
	[SLURM_BUG_TOPOLOGY_LOST] = {251100, 251103, "25.11.0 to 25.11.2"},
};

/* Read one or two digits. */
static bool take_number(const char **p, const char *end, uint32_t *out)
{
	const char *start = *p;
	uint32_t n = 0;

	while (*p < end && **p >= '0' && **p <= '9' && *p - start < 3)
		n = n * 10 + (uint32_t)(*(*p)++ - '0');
	*out = n;
	return *p > start && *p - start <= 2;
}

static bool take_dot(const char **p, const char *end)
{
	return *p < end && *(*p)++ == '.';
}

static bool has_word(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	for (; (size_t)(end - p) >= n; p++)
		if (memcmp(p, word, n) == 0)
			return true;
	return false;
}

/* What may follow the number: "-rc1", "-0rc1", "rc1", "-pre2", or a packager's "-4". */
static bool is_suffix(const char *p, const char *end)
{
	for (; p < end; p++)
		if (!(*p == '-' || *p == '.' || *p == '+' || *p == '~' ||
		      (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z')))
			return false;
	return true;
}

static const char *skip_name(const char *p, const char *end)
{
	static const char *const names[] = {"slurm ", "slurm-wlm "};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if ((size_t)(end - p) > n && memcmp(p, names[i], n) == 0)
			return p + n;
	}
	return p;
}

int slurm_version_parse(struct slurm_version *v, const char *text, size_t len, struct err *e)
{
	const char *end = text + len, *start = skip_name(text, end), *p = start;
	uint32_t year, month, micro;

	if (!take_number(&p, end, &year) || !take_dot(&p, end) || !take_number(&p, end, &month) ||
	    !take_dot(&p, end) || !take_number(&p, end, &micro) || !is_suffix(p, end) ||
	    (size_t)(end - start) >= sizeof(v->text))
		return err_set(e, ERR_INVALID, "\"%.*s\" is not a version of Slurm",
			       (int)(len < 40 ? len : 40), text);
	v->number = year * 10000 + month * 100 + micro;
	v->pre = has_word(p, end, "rc") || has_word(p, end, "pre");
	memcpy(v->text, start, (size_t)(end - start));
	v->text[end - start] = '\0';
	return 0;
}

bool slurm_version_has(const struct slurm_version *v, enum slurm_trait t)
{
	assert(t < SLURM_NTRAITS);
	return v->number >= traits[t].from && v->number < traits[t].before;
}

enum slurm_support slurm_version_support(const struct slurm_version *v)
{
	if (v->number < FIRST)
		return SLURM_TOO_OLD;
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		if (v->number / 100 == releases[i] / 100 && !v->pre)
			return SLURM_TESTED;
	return SLURM_UNTESTED;
}

const char *slurm_trait_releases(enum slurm_trait t)
{
	assert(t < SLURM_NTRAITS);
	return traits[t].releases;
}
