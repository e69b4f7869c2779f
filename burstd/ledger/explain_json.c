#include "ledger/explain_json.h"

#include <stdio.h>
#include <string.h>

enum { MS = 1000 };

int explain_total(struct explain_totals *t, const char *currency, int64_t nano, struct err *e)
{
	size_t i = 0;

	while (i < t->n && strcmp(t->v[i].currency, currency) != 0)
		i++;
	if (i == EXPLAIN_CURRENCIES)
		return err_set(e, ERR_LIMIT, "a job in more than %d currencies",
			       EXPLAIN_CURRENCIES);
	if (i == t->n) {
		(void)snprintf(t->v[i].currency, EXPLAIN_CURRENCY_SIZE, "%s", currency);
		t->v[t->n++].nano = 0;
	}
	if (__builtin_add_overflow(t->v[i].nano, nano, &t->v[i].nano))
		return err_set(e, ERR_LIMIT, "a sum is more than can be counted");
	return 0;
}

void explain_json_begin(struct jsonw *w, const char *job)
{
	jsonw_text(w, "job", job);
	jsonw_open(w, "attempts", '[');
}

void explain_json_attempt(struct jsonw *w, const struct ledger_attempt *a, size_t number,
			  int64_t nano)
{
	jsonw_open(w, NULL, '{');
	jsonw_int(w, "attempt", (int64_t)number);
	if (number > 0) {
		jsonw_text(w, "state", a->state);
		jsonw_int(w, "from_ms", a->start_s * MS);
		if (!a->running)
			jsonw_int(w, "to_ms", a->end_s * MS);
	}
	jsonw_text(w, "account", a->account);
	jsonw_text(w, "user", a->user);
	jsonw_text(w, "partition", a->partition);
	jsonw_money(w, "cost", nano);
	jsonw_open(w, "instances", '[');
}

void explain_json_instance(struct jsonw *w, const struct ledger_lifetime *t, const char *currency,
			   int64_t nano)
{
	jsonw_open(w, NULL, '{');
	jsonw_text(w, "node", t->node);
	jsonw_text(w, "instance", t->instance);
	jsonw_text(w, "currency", currency);
	jsonw_money(w, "cost", nano);
	jsonw_open(w, "pieces", '[');
}

void explain_json_piece(struct jsonw *w, const struct allocate_detail *d, int64_t rate)
{
	jsonw_open(w, NULL, '{');
	jsonw_int(w, "from_ms", d->from_s * MS);
	jsonw_int(w, "to_ms", d->to_s * MS);
	jsonw_text(w, "class", allocate_class_str(d->row->class));
	jsonw_money(w, "rate", rate);
	jsonw_money(w, "machine", d->after - d->before);
	jsonw_int(w, "weight", (int64_t)d->weight);
	jsonw_int(w, "whole", (int64_t)d->whole);
	jsonw_money(w, "cost", d->row->nano);
	jsonw_close(w, '}');
}

void explain_json_instance_end(struct jsonw *w, const struct explain_rest *r)
{
	jsonw_close(w, ']');
	jsonw_money(w, "given_back", r->back);
	jsonw_money(w, "adjusted", r->adjusted);
	jsonw_money(w, "computed_anew", r->anew);
	jsonw_bool(w, "estimated", r->estimated);
	if (r->estimated && r->shown_ms != FACTS_NEVER) {
		jsonw_int(w, "shown_ms", r->shown_ms);
		jsonw_int(w, "gone_ms", r->gone_ms);
	}
	jsonw_close(w, '}');
}

void explain_json_attempt_end(struct jsonw *w)
{
	jsonw_close(w, ']');
	jsonw_close(w, '}');
}

void explain_json_end(struct jsonw *w, const struct explain_totals *t)
{
	jsonw_close(w, ']');
	jsonw_open(w, "totals", '[');
	for (size_t i = 0; i < t->n; i++) {
		jsonw_open(w, NULL, '{');
		jsonw_text(w, "currency", t->v[i].currency);
		jsonw_money(w, "cost", t->v[i].nano);
		jsonw_close(w, '}');
	}
	jsonw_close(w, ']');
}
