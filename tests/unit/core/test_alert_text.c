/* test_alert_text.c - messages about budgets: what people read, JSON, and mails whose head nobody
 * can add to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/alert_text.h"
#include "core/conf.h"

#define EUR FMT_NANO

static struct conf_budget budgets[1];
static struct conf conf = {.budgets = budgets, .nbudgets = 1};
static char name[] = "physics", contact[] = "finance@example.org", from[] = "burstd@example.org";
static char ops[] = "ops@example.org", cfo[] = "cfo@example.org";
static char *both[] = {ops, cfo, NULL};
static const struct conf_alert mail = {.kind = CONF_ALERT_SMTP, .from = from, .to = both};

/* The wall clock is an hour ahead of the engine's. */
static int64_t wall(void *ctx, int64_t ms)
{
	assert_ptr_equal(ctx, &conf);
	return ms + 3600000;
}

static struct alert used(void)
{
	struct alert a = {.seq = 12,
			  .at_ms = INT64_C(1796054400000), /* 2026-11-30T16:00:00Z */
			  .ends_ms = INT64_C(1796079600000),
			  .kind = ALERT_USED,
			  .percent = 80,
			  .amount = 460 * EUR,
			  .carried = 40 * EUR,
			  .spent = 300 * EUR + 19999999,
			  .accrued = 105 * EUR,
			  .held = 138800000000};

	(void)snprintf(a.budget, sizeof(a.budget), "physics");
	(void)snprintf(a.period, sizeof(a.period), "2026-11");
	return a;
}

static struct alert_mailing mailing(const struct alert *const *v, size_t n)
{
	return (struct alert_mailing){.id = "u-u-i-d.17.12",
				      .cluster = "falcon",
				      .uuid = "u-u-i-d",
				      .currency = "EUR",
				      .wall_ms = INT64_C(1796058000000),
				      .test = n == 0,
				      .alerts = v,
				      .n = n,
				      .conf = &conf,
				      .wall = wall,
				      .ctx = &conf};
}

static int setup(void **state)
{
	(void)state;
	budgets[0] = (struct conf_budget){
		.name = name, .contact = contact, .spot_only_at = 90, .stop_at = 100};
	return 0;
}

static char *text_of(const struct alert *const *v, size_t n)
{
	const struct alert_mailing m = mailing(v, n);
	struct str s;

	str_init(&s, ALERT_TEXT_MAX);
	alert_text(&m, &s);
	return str_take(&s);
}

static void test_one(void **state)
{
	const struct alert a = used(), *v[] = {&a};
	char *text = text_of(v, 1);

	(void)state;
	assert_string_equal(
		text,
		"Cluster falcon, budget physics: 80 % of 500.00 EUR for 2026-11 are used up.\n\n"
		"  amount                    500.00 EUR\n"
		"  spent                     300.01 EUR\n"
		"  set aside                 138.80 EUR\n"
		"    used of that            105.00 EUR\n"
		"  left                       61.18 EUR\n"
		"  noticed           2026-11-30 17:00 UTC\n"
		"  the period ends   2026-12-01 00:00 UTC\n\n"
		"From 90 % on only spot machines are bought.\n"
		"No new job starts that would take it beyond 100 %.\n"
		"Contact: finance@example.org\n"
		"More: burstctl budget show physics\n");
	free(text);
}

static void test_other_kinds(void **state)
{
	struct alert a = used();
	const struct alert *v[] = {&a};
	char *text;

	(void)state;
	a.kind = ALERT_STOP;
	a.percent = 100;
	(void)snprintf(a.value, sizeof(a.value), "ann");
	text = text_of(v, 1);
	assert_non_null(strstr(text,
			       "budget physics/ann: 100 % of 500.00 EUR for 2026-11 are spent "
			       "or set aside, and no new job starts.\n"));
	assert_non_null(strstr(text, "\nIts jobs wait until money is given back"));
	assert_null(strstr(text, "spot"));
	free(text);
	a.kind = ALERT_BEYOND;
	a.beyond = 70 * EUR;
	text = text_of(v, 1);
	assert_non_null(strstr(text, "budget physics/ann: 8.81 EUR more than its 500.00 for "
				     "2026-11 may be spent.\n"));
	assert_non_null(strstr(text, "\n  beyond it, at most         70.00 EUR\n"));
	assert_non_null(strstr(text, "\nMachines that it pays for are not deleted yet"));
	free(text);
	budgets[0].reserve = CONF_RESERVE_LEASE;
	text = text_of(v, 1);
	assert_non_null(strstr(text, "\nIts jobs may run longer than money is set aside for"));
	free(text);
	(void)snprintf(a.budget, sizeof(a.budget), "gone"); /* since a reload */
	text = text_of(v, 1);
	assert_null(strstr(text, "Contact"));
	free(text);
}

/* A step that is behind it is none that comes. */
static void test_what_comes_next(void **state)
{
	struct alert a = used();
	const struct alert *v[] = {&a};
	char *text;

	(void)state;
	a.percent = 90;
	text = text_of(v, 1);
	assert_null(strstr(text, "spot"));
	assert_non_null(strstr(text, "beyond 100 %"));
	free(text);
	budgets[0].stop_at = 0;
	text = text_of(v, 1);
	assert_null(strstr(text, "No new job"));
	free(text);
}

static void test_many(void **state)
{
	struct alert a[25];
	const struct alert *v[25];
	char *text, subject[ALERT_SUBJECT_MAX + 1];
	struct alert_mailing m;

	(void)state;
	for (int i = 0; i < 25; i++) {
		a[i] = used();
		(void)snprintf(a[i].value, sizeof(a[i].value), "u%d", i);
		v[i] = &a[i];
	}
	text = text_of(v, 25);
	assert_non_null(
		strstr(text, "Cluster falcon, 25 alerts of budgets:\n\n  budget physics/u0: 80"));
	assert_non_null(strstr(text, "physics/u19: 80"));
	assert_null(strstr(text, "physics/u20: 80"));
	assert_non_null(strstr(text, "\n  ... and 5 more\n\nMore: burstctl budget alerts"));
	free(text);
	text = text_of(v, 20);
	assert_null(strstr(text, "more\n"));
	free(text);
	m = mailing(v, 25);
	alert_subject(&m, subject);
	assert_string_equal(subject, "falcon: 25 alerts of budgets");
}

static void test_a_test(void **state)
{
	char *text = text_of(NULL, 0), subject[ALERT_SUBJECT_MAX + 1];
	const struct alert_mailing m = mailing(NULL, 0);

	(void)state;
	assert_string_equal(text, "Cluster falcon: this is a test of burstd's alerts. No budget "
				  "has passed anything.\n");
	alert_subject(&m, subject);
	assert_string_equal(subject, "falcon: a test of burstd's alerts");
	free(text);
}

/* --- JSON ----------------------------------------------------------------------------------------
 */

static json_t *json_of(void (*form)(const struct alert_mailing *, struct str *),
		       const struct alert *const *v, size_t n)
{
	const struct alert_mailing m = mailing(v, n);
	json_error_t je;
	struct str s;
	json_t *r;

	str_init(&s, ALERT_TEXT_MAX);
	form(&m, &s);
	r = json_loads(s.p, 0, &je);
	if (r == NULL)
		fail_msg("%s: %s", je.text, s.p);
	str_fini(&s);
	return r;
}

static const char *text(const json_t *r, const char *key)
{
	return json_string_value(json_object_get(r, key));
}

static void test_webhook(void **state)
{
	const struct alert a = used(), *v[] = {&a};
	json_t *r = json_of(alert_webhook, v, 1);
	const json_t *x = json_array_get(json_object_get(r, "alerts"), 0);

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(r, "version")), 1);
	assert_string_equal(text(r, "type"), "budget");
	assert_string_equal(text(r, "id"), "u-u-i-d.17.12");
	assert_string_equal(text(r, "cluster"), "falcon");
	assert_string_equal(text(r, "cluster_uuid"), "u-u-i-d");
	assert_string_equal(text(r, "currency"), "EUR");
	assert_non_null(strstr(text(r, "text"), "80 % of 500.00 EUR"));
	assert_int_equal(json_integer_value(json_object_get(x, "number")), 12);
	assert_int_equal(json_integer_value(json_object_get(x, "percent")), 80);
	assert_string_equal(text(x, "kind"), "used");
	assert_string_equal(text(x, "budget"), "physics");
	assert_string_equal(text(x, "value"), "");
	assert_string_equal(text(x, "period"), "2026-11");
	assert_string_equal(text(x, "period_end"), "2026-12-01T00:00:00.000Z");
	assert_string_equal(text(x, "at"), "2026-11-30T17:00:00.000Z");
	assert_string_equal(text(x, "amount"), "500.00");
	assert_string_equal(text(x, "spent"), "300.019999999");
	assert_string_equal(text(x, "accrued"), "105.00");
	assert_string_equal(text(x, "held"), "138.80");
	assert_string_equal(text(x, "left"), "61.180000001");
	assert_string_equal(text(x, "beyond"), "0.00");
	assert_string_equal(text(x, "contact"), "finance@example.org");
	json_decref(r);
	r = json_of(alert_webhook, NULL, 0);
	assert_string_equal(text(r, "type"), "test");
	assert_int_equal(json_array_size(json_object_get(r, "alerts")), 0);
	json_decref(r);
}

static void test_slack(void **state)
{
	struct alert a = used();
	const struct alert *v[] = {&a};
	json_t *r;

	(void)state;
	(void)snprintf(a.value, sizeof(a.value), "<!channel> & \"x\"\xff");
	r = json_of(alert_slack, v, 1);
	assert_int_equal(json_object_size(r), 1);
	assert_non_null(strstr(text(r, "text"), "physics/&lt;!channel&gt; &amp; \"x\""));
	assert_null(strchr(text(r, "text"), '<'));
	json_decref(r);
}

/* --- mail ----------------------------------------------------------------------------------------
 */

static char *mail_of(const struct alert *const *v, size_t n)
{
	const struct alert_mailing m = mailing(v, n);
	struct str s;

	str_init(&s, ALERT_TEXT_MAX);
	alert_mail(&m, &mail, &s);
	assert_false(s.full);
	return str_take(&s);
}

/* Lines end with CR LF, and only so; none is long, none begins with a dot. */
static void check_lines(const char *p)
{
	while (*p != '\0') {
		size_t n = strcspn(p, "\r\n");

		assert_true(n <= 998 && *p != '.');
		assert_int_equal(strncmp(p + n, "\r\n", 2), 0);
		for (size_t i = 0; i < n; i++)
			assert_true(p[i] == '\t' || (p[i] >= ' ' && p[i] <= '~'));
		p += n + 2;
	}
}

static void test_head(void **state)
{
	const struct alert a = used(), *v[] = {&a};
	char *text = mail_of(v, 1);
	static const char head[] =
		"From: burstd <burstd@example.org>\r\n"
		"To: <ops@example.org>,\r\n\t<cfo@example.org>\r\n"
		"Subject: falcon: budget physics: 80 % of 500.00 EUR for 2026-11 are used up\r\n"
		"Date: Mon, 30 Nov 2026 17:00:00 +0000\r\n"
		"Message-ID: <u-u-i-d.17.12@example.org>\r\n"
		"X-Burstd-Id: u-u-i-d.17.12\r\n"
		"Auto-Submitted: auto-generated\r\n"
		"MIME-Version: 1.0\r\n"
		"Content-Type: text/plain; charset=utf-8\r\n"
		"Content-Transfer-Encoding: quoted-printable\r\n"
		"\r\n"
		"Cluster falcon, budget physics: 80 % of 500.00 EUR for 2026-11 are used up.\r\n"
		"\r\n"
		"  amount                    500.00 EUR\r\n";

	(void)state;
	assert_memory_equal(text, head, sizeof(head) - 1);
	check_lines(text);
	free(text);
}

static void test_hostile_names(void **state)
{
	static const char *const names[] = {"x\r\nBcc: y@z",
					    "x\nBcc: y@z",
					    "\r\n.\r\nQUIT",
					    "\xff\xfe",
					    "b\xc3\xbcro",
					    "=?utf-8?q?x?=",
					    "\xe2\x80\xae"
					    "evil"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct alert a = used();
		const struct alert *v[] = {&a};
		const char *body;
		char *text;

		(void)snprintf(a.value, sizeof(a.value), "%s", names[i]);
		text = mail_of(v, 1);
		check_lines(text);
		body = strstr(text, "\r\n\r\n");
		assert_non_null(body);
		assert_null(memmem(text, (size_t)(body - text), "\r\nBcc", 5));
		assert_non_null(strstr(body, "\r\nCluster falcon, budget physics/"));
		free(text);
	}
}

/* As any reader of mail decodes it. */
static char *decoded(const char *p)
{
	char *out = mem_zalloc(strlen(p) + 1), *to = out;

	for (; *p != '\0'; p++)
		if (strncmp(p, "=\r\n", 3) == 0) {
			p += 2;
		} else if (*p == '=') {
			const char hex[] = {p[1], p[2], '\0'};

			*to++ = (char)strtol(hex, NULL, 16);
			p += 2;
		} else if (*p != '\r') {
			*to++ = *p;
		}
	return out;
}

static void test_the_body_is_the_text(void **state)
{
	struct alert a = used();
	const struct alert *v[] = {&a};
	char *mailed, *plain, *back;

	(void)state;
	memset(a.value, '.', sizeof(a.value) - 1); /* long, and dots where the line is cut */
	memcpy(a.value, "b\xc3\xbcro = ", 8);
	mailed = mail_of(v, 1);
	plain = text_of(v, 1);
	check_lines(mailed);
	back = decoded(strstr(mailed, "\r\n\r\n") + 4);
	assert_string_equal(back, plain);
	for (const char *p = strstr(mailed, "\r\n\r\n"); p != NULL; p = strstr(p + 2, "\r\n"))
		assert_true(strcspn(p + 2, "\r") <= 76);
	free(mailed);
	free(plain);
	free(back);
}

static void test_id(void **state)
{
	char id[ALERT_ID_SIZE];

	(void)state;
	alert_id(id, "3f0c4d5e-7a61-4a6b-9d5e-2f1c8a7b6e90", INT64_C(1796054400000), 12);
	assert_string_equal(id, "3f0c4d5e-7a61-4a6b-9d5e-2f1c8a7b6e90.1796054400000.12");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		T(test_one),
		T(test_other_kinds),
		T(test_what_comes_next),
		T(test_many),
		T(test_a_test),
		T(test_webhook),
		T(test_slack),
		T(test_head),
		T(test_hostile_names),
		T(test_the_body_is_the_text),
		T(test_id),
	};
#undef T

	return cmocka_run_group_tests_name("alert_text", tests, NULL, NULL);
}
