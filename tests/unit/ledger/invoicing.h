/* invoicing.h - a ledger of two machines in November, and invoices for it. */
#ifndef TESTS_LEDGER_INVOICING_H
#define TESTS_LEDGER_INVOICING_H

#include "ledger/invoice.h"

#include "closing.h"

#define UNIT INT64_C(1000000000) /* a second of a machine at 3,600 an hour */

/* In November: c1 and c2, 900 s each; a job of 200 s on half of c1, one of all c2. */
static inline void fill(struct fixture *f)
{
	struct err e = {0};

	assert_int_equal(ledger_put_note(f->l, LEDGER_DRIVER "aws", "aws", &e), 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_CLUSTER, "hpc1", &e), 0);
	for (int i = 1; i <= 2; i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "c%d", i);
		machine(f, name);
		life(f, name, "wanted", 0, 0);
		life(f, name, "created", 100, 100);
		life(f, name, "ready", 200, 0);
		life(f, name, "ended", 1000, i == 1 ? 1000 : 0); /* of c2 it is only seen */
	}
	pass(f, 1);
	job(f, &(struct job){7, 4, 300, 500, "COMPLETED", "c1"});
	job(f, &(struct job){8, 8, 200, 1000, "COMPLETED", "c2"});
	settle_until(f, DEC + 3600);
}

static inline void write_named(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	assert_int_equal(fputs(text, out) >= 0, 1);
	assert_int_equal(fclose(out), 0);
}

static inline void write_file(const struct fixture *f, const char *text, char path[80])
{
	(void)snprintf(path, 80, "%s/invoice.csv", f->dir);
	write_named(path, text);
}

static inline struct invoice_import ask_for(const char *path)
{
	return (struct invoice_import){
		.path = path, .provider = "aws", .month = NOVEMBER, .who = "anna"};
}

static inline int try_import(struct fixture *f, const struct invoice_import *in, int64_t at,
			     struct invoice_result *r, struct err *e)
{
	const struct book b = book_at(f, at);
	int rc;

	assert_int_equal(ledger_begin(f->l, e), 0);
	rc = invoice_import(&b, in, r, e);
	if (rc == 0)
		assert_int_equal(ledger_commit(f->l, e), 0);
	else
		ledger_rollback(f->l);
	return rc;
}

/* text: the file; changes: to what ask_for() has. */
static inline struct invoice_result import(struct fixture *f, const char *text,
					   const struct invoice_import *changes, int64_t at)
{
	struct invoice_import in;
	struct invoice_result r;
	struct err e = {0};
	char path[80];

	write_file(f, text, path);
	in = ask_for(path);
	if (changes != NULL) {
		in = *changes;
		in.path = path;
		in.provider = "aws";
		in.month = changes->month != 0 ? changes->month : NOVEMBER;
		in.who = "anna";
	}
	if (try_import(f, &in, at, &r, &e) < 0)
		fail_msg("%s", e.msg);
	return r;
}

static inline int64_t of_month(const struct fixture *f, int64_t month, const char *where)
{
	char sql[240];

	(void)snprintf(sql, sizeof(sql), "day >= %lld AND day < %lld AND %s",
		       (long long)date_month_day(month), (long long)date_month_day(month + 1),
		       where);
	return money(f, sql);
}

#define HEAD  "instance,amount,currency,description,kind\n"
#define WHOLE HEAD "i-c1,1000.5,EUR,,\ni-c2,890.25,EUR,,\n,10,EUR,Disks,\n,1.75,EUR,VAT,Tax\n"

#endif
