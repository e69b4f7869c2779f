/* test_export.c - what XDMoD, Waldur and ColdFront are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "ledger/export_usage.h"
#include "ledger/export_xdmod.h"
#include "tests/unit/ledger/statement_file.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

enum { OUT_MAX = 1 << 24, DAY_S = 86400, HOUR_S = 3600 };

static const struct export_usage usage = {.currency = "EUR",
					  .start_s = CHARGES_START,
					  .cost_component = "cost",
					  .gpu_component = "gpu_hours",
					  .attribute = "Cloud Budget (EUR)"};

static json_t *loaded(struct str *s)
{
	json_error_t error;
	json_t *j = json_loads(s->p, 0, &error);

	if (j == NULL)
		fail_msg("%s", error.text);
	str_fini(s);
	return j;
}

static json_int_t int_of(const json_t *j, const char *name)
{
	assert_true(json_is_integer(json_object_get(j, name)));
	return json_integer_value(json_object_get(j, name));
}

static const char *text_of(const json_t *j, const char *name)
{
	assert_true(json_is_string(json_object_get(j, name)));
	return json_string_value(json_object_get(j, name));
}

static json_t *specs(const struct export_xdmod *o, const struct charge *const *v, size_t n)
{
	struct source_array a = {v, n};
	struct source from = source_array(&a);
	struct err e = {0};
	struct sink to;
	struct str s;

	str_init(&s, OUT_MAX);
	to = sink_str(&s);
	if (export_xdmod_specs(o, &from, &to, &e) != 0)
		fail_msg("%s", e.msg);
	return loaded(&s);
}

/* Central Europe's summer time ends on 2026-10-25: that day has 25 hours. */
static void test_a_node_all_day(void **state)
{
	const int64_t begin = 1792879200; /* 2026-10-24T22:00Z, midnight in Berlin */
	const struct export_xdmod o = {"hpc1", begin - DAY_S, begin + 25 * HOUR_S + DAY_S,
				       charges_zone()};
	struct charge c[3] = {charges_one(), charges_one(), charges_one()};
	const struct charge *v[] = {&c[0], &c[1], &c[2]};
	const json_t *day;
	json_t *j;

	(void)state;
	for (int i = 0; i < 3; i++) { /* a third of the node each, all 25 hours */
		c[i].start_s = begin;
		c[i].end_s = begin + 25 * HOUR_S;
		c[i].billed_s = 25 * HOUR_S;
		c[i].share_part = 1;
		c[i].share_whole = 3;
		c[i].cpu_s = 32 * 25 * HOUR_S;
		c[i].gpu_s = i == 0 ? 8 * 25 * HOUR_S : 0;
	}
	c[1].class = ALLOCATE_IDLE;
	c[2].class = ALLOCATE_DRAIN;
	j = specs(&o, v, 3);
	assert_int_equal(json_array_size(j), 3);
	day = json_array_get(j, 1);
	assert_string_equal(text_of(day, "resource"), "hpc1");
	assert_string_equal(text_of(day, "start_date"), "2026-10-25");
	assert_string_equal(text_of(day, "end_date"), "2026-10-25");
	assert_int_equal(int_of(day, "cpu_node_count"), 1);
	assert_int_equal(int_of(day, "cpu_processor_count"), 96);
	assert_int_equal(int_of(day, "cpu_ppn"), 96);
	assert_int_equal(int_of(day, "gpu_node_count"), 1);
	assert_int_equal(int_of(day, "gpu_processor_count"), 8);
	assert_int_equal(int_of(day, "gpu_ppn"), 8);
	assert_int_equal(int_of(day, "percent_allocated"), 100);
	/* Days without a node are said, too: XDMoD goes on with the last it knows. */
	assert_int_equal(int_of(json_array_get(j, 0), "cpu_node_count"), 0);
	assert_int_equal(int_of(json_array_get(j, 2), "gpu_processor_count"), 0);
	json_decref(j);
}

/* Half a day of two nodes without GPUs; what was not ready does not count. */
static void test_what_counts(void **state)
{
	const struct export_xdmod o = {"hpc1", CHARGES_START, CHARGES_START + DAY_S,
				       charges_zone()};
	struct charge c[8];
	const struct charge *v[8];
	json_t *j;

	(void)state;
	for (int i = 0; i < 8; i++) {
		c[i] = charges_one();
		c[i].billed_s = DAY_S / 2;
		c[i].gpus = 0;
		c[i].gpu_s = 0;
		c[i].cpu_s = 96 * DAY_S / 2 + (i == 0);
		v[i] = &c[i];
	}
	c[2].class = ALLOCATE_BOOT;
	c[3].class = ALLOCATE_TEARDOWN;
	c[4].class = ALLOCATE_PAD;
	c[5].credit = true;
	c[6].adjust = true;
	c[7].instance = "";
	j = specs(&o, v, 8);
	assert_int_equal(json_array_size(j), 1);
	assert_int_equal(int_of(json_array_get(j, 0), "cpu_node_count"), 1);
	assert_int_equal(int_of(json_array_get(j, 0), "cpu_processor_count"), 97); /* rounded up */
	assert_int_equal(int_of(json_array_get(j, 0), "gpu_node_count"), 0);
	json_decref(j);
}

static void test_specs_refused(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		struct export_xdmod o = {"hpc1", CHARGES_START, CHARGES_START + DAY_S,
					 charges_zone()};
		struct charge c = charges_one();
		const struct charge *p = &c;
		struct source_array a = {&p, 1};
		struct source from = source_array(&a);
		struct err e = {0};
		struct sink to;
		struct str s;

		str_init(&s, i == 4 ? 20 : OUT_MAX);
		to = sink_str(&s);
		c.start_s = i == 0 ? CHARGES_START - 1 : c.start_s;
		c.share_whole = i == 1 ? 0 : 1;
		o.end_s = i == 2 ? o.start_s : i == 3 ? o.start_s + 500 * INT64_C(86400) : o.end_s;
		assert_int_equal(export_xdmod_specs(&o, &from, &to, &e), -1);
		if (i == 3)
			assert_string_equal(e.msg, "a period of more than 400 days");
		str_fini(&s);
	}
}

static void test_events(void **state)
{
	static const struct {
		int64_t start_s, end_s, from_s, to_s;
		const char *want; /* "S" start, "r" report, "T" terminate, and the hours */
	} rows[] = {
		{3600, 9000, 0, 86400, "S1.0 r2.0 T2.5 "},
		{3700, 9000, 0, 86400, "S1.0 r2.0 T2.5 "},
		{3600, 0, 0, 4 * 3600, "S1.0 r2.0 r3.0 "},
		{3600, 9000, 7200, 86400, "r2.0 T2.5 "},
		{3600, 90000, 7200, 10800, "r2.0 "},
		{3600, 9000, 0, 9000, "S1.0 r2.0 "}, /* it ends in the next file */
		{3600, 9000, 9000, 10000, "T2.5 "},
		{3600, 9000, 10000, 20000, ""},
		{3600, 0, 0, 3600, ""},
		{3600, 3600, 0, 7200, "S1.0 T1.0 "},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct export_xdmod_instance x = {
			"i-1", "\xc3\xbcni", "p5", "img", 96, 2048, rows[i].start_s, rows[i].end_s};
		char got[200] = "", *save = NULL;
		struct sink to;
		struct str s;

		str_init(&s, OUT_MAX);
		to = sink_str(&s);
		print_message("# row %zu\n", i);
		assert_int_equal(export_xdmod_events(&x, rows[i].from_s, rows[i].to_s, &to, NULL),
				 0);
		for (char *l = strtok_r(s.p, "\n", &save); l != NULL;
		     l = strtok_r(NULL, "\n", &save)) {
			json_t *j = json_loads(l, 0, NULL);
			const char *type = text_of(j, "event_type"), *t = text_of(j, "event_time");

			assert_string_equal(text_of(j, "account"), "?ni");
			assert_int_equal(int_of(json_object_get(j, "instance_type"), "cpu"), 96);
			assert_int_equal(strlen(t), 20);
			(void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%c.%c ",
				       strcmp(type, "STATE_REPORT") == 0 ? "r"
				       : *type == 'S'                    ? "S"
									 : "T",
				       t[12], t[14] >= '3' ? '5' : '0');
			json_decref(j);
		}
		assert_string_equal(got, rows[i].want);
		str_fini(&s);
	}
}

/* "12.34" in hundredths. */
static int64_t hundredths(const char *text)
{
	const char *point = strchr(text, '.');
	int64_t v;

	assert_non_null(point);
	assert_int_equal(strlen(point), 3);
	v = strtoll(text, NULL, 10) * 100;
	return text[0] == '-' ? v - strtoll(point + 1, NULL, 10) : v + strtoll(point + 1, NULL, 10);
}

static int64_t amount(const json_t *usages, const char *type)
{
	for (size_t i = 0; i < json_array_size(usages); i++)
		if (strcmp(text_of(json_array_get(usages, i), "type"), type) == 0)
			return hundredths(text_of(json_array_get(usages, i), "amount"));
	fail_msg("no %s", type);
	return 0;
}

static json_t *waldur(const struct export_usage *o, const struct charge *const *v, size_t n)
{
	struct source_array a = {v, n};
	struct source from = source_array(&a);
	struct err e = {0};
	struct sink to;
	struct str s;

	str_init(&s, OUT_MAX);
	to = sink_str(&s);
	if (export_waldur(o, &from, &to, &e) != 0)
		fail_msg("%s", e.msg);
	return loaded(&s);
}

static void check_account(const json_t *resource, const struct charges *c)
{
	const char *account = text_of(resource, "account");
	const json_t *users = json_object_get(resource, "users"), *all;
	int64_t nano = 0, own = 0, cost = 0, hours = 0;

	all = json_object_get(resource, "usages");
	for (size_t i = 0; i < c->n; i++) {
		const struct charge *one = &c->v[i];

		if (strcmp(one->account, account) != 0)
			continue;
		if (one->owner == ALLOCATE_JOB)
			nano += one->nano;
		else if (one->class >= ALLOCATE_SHARED)
			own += one->nano;
	}
	for (size_t i = 0; i < json_array_size(users); i++) {
		const json_t *one = json_object_get(json_array_get(users, i), "usages");

		assert_true(i == 0 || strcmp(text_of(json_array_get(users, i - 1), "username"),
					     text_of(json_array_get(users, i), "username")) < 0);
		cost += amount(one, "cost");
		hours += amount(one, "gpu_hours");
	}
	/* What is the account's own is rounded with what its users have. */
	assert_true(llabs((amount(all, "cost") - cost) * 10000000 - own) < 10000000);
	assert_true(own != 0 || cost == amount(all, "cost"));
	assert_true(hours == amount(all, "gpu_hours"));
	assert_true(llabs(amount(all, "cost") * 10000000 - nano - own) <= 5000000);
}

static void test_users_add_up(void **state)
{
	struct charges c;
	json_t *j;
	const json_t *resources;

	(void)state;
	charges_make(&c, 17, 3000);
	j = waldur(&usage, c.all, c.n);
	resources = json_object_get(j, "resources");
	assert_string_equal(text_of(j, "date"), "2026-10-31T23:00:00.000Z");
	assert_int_equal(json_array_size(resources), 7);
	for (size_t i = 0; i < json_array_size(resources); i++) {
		assert_true(i == 0 || strcmp(text_of(json_array_get(resources, i - 1), "account"),
					     text_of(json_array_get(resources, i), "account")) < 0);
		check_account(json_array_get(resources, i), &c);
		assert_int_equal(
			json_array_size(json_object_get(json_array_get(resources, i), "users")), 6);
	}
	json_decref(j);
	charges_fini(&c);
}

/* Names that look alike once they are joined, and what is not reported. */
static void test_pairs_stay_apart(void **state)
{
	struct export_usage o = usage;
	struct charge a = charges_one(), b = a, p = a;
	const struct charge *v[] = {&a, &b, &p};
	const json_t *resources;
	json_t *j;

	(void)state;
	o.gpu_component = NULL;
	a.account = "a/b";
	a.user = "c";
	b.account = "a";
	b.user = "b/c";
	p.owner = ALLOCATE_POOL;
	j = waldur(&o, v, 3);
	resources = json_object_get(j, "resources");
	assert_int_equal(json_array_size(resources), 2);
	assert_string_equal(text_of(json_array_get(resources, 0), "account"), "a");
	assert_string_equal(text_of(json_array_get(resources, 1), "account"), "a/b");
	assert_int_equal(json_array_size(json_object_get(json_array_get(resources, 0), "usages")),
			 1);
	json_decref(j);
	o.currency = "JPY";
	a.currency = b.currency = p.currency = "JPY";
	j = waldur(&o, v, 3);
	resources = json_object_get(j, "resources");
	assert_string_equal(
		text_of(json_array_get(json_object_get(json_array_get(resources, 0), "usages"), 0),
			"amount"),
		"12");
	json_decref(j);
}

/* What an invoice has for no machine, and --shared has made an account's, is in its sum as it is in
 * the statement and for ColdFront, and is nobody's of its users. */
static void test_an_account_has_its_part_of_what_is_shared(void **state)
{
	struct charge a = charges_one(), disks = a, tax = a, nobodys = a, none = a, unnamed = a;
	const struct charge *v[] = {&disks, &nobodys, &a, &tax, &none, &unnamed};
	const json_t *resources, *users;
	json_t *j;

	(void)state;
	a.account = disks.account = tax.account = unnamed.account = "a";
	unnamed.user = ""; /* a job's, all the same */
	unnamed.nano = 3000000000;
	a.nano = 10000000000;
	disks.owner = tax.owner = nobodys.owner = none.owner = ALLOCATE_CLUSTER;
	disks.user = tax.user = nobodys.user = none.user = "";
	disks.class = nobodys.class = none.class = ALLOCATE_SHARED;
	tax.class = ALLOCATE_TAX;
	disks.nano = 2000000000;
	tax.nano = 500000000;
	nobodys.account = "";
	none.account = "b"; /* of whose users nobody has anything */
	none.nano = 1000000000;
	j = waldur(&usage, v, 6);
	resources = json_object_get(j, "resources");
	assert_int_equal(json_array_size(resources), 2);
	users = json_object_get(json_array_get(resources, 0), "users");
	assert_int_equal(amount(json_object_get(json_array_get(resources, 0), "usages"), "cost"),
			 1550);
	assert_int_equal(json_array_size(users), 2);
	assert_string_equal(text_of(json_array_get(users, 1), "username"), a.user);
	assert_int_equal(amount(json_object_get(json_array_get(users, 0), "usages"), "cost"), 300);
	assert_int_equal(amount(json_object_get(json_array_get(users, 1), "usages"), "cost"), 1000);
	assert_int_equal(amount(json_object_get(json_array_get(resources, 1), "usages"), "cost"),
			 100);
	assert_int_equal(json_array_size(json_object_get(json_array_get(resources, 1), "users")),
			 0);
	json_decref(j);
}

/* A correction of a closed month has its hours beside its cost; an invoice's difference has none.
 */
static void test_hours_of_corrections(void **state)
{
	struct charge a = charges_one(), late = a, invoiced = a;
	const struct charge *v[] = {&a, &late, &invoiced};
	const json_t *amounts;
	json_t *j;

	(void)state;
	a.nano = 10000000000;
	a.gpu_s = 7200;
	late.late = late.adjust = true;
	late.nano = -2500000000;
	late.gpu_s = -1800;
	invoiced.invoiced = invoiced.adjust = true;
	invoiced.nano = 1000000000;
	invoiced.gpu_s = 3600;
	j = waldur(&usage, v, 3);
	amounts = json_object_get(json_array_get(json_object_get(j, "resources"), 0), "usages");
	assert_string_equal(text_of(json_array_get(amounts, 0), "amount"), "8.50");
	assert_string_equal(text_of(json_array_get(amounts, 1), "amount"), "1.50");
	json_decref(j);
}

static void test_waldur_refused(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct charge a = charges_one(), b = a;
		const struct charge *v[] = {&a, &b};
		struct source_array array = {v, 2};
		struct source from = source_array(&array);
		struct sink to;
		struct str s;

		str_init(&s, i == 2 ? 50 : OUT_MAX);
		to = sink_str(&s);
		b.currency = i == 0 ? "USD" : b.currency;
		b.nano = i == 1 ? INT64_MAX : b.nano;
		assert_int_equal(export_waldur(&usage, &from, &to, NULL), -1);
		str_fini(&s);
	}
}

static void test_coldfront(void **state)
{
	(void)state;
	for (int distribute = 0; distribute < 2; distribute++) {
		const struct tally_options o = statement_file_tally(distribute);
		struct source_array a;
		struct source from;
		struct charges c;
		struct sink to;
		struct tally t;
		struct str s;
		int64_t sum = 0;
		json_t *j;

		charges_make(&c, 18, 2000);
		a = (struct source_array){c.all, c.n};
		from = source_array(&a);
		str_init(&s, OUT_MAX);
		to = sink_str(&s);
		assert_int_equal(tally_make(&t, &o, &from, NULL), 0);
		assert_int_equal(export_coldfront(&usage, &t, &to, NULL), 0);
		j = loaded(&s);
		assert_int_equal(json_array_size(j), 7);
		for (size_t i = 0; i < json_array_size(j); i++) {
			const json_t *one = json_array_get(j, i);

			sum += hundredths(text_of(one, "usage"));
			assert_string_equal(text_of(one, "attribute"), "Cloud Budget (EUR)");
			assert_string_equal(text_of(one, "slurm_account_name"),
					    t.accounts.v[i]->name);
		}
		assert_true(llabs(sum * 10000000 -
				  (distribute ? t.all.nano : t.all.direct + t.assigned)) <=
			    5000000);
		json_decref(j);
		tally_fini(&t);
		charges_fini(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_node_all_day),
		cmocka_unit_test(test_what_counts),
		cmocka_unit_test(test_specs_refused),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_users_add_up),
		cmocka_unit_test(test_pairs_stay_apart),
		cmocka_unit_test(test_hours_of_corrections),
		cmocka_unit_test(test_an_account_has_its_part_of_what_is_shared),
		cmocka_unit_test(test_waldur_refused),
		cmocka_unit_test(test_coldfront),
	};

	return cmocka_run_group_tests_name("ledger, exports", tests, NULL, NULL);
}
