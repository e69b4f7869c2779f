#include "sim_spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "buy/buy.h"
#include "io/loop.h"
#include "sim_journal.h"
#include "sim_tx.h"

enum { FILES_MAX = 4096 };

struct file {
	struct file *next;
	char name[32];
	enum call_kind kind;
	int64_t at;
	char *list, *text;
	/* What the burstd of now knows of it. */
	bool listed; /* it is on the list of this pass */
	bool early, kept, handled;
};

struct spool {
	struct world *w;
	struct file *files; /* by name */
	size_t n;
	unsigned last; /* number of a file */
	bool woken, first;
	int64_t listed_at;
	void (*wake)(void *ctx);
	void *ctx;
};

void sim_spool_choose(struct world *w)
{
	uint64_t rng = w->rng;

	w->rng = rng ^ 0x5b001;
	for (int f = SIM_SPOOL_DEAF; f <= SIM_SPOOL_STAYS; f++)
		w->set.chance[f] = world_one_in(w, 4) ? sim_faults[f].per_mille : 0;
	w->rng = rng;
}

struct spool *sim_spool_new(struct world *w)
{
	struct spool *s = mem_zalloc(sizeof(*s));

	s->w = w;
	return s;
}

static void drop(struct file *f)
{
	free(f->list);
	free(f->text);
	free(f);
}

void sim_spool_free(struct spool *s)
{
	while (s->files != NULL) {
		struct file *f = s->files;

		s->files = f->next;
		drop(f);
	}
	free(s);
}

void sim_spool_life(struct spool *s)
{
	for (struct file *f = s->files; f != NULL; f = f->next)
		f->listed = f->early = f->kept = f->handled = false;
	s->first = s->woken = true;
	s->listed_at = 0;
}

/* Names begin with the time of the call. */
static void insert(struct spool *s, struct file *f)
{
	struct file **at = &s->files;

	while (*at != NULL && (*at)->at <= f->at)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	if (++s->n > FILES_MAX)
		world_fail(s->w, "I25: the spool grows without end");
}

void sim_spool_put(struct spool *s, const struct sim_call *c)
{
	struct file *f = mem_zalloc(sizeof(*f));
	struct world *w = s->w;

	f->kind = c->kind;
	f->at = c->at;
	(void)snprintf(f->name, sizeof(f->name), "%u.call", ++s->last);
	f->list = mem_strdup(c->list);
	f->text = c->file != NULL ? mem_strdup(c->file) : NULL;
	insert(s, f);
	if (w->engine == NULL || w->crashed)
		return;
	if (world_fault(w, SIM_SPOOL_DEAF)) {
		SIM_TRACE(w, "  fault: the watch has overflowed");
		w->totals->met[SIM_SPOOL_DEAF][NODE_NSTATES]++;
		sim_journal_met_all(w->journal, SIM_SPOOL_DEAF);
		return;
	}
	s->woken = true;
	if (s->wake != NULL)
		s->wake(s->ctx);
}

/* --- io/spool.h -------------------------------------------------------------------------------
 */

void spool_on_wake(struct spool *s, void (*wake)(void *ctx), void *ctx)
{
	s->wake = wake;
	s->ctx = ctx;
}

static struct file *next_file(const struct spool *s)
{
	struct file *f = s->files;

	while (f != NULL && !f->listed)
		f = f->next;
	return f;
}

int64_t spool_next_ms(const struct spool *s)
{
	if (s->woken || next_file(s) != NULL)
		return s->listed_at;
	return s->listed_at + SPOOL_EVERY_MS;
}

static void delete_file(struct spool *s, struct file *f)
{
	struct file **at = &s->files;

	if (!world_alive(s->w))
		return; /* it is there when the next one begins */
	if (world_fault(s->w, SIM_SPOOL_STAYS)) {
		SIM_TRACE(s->w, "  fault: %s cannot be deleted", f->name);
		s->w->totals->met[SIM_SPOOL_STAYS][NODE_NSTATES]++;
		sim_journal_met_all(s->w->journal, SIM_SPOOL_STAYS);
		f->handled = true;
		return;
	}
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	s->n--;
	drop(f);
}

static void list(struct spool *s)
{
	struct file *next;

	s->woken = false;
	s->listed_at = loop_now(s->w->loop);
	for (struct file *f = s->files; f != NULL; f = next) {
		next = f->next;
		if (f->handled) {
			delete_file(s, f); /* it may be gone */
			if (s->w->crashed)
				return;
			continue;
		}
		f->listed = f->listed || !f->kept;
		f->early = f->early || s->first;
	}
}

static void offer(struct spool *s, struct file *f, spool_fn fn, void *ctx)
{
	const struct spool_call c = {.name = f->name,
				     .kind = f->kind,
				     .age_ms = s->w->now - f->at,
				     .early = f->early,
				     .list = f->list,
				     .list_len = strlen(f->list),
				     .file = f->text,
				     .file_len = f->text != NULL ? strlen(f->text) : 0};

	f->listed = false;
	f->kept = true;
	SIM_TRACE(s->w, "call %s, kind %d, %lld ms old%s: %s", f->name, (int)f->kind,
		  (long long)c.age_ms, f->early ? ", early" : "", f->list);
	if (!fn(ctx, &c))
		delete_file(s, f);
}

int spool_pass(struct spool *s, spool_fn fn, void *ctx, struct err *e)
{
	struct file *f = next_file(s);

	(void)e;
	if (s->w->crashed || loop_now(s->w->loop) < spool_next_ms(s))
		return 0;
	if (f == NULL)
		list(s);
	for (int i = 0; i < 4 && !s->w->crashed && (f = next_file(s)) != NULL; i++)
		offer(s, f, fn, ctx);
	if (next_file(s) == NULL)
		s->first = false;
	return 0;
}

static bool is_pending(const struct engine *e, const char *name)
{
	const struct fresh_call *p = e->buy->calls;

	while (p != NULL && strcmp(p->name, name) != 0)
		p = p->next;
	return p != NULL || e->unwritten.v != NULL; /* rows that are in memory only */
}

/* A fresh call was acted on: all of that is durable (I29). */
void spool_done(struct spool *s, const char *name)
{
	struct file *f = s->files;

	while (f != NULL && strcmp(f->name, name) != 0)
		f = f->next;
	if (s->w->crashed)
		return;
	if (f == NULL || !f->kept || f->handled)
		world_fail(s->w, "I29: %s is done with, and was not taken", name);
	else if (sim_journal_txs(s->w->journal)->open > 0 || is_pending(s->w->engine, name))
		world_fail(s->w, "I29: %s is deleted before what came of it is durable", name);
	else
		delete_file(s, f);
}

uint64_t spool_bad(const struct spool *s)
{
	(void)s;
	return 0;
}

int spool_look(const struct spool *s, const char **note, struct err *e)
{
	(void)s;
	(void)e;
	*note = NULL;
	return 0;
}
