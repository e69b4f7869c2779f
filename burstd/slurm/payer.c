#include "slurm/payer.h"

#include <stdio.h>
#include <string.h>

#include "base/plain.h"

/* Copy a name; "(null)" and "N/A" are none.  What may not be shown is replaced, since a wckey is a
 * user's text; letters that are not ASCII stay, lest a budget that names an account does not find
 * it, and two accounts become one. */
static void name_of(struct slurm_text t, char out[PAYER_NAME_MAX + 1])
{
	size_t n = t.n < PAYER_NAME_MAX ? t.n : PAYER_NAME_MAX;

	out[0] = '\0';
	if (slurm_text_is(t, "(null)") || slurm_text_is(t, "N/A"))
		return;
	for (size_t i = 0; i < n; i++)
		out[i] = t.p[i] != '\0' ? t.p[i] : '?';
	out[n] = '\0';
	plain_make(out, '?');
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

struct gpus {
	uint64_t any, typed; /* a list of TRES has both, and the sum of types is part of any */
};

/* One entry of such a list, without "gres": "gpu", "gpu:8", "gpu:h100:8", "gpu:h100", "gpu=8",
 * "gpu:h100=8". */
static void add_gpus(struct slurm_text t, struct gpus *out)
{
	size_t last = 3; /* where the count begins, or what stands for it */
	uint64_t n = 1;

	if (t.n < 3 || memcmp(t.p, "gpu", 3) != 0 || (t.n > 3 && t.p[3] != ':' && t.p[3] != '='))
		return;
	for (size_t i = 3; i < t.n; i++)
		if (t.p[i] == ':' || t.p[i] == '=')
			last = i;
	if (last + 1 < t.n && is_digit(t.p[last + 1]))
		n = count_of((struct slurm_text){t.p + last + 1, t.n - last - 1});
	*(last > 3 ? &out->typed : &out->any) += n;
}

/* "gres/gpu:h100:8", "gres:gpu:2,gres:shard:1", "cpu=8,gres/gpu=2,gres/gpu:h100=2", "N/A". */
static struct gpus gpus_of(struct slurm_text t)
{
	struct gpus sum = {0, 0};

	while (t.n > 0) {
		const char *comma = memchr(t.p, ',', t.n);
		struct slurm_text one = {t.p, comma != NULL ? (size_t)(comma - t.p) : t.n};

		t.p += one.n + (comma != NULL);
		t.n -= one.n + (comma != NULL);
		if (one.n > 5 && memcmp(one.p, "gres", 4) == 0) {
			one.p += 5;
			one.n -= 5;
		}
		add_gpus(one, &sum);
	}
	return sum;
}

/* So many times what a job asks for by node, socket or task; false: that may have been cut. */
static bool asks_for(struct slurm_text t, uint64_t times, uint64_t nodes, uint64_t *out)
{
	struct gpus each = gpus_of(t);
	uint64_t n = each.any + each.typed;

	n = n <= UINT32_MAX ? n * times : UINT32_MAX;
	n = (n + nodes - 1) / nodes;
	*out = n > *out ? n : *out;
	return t.n < SLURM_PAYER_WIDTH;
}

/* The GPUs of the job on each of its nodes: what slurmctld allocated, divided by the nodes.  That
 * has no GPUs where the site does not count them (AccountingStorageTRES), and only some if it
 * counts some types: then what the job asks for counts, if it is more.  false: that cannot be
 * read. */
static bool read_gpus(const struct slurm_payer *p, uint64_t nodes, uint32_t *out)
{
	struct gpus has = gpus_of(p->allocated);
	uint64_t n = ((has.any > 0 ? has.any : has.typed) + nodes - 1) / nodes;
	uint64_t sockets = count_of(p->sockets), tasks = count_of(p->tasks);
	bool whole = true;

	if (has.any == 0) {
		whole &= asks_for(p->by_job, 1, nodes, &n);
		whole &= asks_for(p->by_node, 1, 1, &n);
		whole &= asks_for(p->by_socket, sockets > 0 ? sockets : 1, 1, &n);
		whole &= asks_for(p->by_task, tasks > 0 ? tasks : 1, nodes, &n);
	}
	*out = n <= UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	return whole;
}

/* Are the job's nodes its own?  "NO/" is "NO" of a squeue that is older than slurmctld
 * (SLURM_SHARES_OR_OWNS). */
static bool is_exclusive(struct slurm_text t)
{
	static const char *const own[] = {"NO", "TOPO", "NO/", "TOPO/", "NO/NODE", "NO/TOPO"};
	bool is = false;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		is |= slurm_text_is(t, own[i]);
	return is;
}

bool slurm_payer_says_whose(const struct slurm_job *j)
{
	const struct slurm_text t = j->payer.shares;
	const char *slash = t.n > 0 ? memchr(t.p, '/', t.n) : NULL;

	return slash != NULL && slash + 1 < t.p + t.n;
}

bool slurm_payer_read(const struct slurm_job *j, struct payer *out)
{
	static const struct slurm_text none = {NULL, 0};
	const struct slurm_payer *p = &j->payer;

	if (p->account.p == NULL)
		return false;
	*out = (struct payer){.limit_s = limit_of(p->limit),
			      .nodes = count_of(p->nodes),
			      .cpus = count_of(p->cpus),
			      .exclusive = is_exclusive(p->shares)};
	/* Nothing is set aside too little for a text that is too long to be read. */
	if (!read_gpus(p, out->nodes > 0 ? out->nodes : 1, &out->node_gpus))
		out->exclusive = true;
	(void)snprintf(out->id, sizeof(out->id), "%s", j->id);
	name_of(p->account, out->account);
	/* So squeue calls a uid that has no name on its host, be it that the directory is away. */
	name_of(slurm_text_is(p->user, "nobody") ? none : p->user, out->user);
	name_of(j->partition, out->partition);
	name_of(p->qos, out->qos);
	name_of(p->wckey, out->wckey);
	return true;
}
