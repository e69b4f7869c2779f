/* openstack_flavor.c - flavors: which one an offer means, and what the cloud has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/common/words.h"
#include "providers/openstack_private.h"

/* --- which one an offer means ------------------------------------------------------------------
 */

static const struct openstack_flavor *find(const struct openstack_session *n, const char *name)
{
	for (size_t i = 0; i < n->nflavors; i++)
		if (strcmp(n->flavors[i].name, name) == 0)
			return &n->flavors[i];
	return NULL;
}

/* Who pays for a server that stays must not get one that may be taken away, and the reverse. */
static int check_market(const struct openstack *s, const struct openstack_flavor *f, bool spot,
			struct err *e)
{
	if (s->o.spot_trait[0] == '\0' || f->preemptible == spot)
		return 0;
	if (spot)
		return err_set(e, ERR_INVALID, "flavor %s does not require the trait %.100s",
			       f->name, s->o.spot_trait);
	return err_set(e, ERR_INVALID,
		       "flavor %s requires the trait %.100s: want market = \"spot\"", f->name,
		       s->o.spot_trait);
}

const char *openstack_flavor_id(const struct openstack *s, const struct provider_place *p,
				struct err *e)
{
	bool spot = p->market == PROVIDER_SPOT;
	const struct openstack_flavor *f;
	char name[2 * PROVIDER_WORD_MAX];

	if (spot && s->o.spot_suffix[0] == '\0' && s->o.spot_trait[0] == '\0') {
		(void)err_set(e, ERR_INVALID,
			      "market = \"spot\": want spot_suffix or spot_trait, by which "
			      "flavors of preemptible servers are known");
		return NULL;
	}
	if (s->now == NULL)
		return p->type;
	(void)snprintf(name, sizeof(name), "%.63s%.62s", p->type, spot ? s->o.spot_suffix : "");
	f = find(s->now, name);
	if (f == NULL)
		(void)err_set(e, ERR_INVALID, "there is no flavor %s (burstd looks once an hour)",
			      name);
	return f != NULL && check_market(s, f, spot, e) == 0 ? f->id : NULL;
}

/* --- the list ----------------------------------------------------------------------------------
 */

void openstack_flavors_build(struct rest_call *c, const struct openstack_session *n,
			     const char *marker)
{
	openstack_begin(c, n, "GET", "/flavors/detail");
	rest_query_number(c, "limit", OPENSTACK_PAGE_MAX);
	rest_query_given(c, "marker", marker);
}

/* The marker of the next page; "" at the end.  -1: it is that of this page. */
static int next_marker(const struct doc *d, const struct doc_at *list, const char *before,
		       char out[PROVIDER_ID_MAX + 1])
{
	struct doc_at last;

	out[0] = '\0';
	if (!doc_has(&d->top, "flavors_links"))
		return 0;
	if (list->n == 0)
		return -1;
	last = doc_item(list, list->n - 1);
	doc_id(&last, "id", out, PROVIDER_ID_MAX + 1);
	return strcmp(out, before) != 0 ? 0 : -1;
}

enum { TRAIT_MAX = 255 }; /* as Placement has it */

static bool requires(const struct doc_at *o, const char *trait)
{
	char key[sizeof("trait:") + TRAIT_MAX];
	const json_t *specs = json_object_get(o->v, "extra_specs");

	(void)snprintf(key, sizeof(key), "trait:%.*s", TRAIT_MAX, trait);
	return trait[0] != '\0' && json_is_string(json_object_get(specs, key)) &&
	       strcmp(json_string_value(json_object_get(specs, key)), "required") == 0;
}

/* One that could not be in burstd.conf is left out. */
static bool read_flavor(const struct openstack *s, const struct doc_at *o,
			struct openstack_flavor *f)
{
	doc_text(o, "name", f->name, sizeof(f->name));
	doc_id(o, "id", f->id, sizeof(f->id));
	f->preemptible = requires(o, s->o.spot_trait);
	return !doc_forgive(o->doc) && words_is_plain(f->name, PROVIDER_WORD_MAX);
}

int openstack_flavors_lines(const struct openstack *s, struct doc *d, const char *before,
			    struct str *out)
{
	struct doc_at list = doc_list(&d->top, "flavors", OPENSTACK_PAGE_MAX);
	char marker[PROVIDER_ID_MAX + 1];

	if (next_marker(d, &list, before, marker) != 0)
		return -1;
	str_addf(out, "%s\n", marker);
	for (size_t i = 0; i < list.n && doc_good(d); i++) {
		struct doc_at o = doc_item(&list, i);
		struct openstack_flavor f;

		if (read_flavor(s, &o, &f))
			str_addf(out, "%c %s %s\n", f.preemptible ? 's' : '-', f.id, f.name);
	}
	return 0;
}

/* --- as lines of a login -----------------------------------------------------------------------
 */

static int take_line(struct openstack_flavor *f, const char *line, size_t n)
{
	const char *id = line + 2, *name = n > 2 ? memchr(id, ' ', n - 2) : NULL;
	size_t length = name != NULL ? n - (size_t)(name + 1 - line) : 0;

	if (name == NULL || (size_t)(name - id) >= sizeof(f->id) || length >= sizeof(f->name))
		return -1;
	*f = (struct openstack_flavor){.preemptible = line[0] == 's'};
	memcpy(f->id, id, (size_t)(name - id));
	memcpy(f->name, name + 1, length);
	return 0;
}

int openstack_flavors_take(struct openstack_session *n, const char *lines)
{
	size_t count = n->nflavors;

	for (const char *p = lines; *p != '\0'; p++)
		count += *p == '\n';
	n->flavors = mem_realloc(n->flavors, (count + 1) * sizeof(*n->flavors));
	while (*lines != '\0') {
		size_t length = strcspn(lines, "\n");

		if (lines[length] != '\n' ||
		    take_line(&n->flavors[n->nflavors], lines, length) != 0)
			return -1;
		n->nflavors++;
		lines += length + 1;
	}
	return 0;
}

/* --- quotes ------------------------------------------------------------------------------------
 */

/* The N of "NAME:N", or of several with commas between. */
static uint32_t count_devices(const char *text)
{
	uint32_t n = 0;

	for (; *text != '\0'; text += strcspn(text, ","), text += *text == ',') {
		const char *colon = memchr(text, ':', strcspn(text, ","));

		n += colon != NULL ? (uint32_t)(strtoul(colon + 1, NULL, 10) & 0xff) : 0;
	}
	return n;
}

/* By docs.openstack.org/nova/latest/configuration/extra-specs.html.  That an alias of a PCI device
 * is a GPU's is a guess. */
static uint32_t count_gpus(const json_t *specs)
{
	static const char *const classes[] = {"resources:VGPU", "resources:PGPU"};
	const char *alias = json_string_value(json_object_get(specs, "pci_passthrough:alias"));
	uint32_t n = alias != NULL ? count_devices(alias) : 0;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		const char *text = json_string_value(json_object_get(specs, classes[i]));

		n += text != NULL ? (uint32_t)(strtoul(text, NULL, 10) & 0xff) : 0;
	}
	return n;
}

/* Which market buys it, by which type?  false: neither. */
static bool name_quote(const struct openstack *s, const struct openstack_flavor *f,
		       struct provider_quote *q)
{
	size_t n = strlen(f->name), tail = strlen(s->o.spot_suffix);
	bool ends = tail > 0 && n > tail && strcmp(f->name + n - tail, s->o.spot_suffix) == 0;
	bool spot = s->o.spot_trait[0] != '\0' ? f->preemptible : ends;

	q->market = spot ? PROVIDER_SPOT : PROVIDER_ON_DEMAND;
	(void)snprintf(q->type, sizeof(q->type), "%.*s", (int)(spot && ends ? n - tail : n),
		       f->name);
	return !spot || ends || tail == 0;
}

/* Where the cloud does not show what a flavor has besides, its GPUs are not known. */
static void read_size(const struct doc_at *o, struct provider_quote *q)
{
	const json_t *specs = json_object_get(o->v, "extra_specs");

	q->memory_mb = (uint64_t)doc_int(o, "ram");
	q->cpus = json_is_object(specs) ? (uint32_t)doc_int(o, "vcpus") : 0;
	q->gpus = json_is_object(specs) ? count_gpus(specs) : 0;
}

int openstack_quotes_read(const struct openstack *s, const struct provider_op *op, struct doc *d,
			  struct provider_result *out)
{
	struct doc_at list = doc_list(&d->top, "flavors", OPENSTACK_PAGE_MAX);
	char marker[PROVIDER_ID_MAX + 1];

	if (next_marker(d, &list, provider_cursor(op), marker) != 0)
		return -1;
	out->quotes = mem_zalloc((list.n + 1) * sizeof(*out->quotes));
	for (size_t i = 0; i < list.n && doc_good(d); i++) {
		struct provider_quote *q = &out->quotes[out->nquotes];
		struct doc_at o = doc_item(&list, i);
		struct openstack_flavor f;

		if (!read_flavor(s, &o, &f))
			continue;
		*q = (struct provider_quote){.market = PROVIDER_ON_DEMAND};
		if (s->now != NULL)
			memcpy(q->region, s->now->region, sizeof(q->region));
		read_size(&o, q);
		out->nquotes += name_quote(s, &f, q);
	}
	return rest_more(op, out, marker);
}
