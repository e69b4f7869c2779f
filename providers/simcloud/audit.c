#include "providers/simcloud/audit.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "providers/simcloud/js.h"

/* --- the wanted intervals --------------------------------------------------------------------- */

static int by_node_and_start(const void *a, const void *b)
{
	const struct audit_wanted *x = a, *y = b;
	int order = strcmp(x->node, y->node);

	if (order != 0)
		return order;
	return (x->start_ms > y->start_ms) - (x->start_ms < y->start_ms);
}

static const char *word(const char *p, char *out, size_t size)
{
	size_t n = 0;

	while (*p == ' ' || *p == '\t')
		p++;
	while (*p != '\0' && !isspace((unsigned char)*p)) {
		if (n + 1 < size)
			out[n++] = *p;
		p++;
	}
	out[n] = '\0';
	return p;
}

static int number(const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 ? 0 : -1;
}

/* Returns 1 if *w is set, 0 for an empty line or a comment. */
static int read_line(struct audit_wanted *w, const char *p, struct err *e)
{
	char start[32], end[32], more[2];

	p = word(p, w->node, sizeof(w->node));
	if (w->node[0] == '\0' || w->node[0] == '#')
		return 0;
	p = word(p, start, sizeof(start));
	p = word(p, end, sizeof(end));
	(void)word(p, more, sizeof(more));
	w->end_ms = INT64_MAX;
	if (number(start, &w->start_ms) != 0 || more[0] != '\0' ||
	    (strcmp(end, "-") != 0 && number(end, &w->end_ms) != 0))
		return err_set(e, ERR_INVALID, "want \"node start_ms end_ms|-\"");
	if (w->end_ms < w->start_ms)
		return err_set(e, ERR_INVALID, "ends before it starts");
	return 1;
}

int audit_read_wanted(struct audit_wanted **out, size_t *n, const char *text, struct err *e)
{
	struct audit_wanted *v = mem_zalloc(sizeof(*v));
	size_t cap = 1;
	unsigned line = 1;

	*out = NULL;
	*n = 0;
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		char *copy = mem_check(strndup(text, len));
		int rc;

		if (*n == cap) {
			cap *= 2;
			v = mem_realloc(v, cap * sizeof(*v));
		}
		rc = read_line(&v[*n], copy, e);
		free(copy);
		if (rc < 0) {
			free(v);
			return err_wrap(e, "line %u", line);
		}
		*n += (size_t)rc;
		text += len + (text[len] == '\n');
		line++;
	}
	qsort(v, *n, sizeof(*v), by_node_and_start);
	*out = v;
	return 0;
}

/* --- judging ---------------------------------------------------------------------------------- */

struct judge {
	struct audit_result *out;
	const struct meter *m;
	const struct audit_wanted *wanted;
	size_t nwanted;
	int64_t grace_ms, now_ms;
};

static int64_t end_of(const struct judge *j, const struct meter_row *r)
{
	return r->end_ms >= 0 ? r->end_ms : j->now_ms;
}

static void find(struct judge *j, bool leaked, uint32_t row, int64_t from, int64_t ms)
{
	struct audit_result *out = j->out;
	struct audit_finding *last = out->nfindings > 0 ? &out->findings[out->nfindings - 1] : NULL;

	assert(out->findings != NULL);
	if (leaked)
		out->leaked_ms += ms;
	else
		out->duplicate_ms += ms;
	if (last != NULL && last->leaked == leaked && last->row == row &&
	    last->from_ms + last->ms == from)
		last->ms += ms; /* the last finding goes on */
	else if (out->nfindings < AUDIT_FINDINGS_MAX)
		out->findings[out->nfindings++] = (struct audit_finding){leaked, row, from, ms};
}

static const struct audit_wanted *first_wanted(const struct judge *j, const char *node)
{
	size_t lo = 0, hi = j->nwanted;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(j->wanted[mid].node, node) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return &j->wanted[lo];
}

/* The node of row was not wanted from `from` to `to`: find what the instance lived in there beyond
 * the grace time. */
static void judge_stretch(struct judge *j, uint32_t row, int64_t from, int64_t to)
{
	const struct meter_row *r = &j->m->rows[row];
	int64_t end = end_of(j, r);

	if (from < r->start_ms)
		from = r->start_ms;
	if (to > end)
		to = end;
	if (to - from > j->grace_ms)
		find(j, true, row, from + j->grace_ms, to - from - j->grace_ms);
}

static void judge_leaks(struct judge *j, uint32_t row)
{
	const char *node = j->m->rows[row].node;
	const struct audit_wanted *w = first_wanted(j, node), *end = j->wanted + j->nwanted;
	int64_t unwanted = 0;

	for (; w < end && strcmp(w->node, node) == 0; w++) {
		if (w->start_ms > unwanted)
			judge_stretch(j, row, unwanted, w->start_ms);
		if (w->end_ms > unwanted)
			unwanted = w->end_ms;
	}
	judge_stretch(j, row, unwanted, INT64_MAX);
}

struct edge { /* a time at which a row changes */
	int64_t at;
	uint32_t row;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Is row excused at a time: its delete was accepted, and a younger generation lives? */
static bool excused(const struct judge *j, const uint32_t *live, size_t n, uint32_t row, int64_t at)
{
	const struct meter_row *r = &j->m->rows[row];

	if (r->deleted_ms < 0 || r->deleted_ms > at)
		return false;
	for (size_t k = 0; k < n; k++)
		if (j->m->rows[live[k]].gen > r->gen)
			return true;
	return false;
}

/* The rows live[0..n) live from `from` to `to`, and nothing changes in between. */
static void judge_instant(struct judge *j, const uint32_t *live, size_t n, int64_t from, int64_t to)
{
	int64_t counted = 0;
	uint32_t last = 0;

	for (size_t k = 0; n > 1 && k < n; k++)
		if (!excused(j, live, n, live[k], from)) {
			counted++;
			last = live[k];
		}
	if (counted > 1 && to > from)
		find(j, false, last, from, (counted - 1) * (to - from));
}

/* Find duplicates among all rows of one node. */
static void judge_node(struct judge *j, const uint32_t *rows, size_t n)
{
	struct edge *edges = mem_zalloc(3 * n * sizeof(*edges));
	uint32_t *live = mem_zalloc(n * sizeof(*live));
	size_t nedges = 0, nlive = 0;

	for (size_t k = 0; k < n; k++) {
		const struct meter_row *r = &j->m->rows[rows[k]];

		edges[nedges++] = (struct edge){r->start_ms, rows[k]};
		edges[nedges++] = (struct edge){end_of(j, r), rows[k]};
		if (r->deleted_ms >= 0)
			edges[nedges++] = (struct edge){r->deleted_ms, rows[k]};
	}
	qsort(edges, nedges, sizeof(*edges), by_time);
	for (size_t k = 0; k < nedges; k++) {
		const struct meter_row *r = &j->m->rows[edges[k].row];
		size_t i = 0;

		if (k > 0)
			judge_instant(j, live, nlive, edges[k - 1].at, edges[k].at);
		while (i < nlive && live[i] != edges[k].row)
			i++;
		if (i < nlive && edges[k].at >= end_of(j, r))
			live[i] = live[--nlive];
		else if (i == nlive && edges[k].at < end_of(j, r))
			live[nlive++] = edges[k].row;
	}
	free(edges);
	free(live);
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct meter *m = ctx;
	const struct meter_row *x = &m->rows[*(const uint32_t *)a];
	const struct meter_row *y = &m->rows[*(const uint32_t *)b];
	int order = strcmp(x->cluster, y->cluster);

	return order != 0 ? order : strcmp(x->node, y->node);
}

static bool same_node(const struct meter *m, uint32_t a, uint32_t b)
{
	/* The meter keeps each string once. */
	return m->rows[a].node == m->rows[b].node && m->rows[a].cluster == m->rows[b].cluster;
}

void audit_run(struct audit_result *out, const struct meter *m, const struct audit_wanted *wanted,
	       size_t nwanted, const struct audit_opts *o)
{
	struct judge j = {
		.out = out, .m = m, .wanted = wanted, .nwanted = nwanted, .grace_ms = o->grace_ms};
	uint32_t *rows = mem_zalloc((m->n + 1) * sizeof(*rows));
	uint32_t n = 0;

	*out = (struct audit_result){.now_ms = o->now_ms >= 0 ? o->now_ms : m->last_ms,
				     .currency = ""};
	out->findings = mem_zalloc(AUDIT_FINDINGS_MAX * sizeof(*out->findings));
	j.now_ms = out->now_ms;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct meter_row *r = &m->rows[i];

		if (o->cluster[0] != '\0' && strcmp(o->cluster, r->cluster) != 0)
			continue;
		rows[n++] = i;
		out->instance_ms += end_of(&j, r) > r->start_ms ? end_of(&j, r) - r->start_ms : 0;
		out->cost_nano += meter_cost(r, j.now_ms);
		out->currency = r->currency;
		judge_leaks(&j, i);
	}
	out->instances = n;
	qsort_r(rows, n, sizeof(*rows), by_name, (void *)(uintptr_t)m);
	for (uint32_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && same_node(m, rows[i], rows[k]); k++)
			;
		if (k - i > 1)
			judge_node(&j, rows + i, k - i);
	}
	free(rows);
}

void audit_result_fini(struct audit_result *r)
{
	free(r->findings);
	*r = (struct audit_result){0};
}

/* --- telling ---------------------------------------------------------------------------------- */

static void write_json(const struct audit_result *r, const struct meter *m, struct str *s)
{
	char text[FMT_MONEY_SIZE], id[METER_ID_SIZE];

	js_open(s, NULL, '{');
	js_int(s, "instances", r->instances);
	js_seconds(s, "instance_seconds", r->instance_ms);
	js_str(s, "cost", fmt_money(text, r->cost_nano));
	js_str(s, "currency", r->currency);
	js_seconds(s, "duplicate_seconds", r->duplicate_ms);
	js_seconds(s, "leaked_seconds", r->leaked_ms);
	js_int(s, "now_ms", r->now_ms);
	js_open(s, "findings", '[');
	for (size_t i = 0; i < r->nfindings; i++) {
		const struct audit_finding *f = &r->findings[i];

		js_open(s, NULL, '{');
		js_str(s, "what", f->leaked ? "leaked" : "duplicate");
		js_str(s, "node", m->rows[f->row].node);
		js_int(s, "generation", (int64_t)m->rows[f->row].gen);
		js_str(s, "id", meter_id(id, f->row));
		js_int(s, "from_ms", f->from_ms);
		js_seconds(s, "seconds", f->ms);
		js_close(s, '}');
	}
	js_close(s, ']');
	js_close(s, '}');
	str_adds(s, "\n");
}

static void put_seconds(struct str *s, const char *label, int64_t ms)
{
	str_addf(s, "%-20s %" PRId64 ".%03" PRId64 "\n", label, ms / 1000, ms % 1000);
}

void audit_write(const struct audit_result *r, const struct meter *m, bool json, struct str *s)
{
	char text[FMT_MONEY_SIZE], id[METER_ID_SIZE], time[FMT_TIME_SIZE];

	if (json) {
		write_json(r, m, s);
		return;
	}
	for (size_t i = 0; i < r->nfindings; i++) {
		const struct audit_finding *f = &r->findings[i];
		const struct meter_row *row = &m->rows[f->row];

		str_addf(s,
			 "%s: node %s generation %" PRIu64 " (%s) for %" PRId64 ".%03" PRId64
			 " s from %s\n",
			 f->leaked ? "leaked" : "duplicate", row->node, row->gen,
			 meter_id(id, f->row), f->ms / 1000, f->ms % 1000,
			 fmt_time(time, f->from_ms));
	}
	str_addf(s, "%-20s %u\n", "instances", r->instances);
	put_seconds(s, "instance seconds", r->instance_ms);
	str_addf(s, "%-20s %s %s\n", "cost", fmt_money(text, r->cost_nano), r->currency);
	put_seconds(s, "duplicate seconds", r->duplicate_ms);
	put_seconds(s, "leaked seconds", r->leaked_ms);
}
