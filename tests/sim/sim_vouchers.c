#include "sim_vouchers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void sim_vouchers_copy(struct sim_voucher *out, const struct voucher *v)
{
	*out = (struct sim_voucher){.v = *v};
	out->v.token = NULL;
	out->v.let_go = false;
	if (v->token != NULL)
		(void)snprintf(out->token, sizeof(out->token), "%s", secret_text(v->token));
	if (strncmp(v->accessor, "at-", 3) == 0)
		out->number = strtoull(v->accessor + 3, NULL, 10);
}

static size_t find(const struct sim_vouchers *s, const char *node, uint64_t gen)
{
	size_t i = 0;

	while (i < s->n && (s->v[i].v.gen != gen || strcmp(s->v[i].v.node, node) != 0))
		i++;
	return i;
}

struct sim_voucher *sim_vouchers_put(struct sim_vouchers *s, const struct sim_voucher *x)
{
	size_t i = find(s, x->v.node, x->v.gen);

	if (i == s->cap) {
		s->cap = s->cap == 0 ? 64 : 2 * s->cap;
		s->v = mem_realloc(s->v, s->cap * sizeof(*s->v));
	}
	if (i == s->n)
		s->v[s->n++] = (struct sim_voucher){.told = false};
	s->v[i].v = x->v;
	s->v[i].number = x->number;
	memcpy(s->v[i].token, x->token, sizeof(x->token));
	return &s->v[i];
}

struct sim_voucher *sim_vouchers_get(const struct sim_vouchers *s, const char *node, uint64_t gen)
{
	size_t i = find(s, node, gen);

	return i < s->n ? &s->v[i] : NULL;
}

void sim_vouchers_del(struct sim_vouchers *s, const char *node, uint64_t gen)
{
	size_t i = find(s, node, gen);

	if (i < s->n)
		s->v[i] = s->v[--s->n];
}

struct voucher sim_vouchers_read(const struct sim_voucher *x)
{
	struct voucher v = x->v;

	v.token = x->token[0] != '\0' ? secret_new(x->token, strlen(x->token)) : NULL;
	return v;
}
