#include "slurm/payer.h"

#include <stdio.h>
#include <string.h>

/* Copy a name; "(null)" and "N/A" are none.  What does not print is replaced, since a wckey is a
 * user's text. */
static void name_of(struct slurm_text t, char out[PAYER_NAME_MAX + 1])
{
	size_t n = t.n < PAYER_NAME_MAX ? t.n : PAYER_NAME_MAX;

	out[0] = '\0';
	if (slurm_text_is(t, "(null)") || slurm_text_is(t, "N/A"))
		return;
	for (size_t i = 0; i < n; i++)
		out[i] = t.p[i] >= ' ' && t.p[i] <= '~' ? t.p[i] : '?';
	out[n] = '\0';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "96"; squeue writes 1024 as "1K" and rounds what it writes as "1.50K": round up.  0: not a
 * number. */
static uint32_t count_of(struct slurm_text t)
{
	uint64_t n = 0, tenths = 0, unit = 1;
	size_t i = 0;

	for (; i < t.n && is_digit(t.p[i]); i++)
		if (n < UINT32_MAX)
			n = 10 * n + (uint64_t)(t.p[i] - '0');
	if (i + 1 < t.n && t.p[i] == '.' && is_digit(t.p[i + 1])) {
		tenths = (uint64_t)(t.p[i + 1] - '0') + 1;
		for (i++; i < t.n && is_digit(t.p[i]);)
			i++;
	}
	if (i < t.n)
		unit = t.p[i] == 'K' ? 1024 : t.p[i] == 'M' ? 1024 * 1024 : 0;
	n = n * unit + (tenths * unit + 9) / 10;
	return n <= UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

#define YEAR_S INT64_C(31536000)

/* "4:00:00", "1-00:00:00", "30:00" (minutes and seconds), "UNLIMITED".  A limit that cannot be read
 * is none; nor is a year, which is what the backfill scheduler gives a job without one (22.05). */
static int64_t limit_of(struct slurm_text t)
{
	int64_t days = 0, v = 0, part = 0;
	unsigned parts = 0;

	for (size_t i = 0; i < t.n; i++) {
		if (is_digit(t.p[i]) && part < INT32_MAX) {
			part = 10 * part + (t.p[i] - '0');
		} else if (t.p[i] == '-' && i > 0 && parts == 0 && days == 0) {
			days = part;
			part = 0;
		} else if (t.p[i] == ':' && i > 0 && parts < 2) {
			v = 60 * (v + part);
			part = 0;
			parts++;
		} else {
			return PAYER_UNLIMITED;
		}
	}
	v += part + 86400 * days;
	return parts == 0 || v >= YEAR_S ? PAYER_UNLIMITED : v;
}

/* The GPUs of one entry: "gpu", "gpu:8", "gpu:h100:8", "gpu:h100". */
static uint32_t gpus_of(struct slurm_text t)
{
	const char *colon = NULL;

	if (t.n < 3 || memcmp(t.p, "gpu", 3) != 0 || (t.n > 3 && t.p[3] != ':'))
		return 0;
	for (size_t i = 0; i < t.n; i++)
		if (t.p[i] == ':')
			colon = t.p + i;
	if (colon == NULL || colon + 1 == t.p + t.n || !is_digit(colon[1]))
		return 1;
	return count_of((struct slurm_text){colon + 1, (size_t)(t.p + t.n - colon - 1)});
}

/* "gres/gpu:h100:8", "gres:gpu:2,gres:shard:1", "N/A". */
static uint32_t gres_of(struct slurm_text t)
{
	uint64_t n = 0;

	while (t.n > 0) {
		const char *comma = memchr(t.p, ',', t.n);
		struct slurm_text one = {t.p, comma != NULL ? (size_t)(comma - t.p) : t.n};

		t.p += one.n + (comma != NULL);
		t.n -= one.n + (comma != NULL);
		if (one.n > 5 && memcmp(one.p, "gres", 4) == 0) {
			one.p += 5;
			one.n -= 5;
		}
		n += gpus_of(one);
	}
	return n <= UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

bool slurm_payer_read(const struct slurm_job *j, struct payer *out)
{
	const struct slurm_payer *p = &j->payer;

	if (p->account.p == NULL)
		return false;
	*out = (struct payer){.limit_s = limit_of(p->limit),
			      .nodes = count_of(p->nodes),
			      .cpus = count_of(p->cpus),
			      .node_gpus = gres_of(p->gres),
			      .exclusive = slurm_text_is(p->over, "NO")};
	(void)snprintf(out->id, sizeof(out->id), "%s", j->id);
	name_of(p->account, out->account);
	name_of(p->user, out->user);
	name_of(j->partition, out->partition);
	name_of(p->qos, out->qos);
	name_of(p->wckey, out->wckey);
	return true;
}
