/* The bodies of messages: JSON and mail. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/date.h"
#include "base/fmt.h"
#include "base/jsonw.h"
#include "base/plain.h"
#include "core/alert_text.h"
#include "core/conf.h"

/* --- JSON ----------------------------------------------------------------------------------------
 */

static void put_time(struct jsonw *w, const char *key, const struct alert_mailing *m, int64_t ms)
{
	char time[FMT_TIME_SIZE];

	jsonw_text(w, key, fmt_time(time, m->wall(m->ctx, ms)));
}

static void put_alert(struct jsonw *w, const struct alert_mailing *m, const struct alert *a)
{
	const struct conf_budget *b = conf_budget_named(m->conf, a->budget);

	jsonw_open(w, NULL, '{');
	jsonw_int(w, "number", a->seq);
	jsonw_text(w, "kind", alert_kind_str(a->kind));
	jsonw_int(w, "percent", a->percent);
	jsonw_text(w, "budget", a->budget);
	jsonw_text(w, "value", a->value);
	jsonw_text(w, "period", a->period);
	put_time(w, "period_end", m, a->ends_ms);
	put_time(w, "at", m, a->at_ms);
	jsonw_money(w, "amount", alert_whole(a));
	jsonw_money(w, "spent", a->spent);
	jsonw_money(w, "accrued", a->accrued);
	jsonw_money(w, "held", a->held);
	jsonw_money(w, "left", alert_left(a));
	jsonw_money(w, "beyond", a->beyond);
	jsonw_text(w, "contact", b != NULL && b->contact != NULL ? b->contact : "");
	jsonw_close(w, '}');
}

void alert_webhook(const struct alert_mailing *m, struct str *out)
{
	struct jsonw w = {.out = out, .first = true};
	struct str text;

	str_init(&text, ALERT_TEXT_MAX);
	alert_text(m, &text);
	jsonw_open(&w, NULL, '{');
	jsonw_int(&w, "version", 1);
	jsonw_text(&w, "type", m->test ? "test" : "budget");
	jsonw_text(&w, "id", m->id);
	jsonw_text(&w, "cluster", m->cluster);
	jsonw_text(&w, "cluster_uuid", m->uuid);
	jsonw_text(&w, "currency", m->currency);
	jsonw_text(&w, "text", text.p);
	jsonw_open(&w, "alerts", '[');
	for (size_t i = 0; i < m->n; i++)
		put_alert(&w, m, m->alerts[i]);
	jsonw_close(&w, ']');
	jsonw_close(&w, '}');
	str_fini(&text);
}

/* Slack reads these three as the begin of links, of "everybody here" and of entities. */
static void add_escaped(struct str *s, const char *text)
{
	for (const char *p = text; *p != '\0'; p++)
		if (*p == '&')
			str_adds(s, "&amp;");
		else if (*p == '<')
			str_adds(s, "&lt;");
		else if (*p == '>')
			str_adds(s, "&gt;");
		else
			str_add(s, p, 1);
}

void alert_slack(const struct alert_mailing *m, struct str *out)
{
	struct jsonw w = {.out = out, .first = true};
	struct str text, safe;

	str_init(&text, ALERT_TEXT_MAX);
	str_init(&safe, ALERT_TEXT_MAX);
	alert_text(m, &text);
	add_escaped(&safe, text.p);
	jsonw_open(&w, NULL, '{');
	jsonw_text(&w, "text", safe.p);
	jsonw_close(&w, '}');
	str_fini(&text);
	str_fini(&safe);
}

/* --- mail ----------------------------------------------------------------------------------------
 */

enum { QUOTED_MAX = 75 }; /* columns of a line, without its "=" (RFC 2045, 6.7) */

/* Quoted-printable: lines that are ASCII stay as they are, but for "=", long lines and a dot in
 * front, which SMTP reads as the end. */
static void add_quoted(struct str *s, const char *text)
{
	size_t column = 0;

	for (const char *p = text; *p != '\0'; p++) {
		bool last = p[1] == '\n' || p[1] == '\0';
		bool plain = (*p >= ' ' && *p <= '~' && *p != '=') && !(*p == ' ' && last) &&
			     !(*p == '.' && column == 0);

		if (*p == '\n') {
			str_adds(s, "\r\n");
			column = 0;
			continue;
		}
		if (column + (plain ? 1 : 3) > QUOTED_MAX) {
			str_adds(s, "=\r\n");
			column = 0;
			plain = plain && *p != '.';
		}
		if (plain)
			str_add(s, p, 1);
		else
			str_addf(s, "=%02X", (unsigned)(unsigned char)*p);
		column += plain ? 1 : 3;
	}
}

/* "Sun, 29 Nov 2026 20:04:05 +0000" (RFC 5322, 3.3) */
static void add_date(struct str *s, int64_t wall_ms)
{
	static const char *const days[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	const int64_t day_ms = 86400000, day = wall_ms / day_ms, second = wall_ms % day_ms / 1000;
	int64_t year;
	int month, mday;

	date_of(day, &year, &month, &mday);
	str_addf(s, "Date: %s, %02d %s %04" PRId64 " %02d:%02d:%02d +0000\r\n", days[day % 7], mday,
		 months[month - 1], year, (int)(second / 3600), (int)(second / 60 % 60),
		 (int)(second % 60));
}

static void add_head(struct str *s, const struct alert_mailing *m, const struct conf_alert *to)
{
	const char *domain = strchr(to->from, '@');
	char subject[ALERT_SUBJECT_MAX + 1];

	alert_subject(m, subject);
	str_addf(s, "From: burstd <%s>\r\n", to->from);
	for (size_t i = 0; to->to != NULL && to->to[i] != NULL; i++)
		str_addf(s, "%s<%s>%s\r\n", i == 0 ? "To: " : "\t", to->to[i],
			 to->to[i + 1] != NULL ? "," : "");
	str_addf(s, "Subject: %s\r\n", subject);
	add_date(s, m->wall_ms);
	str_addf(s, "Message-ID: <%s%s>\r\n", m->id, domain != NULL ? domain : "@burstd");
	str_addf(s, "X-Burstd-Id: %s\r\n", m->id);
	str_adds(s, "Auto-Submitted: auto-generated\r\n"
		    "MIME-Version: 1.0\r\n"
		    "Content-Type: text/plain; charset=utf-8\r\n"
		    "Content-Transfer-Encoding: quoted-printable\r\n\r\n");
}

void alert_mail(const struct alert_mailing *m, const struct conf_alert *to, struct str *out)
{
	struct str text;

	str_init(&text, ALERT_TEXT_MAX);
	alert_text(m, &text);
	add_head(out, m, to);
	for (char *p = text.p; *p != '\0';) { /* what is no UTF-8, or may not be shown */
		size_t n = *p == '\n' ? 1 : plain_shown(p);

		if (n == 0)
			*p = '?';
		p += n > 0 ? n : 1;
	}
	add_quoted(out, text.p);
	str_fini(&text);
}
