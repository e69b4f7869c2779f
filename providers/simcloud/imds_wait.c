/* imds_wait.c - Google's hanging requests: answered once a value has changed, or at their
 * deadline.
 *
 * Every change is a notice of the cloud first, so waiting requests are looked at only after a
 * notice or a deadline. */
#include <stdlib.h>

#include "base/mem.h"
#include "providers/simcloud/imds_private.h"

struct imds_wait {
	uint64_t ticket, etag;
	int64_t until;
	uint32_t row;
	tell_fn tell;
};

void imds_fini(struct imds *m)
{
	free(m->waits);
	m->waits = NULL;
	m->nwaits = m->cap = 0;
}

bool imds_hold(struct asked *a, uint64_t ticket, tell_fn tell, uint64_t etag, int64_t until_ms)
{
	struct imds *m = a->m;

	if (m->nwaits >= IMDS_WAITS_MAX)
		return false;
	if (m->nwaits == m->cap) {
		m->cap = m->cap == 0 ? 64 : 2 * m->cap;
		m->waits = mem_realloc(m->waits, m->cap * sizeof(*m->waits));
	}
	if (m->nwaits == 0) {
		m->heard = m->cloud->notices.n;
		m->next = INT64_MAX;
	}
	m->waits[m->nwaits++] = (struct imds_wait){
		.ticket = ticket, .etag = etag, .until = until_ms, .row = a->i->row, .tell = tell};
	if (until_ms < m->next)
		m->next = until_ms;
	return true;
}

/* Answer a waiting request if its value has changed or its time is up; drop it if its instance has
 * ended. */
static bool wake(struct imds *m, const struct imds_wait *w, int64_t now)
{
	struct asked a = {.m = m, .i = cloud_of_row(m->cloud, w->row), .now = now};
	struct http_answer an = {.status = 404, .drop = true};
	bool changed = true;

	str_init(&a.out, IMDS_TEXT_MAX_BYTES);
	if (a.i != NULL && a.i->state != CLOUD_ENDED) {
		an.drop = false;
		a.row = &m->cloud->meter->rows[w->row];
		if (w->tell(&a)) {
			changed = imds_etag(&a) != w->etag || now >= w->until;
			imds_gcp_answer(&a, &an);
		}
	}
	str_fini(&a.out);
	if (changed)
		m->later(m->ctx, w->ticket, &an);
	else
		free(an.body);
	return changed;
}

void imds_tick(struct imds *m, int64_t now)
{
	uint32_t left = 0;

	if (now < imds_next(m))
		return;
	m->heard = m->cloud->notices.n;
	m->next = INT64_MAX;
	for (uint32_t k = 0; k < m->nwaits; k++) {
		struct imds_wait w = m->waits[k];

		if (wake(m, &w, now))
			continue;
		m->waits[left++] = w;
		if (w.until < m->next)
			m->next = w.until;
	}
	m->nwaits = left;
}

int64_t imds_next(const struct imds *m)
{
	if (m->nwaits == 0)
		return INT64_MAX;
	return m->heard != m->cloud->notices.n ? 0 : m->next;
}
