/* fuzz_slurm.c - any bytes as what scontrol and squeue print (burstd/slurm/parse.c, job.c, payer.c,
 * version.c).  The first byte says which of them. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "slurm/job.h"
#include "slurm/parse.h"
#include "slurm/payer.h"
#include "slurm/version.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bounds {
	const char *from, *to;
	long n;
	const char *last; /* where the job before ends */
};

static void check_text(const struct bounds *b, struct slurm_text t)
{
	assert(t.p == NULL || (t.p >= b->from && t.p + t.n <= b->to));
	assert(t.p != NULL || t.n == 0);
}

static void on_node(void *ctx, const struct slurm_node *n)
{
	struct bounds *b = ctx;
	char words[512];

	b->n++;
	assert(memchr(n->name, '\0', sizeof(n->name)) != NULL);
	assert((n->flags & SLURM_KNOWN) != 0);
	check_text(b, n->addr);
	check_text(b, n->host);
	check_text(b, n->state);
	check_text(b, n->instance);
	check_text(b, n->partitions);
	check_text(b, n->reason);
	slurm_print_state(n->flags, words, sizeof(words));
	assert(slurm_parse_state(words, strlen(words)) == n->flags);
}

static void check_payer(const struct bounds *b, const struct slurm_job *j)
{
	const struct slurm_payer *p = &j->payer;
	const struct slurm_text texts[] = {p->by_job, p->by_node, p->by_socket, p->by_task,
					   p->wckey};
	struct payer out = {.cpus = 1};
	bool said = slurm_payer_read(j, &out);

	assert(said == (p->account.p != NULL) && (said || out.cpus == 1));
	check_text(b, p->account);
	assert(p->account.n <= SLURM_ACCOUNT_WIDTH);
	check_text(b, p->allocated);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		check_text(b, texts[i]);
		assert(texts[i].n <= SLURM_PAYER_WIDTH && (texts[i].p != NULL) == said);
		/* In order, and no newline before them ends the row. */
		assert(!said || texts[i].p > (i > 0 ? texts[i - 1].p : p->sockets.p));
	}
	assert(!said || memchr(j->id, '\0', sizeof(j->id)) != NULL);
	assert(out.limit_s >= PAYER_UNLIMITED);
}

static void on_job(void *ctx, const struct slurm_job *j)
{
	struct bounds *b = ctx;
	bool pending = slurm_job_may_start(j);

	assert(j->number != 0 && memchr(j->id, '\0', sizeof(j->id)) != NULL);
	check_text(b, j->state);
	check_text(b, j->partition);
	check_text(b, j->reason);
	check_text(b, j->nodes);
	check_text(b, j->constraint);
	check_text(b, j->comment);
	assert(j->comment.n <= SLURM_COMMENT_WIDTH);
	assert(j->comment.p == NULL || j->constraint.p != NULL);
	assert(j->nodes.n == 0 || memchr(j->nodes.p, '|', j->nodes.n) == NULL);
	/* In order, and none within the comment of another. */
	assert(j->state.p > b->last);
	b->last = j->comment.p != NULL       ? j->comment.p + j->comment.n
		  : j->payer.wckey.p != NULL ? j->payer.wckey.p + j->payer.wckey.n
					     : j->nodes.p;
	check_payer(b, j);
	assert(!pending || (!slurm_job_running(j) && !slurm_job_configuring(j)));
	assert(slurm_names_meet(j->partition, j->nodes) ==
	       slurm_names_meet(j->nodes, j->partition));
}

static void on_words(void *ctx, const struct slurm_job_words *w)
{
	on_job(ctx, &w->job);
	check_text(ctx, w->required);
	check_text(ctx, w->planned);
	check_text(ctx, w->excluded);
}

static void on_detail(void *ctx, const struct slurm_job_detail *d)
{
	(void)ctx;
	assert(d->begin_ms >= 0);
}

static void check_version(const char *text, size_t len)
{
	struct slurm_version v;
	struct err e = {0};

	if (slurm_version_parse(&v, text, len, &e) != 0) {
		assert(e.code != 0 && e.msg[0] != '\0');
		return;
	}
	assert(v.text[0] != '\0' && memchr(v.text, '\0', sizeof(v.text)) != NULL);
	for (int t = 0; t < SLURM_NTRAITS; t++)
		(void)slurm_version_has(&v, (enum slurm_trait)t);
	(void)slurm_version_support(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = size > 0 ? (const char *)data + 1 : "";
	size_t len = size > 0 ? size - 1 : 0;
	struct bounds b = {text, text + len, 0, text};
	struct err e = {0};
	long n;

	if (size == 0)
		return 0;
	switch (data[0]) {
	case 'n':
		n = slurm_parse_nodes(text, len, on_node, &b, &e);
		assert(n == b.n || (n == -1 && e.code != 0 && e.msg[0] != '\0'));
		break;
	case 'j':
		slurm_job_parse(text, len, on_job, &b);
		(void)slurm_job_whole(text, len);
		break;
	case 'w':
		(void)slurm_job_parse_words(text, len, on_words, &b);
		break;
	case 'd':
		slurm_job_parse_detail(text, len, on_detail, &b);
		break;
	default:
		check_version(text, len);
		break;
	}
	return 0;
}
