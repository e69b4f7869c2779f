/* test_command.c - what commands print for programs. */
#include <fcntl.h>
#include <jansson.h>

#include "base/fmt.h"
#include "invoicing.h"
#include "ledger/command.h"
#include "ledger/lock.h"
#include "ledger/reading.h"

enum { PRINTED_MAX = 1 << 20 };

/* What a command writes to standard output, and its exit status: job WORD, or period WORDS if there
 * are n.  The text is the caller's. */
static char *printed(const struct fixture *f, const struct settings *s, const char *const *words,
		     size_t n, int *status)
{
	const int was = dup(STDOUT_FILENO);
	char path[80], *text = mem_zalloc(PRINTED_MAX);
	const struct opt_args args = {(char **)(uintptr_t)words, (int)n};
	FILE *in;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/printed", f->dir);
	(void)fflush(stdout);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(was >= 0 && fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
	*status = n > 0 ? command_period(s, &args) : command_job(s, words[0]);
	(void)fflush(stdout);
	assert_true(dup2(was, STDOUT_FILENO) >= 0);
	(void)close(was);
	(void)close(fd);
	in = fopen(path, "re");
	assert_non_null(in);
	(void)fread(text, 1, PRINTED_MAX - 1, in);
	(void)fclose(in);
	return text;
}

static void put_notes(const struct fixture *f)
{
	struct err e = {0};

	assert_int_equal(ledger_put_note(f->l, LEDGER_ZONE, "UTC", &e), 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_CURRENCY, "EUR", &e), 0);
}

/* November's sums are fields of each currency, as amounts are elsewhere. */
static void assert_totals(const json_t *of)
{
	const json_t *totals = json_object_get(of, "totals");
	const char *currency, *cost;

	assert_null(json_object_get(of, "total"));
	assert_int_equal(json_array_size(totals), 2);
	assert_int_equal(json_unpack(json_array_get(totals, 0), "{s:s, s:s}", "currency", &currency,
				     "cost", &cost),
			 0);
	assert_string_equal(currency, "EUR");
	assert_string_equal(cost, "1800.00");
	assert_int_equal(json_unpack(json_array_get(totals, 1), "{s:s, s:s}", "currency", &currency,
				     "cost", &cost),
			 0);
	assert_string_equal(currency, "USD");
	assert_string_equal(cost, "200.00");
}

static void test_period_as_json(void **state)
{
	static const char *const list[] = {"list"}, *const draft[] = {"draft", "2026-11"};
	struct fixture *f = *state;
	const struct settings s = {.ledger = f->ledger, .json = true},
			      plain = {.ledger = f->ledger};
	const char *period;
	char *text;
	json_t *j;
	int status;

	fill(f);
	put_notes(f);
	exec(f->journal,
	     "INSERT INTO machine SELECT 'd1', 1, at_ms, pool, provider, offer, type, region, zone,"
	     " market, 'USD', quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine WHERE"
	     " node = 'c1'");
	life(f, "d1", "created", 100, 100);
	life(f, "d1", "ended", 300, 300);
	settle_until(f, DEC + 3700);
	text = printed(f, &s, list, 1, &status);
	assert_int_equal(status, 0);
	j = json_loads(text, 0, NULL);
	free(text);
	assert_int_equal(json_unpack(j, "{s:[{s:s}]}", "periods", "period", &period), 0);
	assert_string_equal(period, "2026-11");
	assert_totals(json_array_get(json_object_get(j, "periods"), 0));
	json_decref(j);
	text = printed(f, &s, draft, 2, &status);
	j = json_loads(text, 0, NULL);
	free(text);
	assert_totals(j);
	json_decref(j);
	text = printed(f, &plain, list, 1, &status);
	assert_non_null(strstr(text, " EUR 1800.00, USD 200.00\n"));
	free(text);
}

static int64_t nano_of(const json_t *of, const char *key)
{
	const char *text = json_string_value(json_object_get(of, key));
	struct err e = {0};
	int64_t nano = 0;

	assert_non_null(text);
	assert_int_equal(fmt_money_parse(text, &nano, &e), 0);
	return nano;
}

static void assert_share(const json_t *piece)
{
	__extension__ typedef __int128 wide;
	const wide whole = json_integer_value(json_object_get(piece, "whole"));
	const wide off = nano_of(piece, "cost") * whole -
			 nano_of(piece, "machine") *
				 (wide)json_integer_value(json_object_get(piece, "weight"));

	assert_true(off < whole && off > -whole); /* rounded */
}

/* Pieces, what is given back and what an invoice changes are an instance's cost; and these an
 * attempt's. */
static void assert_adds_up(const json_t *attempt, size_t pieces)
{
	const json_t *instances = json_object_get(attempt, "instances"), *instance, *piece;
	int64_t sum = 0;
	size_t i, k;

	json_array_foreach(instances, i, instance)
	{
		int64_t parts = nano_of(instance, "given_back") + nano_of(instance, "adjusted");

		json_array_foreach(json_object_get(instance, "pieces"), k, piece)
		{
			const json_int_t s = json_integer_value(json_object_get(piece, "to_ms")) -
					     json_integer_value(json_object_get(piece, "from_ms"));

			assert_true(s > 0);
			assert_true(nano_of(piece, "rate") == INT64_C(3600) * UNIT);
			assert_true(nano_of(piece, "machine") == s * UNIT / 1000);
			assert_share(piece);
			parts += nano_of(piece, "cost");
		}
		assert_int_equal(k, pieces);
		assert_true(pieces == 0 || parts == nano_of(instance, "cost"));
		assert_true(nano_of(instance, "computed_anew") == nano_of(instance, "cost"));
		sum += nano_of(instance, "cost");
	}
	assert_int_equal(i, 1);
	assert_true(sum == nano_of(attempt, "cost"));
}

/* A job's attempts, machines and pieces are fields, and add up; without --explain there are no
 * pieces, and of somebody else's job there is nothing at all. */
static void test_job_as_json(void **state)
{
	static const char *const seven[] = {"7"};
	struct fixture *f = *state;
	struct settings s = {.ledger = f->ledger, .json = true, .explain = true};
	json_t *j, *attempts, *one, *instance;
	struct invoice_result r;
	char *text;
	int status;

	fill(f);
	put_notes(f);
	job(f, &(struct job){7, 8, 600, 700, "COMPLETED", "c1"}); /* it was requeued */
	settle_until(f, DEC + 3700);
	r = import(f, WHOLE, NULL, DEC + 4000);
	invoice_result_fini(&r);
	for (int way = 0; way < 2; way++) {
		s.explain = way == 0;
		text = printed(f, &s, seven, 0, &status);
		assert_int_equal(status, 0);
		j = json_loads(text, 0, NULL);
		free(text);
		assert_string_equal(json_string_value(json_object_get(j, "job")), "7");
		attempts = json_object_get(j, "attempts");
		assert_int_equal(json_array_size(attempts), 2);
		one = json_array_get(attempts, 0);
		assert_int_equal(json_integer_value(json_object_get(one, "attempt")), 1);
		assert_true(json_integer_value(json_object_get(one, "from_ms")) ==
			    (T0 + 300) * 1000);
		assert_true(json_integer_value(json_object_get(one, "to_ms")) == (T0 + 500) * 1000);
		assert_string_equal(json_string_value(json_object_get(one, "state")), "COMPLETED");
		instance = json_array_get(json_object_get(one, "instances"), 0);
		assert_string_equal(json_string_value(json_object_get(instance, "instance")),
				    "i-c1");
		assert_true(nano_of(instance, "adjusted") > 0);
		assert_adds_up(one, way == 0);
		one = json_array_get(attempts, 1);
		assert_int_equal(json_integer_value(json_object_get(one, "attempt")), 2);
		assert_adds_up(one, way == 0);
		assert_true(nano_of(json_array_get(json_object_get(j, "totals"), 0), "cost") ==
			    nano_of(json_array_get(attempts, 0), "cost") +
				    nano_of(json_array_get(attempts, 1), "cost"));
		json_decref(j);
	}
	s.user = "nobody";
	text = printed(f, &s, seven, 0, &status);
	assert_int_equal(status, 1);
	assert_string_equal(text, "");
	free(text);
}

/* There is one service for a ledger (F59): the second hears who has it, until that ends. */
static void test_one_service(void **state)
{
	const struct fixture *f = *state;
	char want[200], link[80];
	struct err e = {0};
	int fd = lock_take(f->ledger, &e);

	assert_true(fd >= 0);
	assert_int_equal(lock_take(f->ledger, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	(void)snprintf(want, sizeof(want), "%s: another \"burst-ledger run\" is using it (pid %ld)",
		       f->ledger, (long)getpid());
	assert_string_equal(e.msg, want);
	assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0); /* not the children's */
	assert_int_equal(close(fd), 0);
	fd = lock_take(f->ledger, &e);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	(void)snprintf(link, sizeof(link), "%s.lock", f->ledger);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("elsewhere", link), 0);
	assert_int_equal(lock_take(f->ledger, &e), -1);
}

static void assert_lacks(struct reading *r, int64_t to_s, const char *want)
{
	struct str out;
	struct err e = {0};

	str_init(&out, 1024);
	assert_int_equal(reading_lacks(r, calendar_day(&r->calendar, to_s), &out, &e), 0);
	assert_string_equal(out.len > 0 ? out.p : "", want);
	str_fini(&out);
}

/* While slurmdbd is away all of a machine's time is idle: who reads a report of that time is told;
 * who reads one of an earlier month is not. */
static void test_a_report_says_that_slurm_cannot_be_asked(void **state)
{
	struct fixture *f = *state;
	struct reading r = {.ledger = f->l, .site.ledger = f->ledger};
	struct err e = {0};

	assert_int_equal(calendar_init(&r.calendar, "UTC", &e), 0);
	put_notes(f);
	assert_lacks(&r, T0 + 86400, "");
	assert_int_equal(ledger_put_note(f->l, LEDGER_JOBS_WHY, "sacct: no slurmdbd", &e), 0);
	assert_lacks(&r, T0 + 86400,
		     "Slurm cannot be asked for jobs, and their time is shown as idle (sacct: no "
		     "slurmdbd)");
	assert_int_equal(ledger_put_number(f->l, LEDGER_JOBS_MS, 1000 * (T0 + 3600), &e), 0);
	assert_lacks(&r, T0, "");
	assert_int_equal(ledger_put_note(f->l, LEDGER_FACTS_WHY, "no journal", &e), 0);
	assert_lacks(&r, T0 + 86400,
		     "burstd's journal cannot be read (no journal); Slurm cannot be asked for "
		     "jobs, and their time is shown as idle since 2026-11-10T01:00:00.000Z (sacct: "
		     "no slurmdbd)");
	assert_int_equal(ledger_put_number(f->l, LEDGER_FACTS_MS, 1000 * T0, &e), 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_JOBS_WHY, "", &e), 0);
	assert_lacks(&r, T0 + 86400,
		     "burstd's journal cannot be read since 2026-11-10T00:00:00.000Z (no journal)");
	assert_lacks(&r, T0, "");
	calendar_fini(&r.calendar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_period_as_json),
		TEST(test_job_as_json),
		TEST(test_one_service),
		TEST(test_a_report_says_that_slurm_cannot_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
