/* nova_book.c - the servers and server groups that Nova's face knows, and their ids. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/nova.h"

struct nova_book {
	struct nova_kept *v; /* in the order of their making */
	size_t n, cap;
	struct nova_group *groups;
	size_t ngroups;
	uint32_t last;
};

static void free_book(void *own)
{
	struct nova_book *b = own;

	for (size_t i = 0; i < b->n; i++)
		nova_spec_unref(b->v[i].spec);
	for (size_t i = 0; i < b->ngroups; i++)
		json_decref(b->groups[i].doc);
	free(b->v);
	free(b->groups);
	free(b);
}

/* Its address says whose a book is. */
static const char owner[] = "nova";

struct nova_book *nova_book(struct cloud *c)
{
	struct nova_book *b = annex_get(c->annex, owner);

	if (b == NULL) {
		b = mem_zalloc(sizeof(*b));
		annex_put(&c->annex, owner, b, free_book);
	}
	return b;
}

uint32_t nova_number(struct nova_book *b)
{
	return ++b->last;
}

/* --- servers ---------------------------------------------------------------------------------- */

void nova_keep(struct nova_book *b, const struct nova_kept *k)
{
	if (b->n == b->cap) {
		b->cap = b->cap == 0 ? 64 : 2 * b->cap;
		b->v = mem_realloc(b->v, b->cap * sizeof(*b->v));
	}
	b->v[b->n] = *k;
	b->v[b->n++].spec = nova_spec_ref(k->spec);
}

static bool is_failed(const struct nova_kept *k)
{
	return k->number != 0 && !k->dropped;
}

size_t nova_failed(const struct nova_book *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += is_failed(&b->v[i]);
	return n;
}

/* What the cloud has forgotten, and what the client deleted, needs no entry. */
static void tidy(struct nova_book *b, const struct cloud *c)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		struct nova_kept *k = &b->v[i];

		if (k->number != 0 ? !k->dropped : cloud_of_row(c, k->row) != NULL)
			b->v[n++] = *k;
		else
			nova_spec_unref(k->spec);
	}
	b->n = n;
}

void nova_walk(struct nova_walk *w, struct cloud *c)
{
	struct nova_book *b = nova_book(c);

	tidy(b, c);
	*w = (struct nova_walk){.c = c, .b = b, .k = b->n, .row = (int64_t)c->meter->n - 1};
}

bool nova_next(struct nova_walk *w, struct nova_item *out)
{
	struct nova_kept *k = w->k > 0 ? &w->b->v[w->k - 1] : NULL;

	/* One without an instance was made when there were k->row rows: it is younger than these.
	 */
	if (k != NULL && k->number != 0 && (int64_t)k->row > w->row) {
		w->k--;
		*out = (struct nova_item){.k = k};
		return true;
	}
	if (w->row < (int64_t)w->c->first)
		return false;
	*out = (struct nova_item){.i = cloud_of_row(w->c, (uint32_t)w->row)};
	if (k != NULL && k->number == 0 && (int64_t)k->row == w->row) {
		w->k--;
		out->k = k;
	}
	w->row--;
	return true;
}

/* A machine that switched itself off stays; one that was deleted or taken is gone. */
static bool is_gone(const struct cloud_instance *i, int64_t now)
{
	return cloud_shown(i, now) == CLOUD_ENDED && i->why != NULL &&
	       strcmp(i->why, "exited") != 0 && strcmp(i->why, "killed") != 0 &&
	       strcmp(i->why, "cannot boot") != 0;
}

bool nova_is_there(const struct nova_item *it, const char *region, int64_t now)
{
	if (it->k != NULL && it->k->dropped && (it->i == NULL || it->i->state == CLOUD_ENDED))
		return false;
	if (it->i == NULL)
		return it->k != NULL && now >= it->k->visible_at &&
		       strcmp(it->k->region, region) == 0;
	return now >= it->i->visible_at && strcmp(it->i->pool->region, region) == 0 &&
	       !is_gone(it->i, now);
}

bool nova_find(struct cloud *c, const char *id, const char *region, int64_t now,
	       struct nova_item *out)
{
	struct nova_walk w;
	char text[OS_ID_SIZE];

	nova_walk(&w, c);
	while (nova_next(&w, out)) {
		if (!nova_is_there(out, region, now))
			continue;
		nova_id(text, out);
		if (strcmp(text, id) == 0)
			return true;
	}
	return false;
}

/* --- server groups ---------------------------------------------------------------------------- */

struct nova_group *nova_groups(struct nova_book *b, size_t *n)
{
	*n = b->ngroups;
	return b->groups;
}

struct nova_group *nova_group_find(struct nova_book *b, const char *id, const char *region)
{
	for (size_t i = 0; i < b->ngroups; i++)
		if (strcmp(b->groups[i].id, id) == 0 && strcmp(b->groups[i].region, region) == 0)
			return &b->groups[i];
	return NULL;
}

struct nova_group *nova_group_add(struct nova_book *b, const char *region, const json_t *doc)
{
	struct nova_group *g;

	b->groups = mem_realloc(b->groups, (b->ngroups + 1) * sizeof(*b->groups));
	g = &b->groups[b->ngroups++];
	*g = (struct nova_group){.doc = mem_check(json_deep_copy(doc))};
	(void)snprintf(g->id, sizeof(g->id), "5c1d0000-0000-4000-b000-%012x", nova_number(b));
	(void)snprintf(g->region, sizeof(g->region), "%s", region);
	return g;
}

void nova_group_drop(struct nova_book *b, struct nova_group *g)
{
	json_decref(g->doc);
	b->ngroups--;
	memmove(g, g + 1, (size_t)(b->groups + b->ngroups - g) * sizeof(*g));
}

/* --- ids -------------------------------------------------------------------------------------- */

static const char of_row[] = "5c1d0000-0000-4000-8000-";

void nova_id_of_row(char out[OS_ID_SIZE], uint32_t row)
{
	(void)snprintf(out, OS_ID_SIZE, "%s%012x", of_row, row);
}

void nova_id(char out[OS_ID_SIZE], const struct nova_item *it)
{
	if (it->i != NULL)
		nova_id_of_row(out, it->i->row);
	else
		(void)snprintf(out, OS_ID_SIZE, "5c1d0000-0000-4000-9000-%012x", it->k->number);
}

bool nova_row_of(const char *id, char out[METER_ID_SIZE])
{
	size_t n = sizeof(of_row) - 1;
	char *end;
	unsigned long long row;

	if (strncmp(id, of_row, n) != 0 || strlen(id) != n + 12)
		return false;
	row = strtoull(id + n, &end, 16);
	if (*end != '\0' || row > UINT32_MAX)
		return false;
	(void)meter_id(out, (uint32_t)row);
	return true;
}
