#include "api/ctl_reply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/terms.h"

enum { CLOSE_MAX = 1024 }; /* what may follow the last row of a page */

int ctl_reply_refuse(struct ctl_reply *r, const char *code, const char *fmt, ...)
{
	char text[sizeof(r->err.msg)];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->code = code;
	(void)err_set(&r->err, ERR_INVALID, "%s", text);
	return -1;
}

/* Orders are for operators and admins: of somebody who is both, the admin. */
const char *ctl_reply_by(char out[CTL_BY_SIZE], const struct ctl_caller *who)
{
	const char *role = ctl_is(who, CTL_ADMIN)      ? "admin"
			   : ctl_is(who, CTL_OPERATOR) ? "operator"
			   : ctl_is(who, CTL_FINANCE)  ? "finance"
						       : "user";

	if (who->uid == 0)
		(void)snprintf(out, CTL_BY_SIZE, "root");
	else
		(void)snprintf(out, CTL_BY_SIZE, "uid %" PRIu32 ", %s", who->uid, role);
	return out;
}

void ctl_reply_time(struct ctl_reply *r, const char *key, int64_t ms)
{
	jsonw_int(&r->w, key, engine_wall(r->api->engine, ms));
}

int ctl_reply_int(struct ctl_reply *r, const char *key, int64_t max, int64_t initial, int64_t *out)
{
	const json_t *v = json_object_get(r->args, key);

	*out = initial;
	if (v == NULL)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > max)
		return ctl_reply_refuse(r, "invalid",
					"\"%s\": want a whole number from 0 to %" PRId64, key, max);
	*out = json_integer_value(v);
	return 0;
}

int ctl_reply_text(struct ctl_reply *r, const char *key, const char *initial, const char **out)
{
	const json_t *v = json_object_get(r->args, key);

	*out = initial;
	if (v == NULL && initial != NULL)
		return 0;
	*out = json_string_value(v);
	if (*out != NULL)
		return 0;
	(void)ctl_reply_refuse(r, "invalid", "\"%s\": want a string", key);
	return -1;
}

int ctl_reply_since(struct ctl_reply *r, const struct ctl_records *of, int64_t *since)
{
	int64_t low = 0, high = of->last, since_ms;

	if (ctl_reply_int(r, "since_ms", INT64_MAX, 0, &since_ms) != 0)
		return -1;
	if (since_ms == 0)
		return 0;
	since_ms = engine_from_wall(r->api->engine, since_ms);
	while (low < high) {
		const int64_t middle = low + (high - low) / 2;
		struct ctl_record first = {high, INT64_MAX};

		if (of->next(r, middle, &first) != 0)
			return -1;
		if (first.at_ms < since_ms)
			low = first.seq;
		else
			high = middle;
	}
	*since = low;
	return 0;
}

struct ctl_row ctl_reply_row(const struct ctl_reply *r)
{
	return (struct ctl_row){r->text.len, r->w.first};
}

bool ctl_reply_fits(struct ctl_reply *r, struct ctl_row row)
{
	if (!r->text.full && r->text.len <= CTL_REPLY_MAX - CLOSE_MAX)
		return true;
	r->text.full = false;
	r->text.len = row.len;
	r->text.p[row.len] = '\0';
	r->w.first = row.first;
	return false;
}

void ctl_reply_terms(struct ctl_reply *r, const struct provider_terms *t)
{
	jsonw_text(&r->w, "stock", terms_stock_str(t->stock));
	if (t->quantum_ms != 0)
		jsonw_int(&r->w, "quantum_ms", t->quantum_ms);
	if (t->minimum_ms != 0)
		jsonw_int(&r->w, "minimum_ms", t->minimum_ms > 0 ? t->minimum_ms : 0);
	jsonw_text(&r->w, "user_data", terms_data_str(t->data));
	if (t->data_max != 0)
		jsonw_int(&r->w, "user_data_max", t->data_max);
	jsonw_text(&r->w, "interconnect", t->interconnect);
}
