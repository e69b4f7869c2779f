/* What burstctl says of budgets: the very text, on 80 columns. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

#define S "--socket SOCKET "

#define HEAD "{\"ok\":true,\"now_ms\":1000000,\"currency\":\"EUR\","
#define NOV                                                                                        \
	"\"period\":{\"name\":\"2026-11\",\"begin_ms\":1000000,\"end_ms\":2000000},\"when\":"      \
	"\"now\","
#define FULL "\"reserve\":\"full\",\"notify_at\":[50,80,95],\"spot_only_at\":90,\"stop_at\":100,"
#define LEASE                                                                                      \
	"\"reserve\":\"lease\",\"lease_ms\":14400000,\"notify_at\":[],\"spot_only_at\":0,"         \
	"\"stop_at\":0,"
#define PHYSICS                                                                                    \
	"{\"name\":\"physics\",\"each\":\"\",\"value\":\"\"," NOV FULL                             \
	"\"amount\":\"50000.00\",\"spent\":\"30000.00\",\"held\":\"11388.123456789\","             \
	"\"accrued\":\"500.00\",\"later\":\"70.00\",\"left\":\"8611.876543211\",\"beyond\":"       \
	"\"0.25\",\"rate\":\"2.00\",\"waiting\":2,\"contact\":\"finance@example.org\",\"counts\":" \
	"{\"accounts\":[\"physics\",\"chemistry\"],\"pools\":[\"h100\"],\"market\":\"spot\","      \
	"\"text\":\"accounts physics, "                                                            \
	"chemistry; pools h100; spot machines\"}}"
#define STUDENT(who, spent, left)                                                                  \
	"{\"name\":\"students\",\"each\":\"user\",\"value\":\"" who "\"," NOV LEASE                \
	"\"amount\":\"20.00\",\"spent\":\"" spent "\",\"held\":\"0.00\",\"accrued\":\"0.00\","     \
	"\"later\":\"0.00\",\"left\":\"" left "\",\"beyond\":\"0.00\",\"rate\":\"2.00\","          \
	"\"rate_limit\":\"4.00\",\"waiting\":1,\"contact\":\"\"}"
#define GRANT                                                                                      \
	"{\"name\":\"grant\",\"each\":\"\",\"value\":\"\",\"period\":{\"name\":"                   \
	"\"2026-01-01..2026-06-30\",\"begin_ms\":1000,\"end_ms\":2000},\"when\":\"over\"," FULL    \
	"\"amount\":\"0.50\",\"spent\":\"0.00\",\"held\":\"0.00\",\"accrued\":\"0.00\","           \
	"\"later\":\"0.00\",\"left\":\"0.50\",\"beyond\":\"0.00\",\"rate\":\"0.00\","              \
	"\"waiting\":0,\"contact\":\"\"}"
#define LAB                                                                                        \
	"{\"name\":\"lab\",\"each\":\"\",\"value\":\"\",\"reserve\":\"minimum\",\"notify_at\":[]," \
	"\"spot_only_at\":0,\"stop_at\":100,\"rate\":\"2.00\",\"rate_limit\":\"9.00\","            \
	"\"waiting\":0,\"contact\":\"\",\"counts\":{\"market\":\"any\",\"text\":\"all "            \
	"machines\"}}"
#define NEXT(name, value) ",\"next\":\"" name "\",\"next_value\":\"" value "\"}"

static void a_list_shows_what_is_left(void **state)
{
	static const char *const pages[] = {
		HEAD "\"budgets\":[" PHYSICS
		     "," STUDENT("ann", "21.40", "-1.40") "]" NEXT("students", "ann"),
		HEAD "\"budgets\":[" STUDENT("bob", "16.00", "4.00") "," GRANT "," LAB
								     "]" NEXT("", "")};
	static const char want[] =
		"in EUR, 1970-01-01T09:16:40\n"
		"\n"
		"BUDGET        PERIOD           AMOUNT     SPENT  SET ASIDE     LEFT  TAKEN\n"
		"physics       2026-11        50000.00  30000.00   11388.12  8611.88  ######==..  "
		"82%\n"
		"students/ann  2026-11           20.00     21.40       0.00    -1.40  ########## "
		"107%\n"
		"students/bob  2026-11           20.00     16.00       0.00     4.00  ########..  "
		"80%\n"
		"grant         to 2026-06-30    0.5000      0.00       0.00   0.5000  ..........   "
		"0%\n"
		"lab           -                     -         -          -        -  -\n"
		"\n"
		"physics: 2 jobs wait for money: ask finance@example.org; 70.00 of the next period "
		"set aside\n"
		"students/ann: 1 job waits for money; 2.00 of 4.00 EUR per hour in use\n"
		"students/bob: 1 job waits for money; 2.00 of 4.00 EUR per hour in use\n"
		"grant: its period is over\n"
		"lab: 2.00 of 9.00 EUR per hour in use\n";
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, S "budget list", pages, 2);
	lab_want(l, 0, want, "");
	assert_int_equal(l->nrequests, 2);
	assert_string_equal(l->requests[0], "{\"op\":\"budgets\",\"v\":1}");
	assert_string_equal(l->requests[1], "{\"op\":\"budgets\",\"after\":\"students\","
					    "\"after_value\":\"ann\",\"v\":1}");
	lab_run(l, S "budget list --json", pages, 2);
	assert_int_equal(l->rc, 0);
	assert_non_null(strstr(l->out, "\"value\": \"bob\""));
	assert_non_null(strstr(l->out, "\"left\": \"8611.876543211\""));
	assert_null(strstr(l->out, "\"next"));
	lab_free(l);
}

static void whose_they_are(void **state)
{
	static const struct {
		const char *line, *request;
	} rows[] = {
		{"budget list -u bob", "{\"op\":\"budgets\",\"user\":\"bob\",\"v\":1}"},
		{"balance", "{\"op\":\"budgets\",\"mine\":true,\"v\":1}"},
		{"balance --user bob", "{\"op\":\"budgets\",\"user\":\"bob\",\"v\":1}"},
		{"budget show physics", "{\"op\":\"budgets\",\"budget\":\"physics\",\"v\":1}"},
		{"budget show physics -u bob",
		 "{\"op\":\"budgets\",\"user\":\"bob\",\"budget\":\"physics\",\"v\":1}"},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[100];

		(void)snprintf(line, sizeof(line), S "%s", rows[i].line);
		lab_run_once(l, line, HEAD "\"user\":\"ann\",\"budgets\":[]" NEXT("", ""));
		assert_int_equal(l->rc, 0);
		assert_string_equal(l->requests[0], rows[i].request);
	}
	lab_free(l);
}

static void a_balance_is_somebodys(void **state)
{
	static const char reply[] = HEAD
		"\"user\":\"ann\",\"budgets\":[" STUDENT("ann", "16.00", "4.00") "]" NEXT("", "");
	static const char want[] =
		"budgets of ann, in EUR, 1970-01-01T09:16:40\n"
		"\n"
		"BUDGET        PERIOD   AMOUNT  SPENT  SET ASIDE  LEFT  TAKEN\n"
		"students/ann  2026-11   20.00  16.00       0.00  4.00  ########..  80%\n"
		"\n"
		"students/ann: 1 job waits for money; 2.00 of 4.00 EUR per hour in use\n";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "balance", reply);
	lab_want(l, 0, want, "");
	lab_run_once(l, S "balance", HEAD "\"user\":\"ann\",\"budgets\":[]" NEXT("", ""));
	lab_want(l, 0, "no budget concerns ann\n", "");
	lab_run_once(l, S "budget list", HEAD "\"budgets\":[]" NEXT("", ""));
	lab_want(l, 0, "there are no budgets: see burstd.conf(5)\n", "");
	lab_run_once(l, S "balance", "{\"ok\":false,\"error\":\"uid 7 has no name\"}");
	lab_want(l, 1, "", "burstctl: uid 7 has no name\n");
	lab_free(l);
}

static void one_budget_is_shown_with_its_rules(void **state)
{
	static const char physics[] =
		"physics, in EUR\n"
		"  period          2026-11, from 1970-01-01T09:16:40 until 1970-01-01T09:33:20\n"
		"  amount                50000.00\n"
		"  spent                 30000.00\n"
		"  set aside             11388.12\n"
		"    used of that          500.00\n"
		"  left                   8611.88\n"
		"                  ##############################===========......... 82%\n"
		"  next period              70.00\n"
		"  beyond it               0.2500\n"
		"  per hour now              2.00\n"
		"  waiting         2 jobs wait for money: ask finance@example.org\n"
		"  counts          accounts physics, chemistry; pools h100; spot machines\n"
		"  sets aside      what a job may cost until its time limit\n"
		"  steps           noted at 50, 80 and 95%; spot only from 90%; no new job beyond "
		"100%\n"
		"  contact         finance@example.org\n";
	static const char students[] =
		"in EUR, 1970-01-01T09:16:40\n"
		"\n"
		"BUDGET        PERIOD   AMOUNT  SPENT  SET ASIDE   LEFT  TAKEN\n"
		"students/ann  2026-11   20.00  21.40       0.00  -1.40  ########## 107%\n"
		"students/bob  2026-11   20.00   0.00       0.00  20.00  ..........   0%\n"
		"\n"
		"students/ann: 1 job waits for money; 2.00 of 4.00 EUR per hour in use\n"
		"students/bob: 1 job waits for money; 2.00 of 4.00 EUR per hour in use\n"
		"\n"
		"  sets aside      what a job may cost in 4h00m, again and again\n"
		"  steps           none\n";
	static const char rate[] = "lab, in EUR\n"
				   "  per hour now              2.00\n"
				   "  at most                   9.00\n"
				   "  counts          all machines\n"
				   "  sets aside      the least that its machines are billed\n";
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "budget show physics", HEAD "\"budgets\":[" PHYSICS "]" NEXT("", ""));
	lab_want(l, 0, physics, "");
	lab_run_once(l, S "budget show students",
		     HEAD "\"budgets\":[" STUDENT("ann", "21.40", "-1.40") "," STUDENT(
			     "bob", "0.00", "20.00") "]" NEXT("", ""));
	lab_want(l, 0, students, "");
	lab_run_once(l, S "budget show lab", HEAD "\"budgets\":[" LAB "]" NEXT("", ""));
	lab_want(l, 0, rate, "");
	lab_run_once(l, S "budget show grant", HEAD "\"budgets\":[" GRANT "]" NEXT("", ""));
	assert_non_null(strstr(l->out, "1970-01-01T09:00:02: it is over\n"));
	lab_run_once(l, S "budget show x", HEAD "\"budgets\":[]" NEXT("", ""));
	lab_want(l, 0, "nobody has used this budget yet\n", "");
	/* One of those of each, by the name that its overrides have. */
	lab_run_once(l, S "budget show students/bob",
		     HEAD "\"budgets\":[" STUDENT("ann", "21.40", "-1.40") "," STUDENT(
			     "bob", "0.00", "20.00") "]" NEXT("", ""));
	assert_string_equal(l->requests[0], "{\"op\":\"budgets\",\"budget\":\"students\",\"v\":1}");
	assert_ptr_equal(strstr(l->out, "students/bob, in EUR\n"), l->out);
	assert_null(strstr(l->out, "ann"));
	lab_run_once(l, S "budget show students/eve",
		     HEAD "\"budgets\":[" STUDENT("ann", "21.40", "-1.40") "]" NEXT("", ""));
	lab_want(l, 0, "nobody has used this budget yet\n", "");
	lab_run_once(l, S "budget show", "");
	lab_want(l, 2, "", "BUDGET is missing");
	lab_free(l);
}

/* Bars of amounts that are no amounts, or larger than any. */
static void bars_are_bars(void **state)
{
	static const struct {
		const char *amount, *spent, *held, *bar;
	} rows[] = {
		{"8999999999", "8999999999", "8999999999", "########## 102%"},
		{"8999999999", "1.00", "8999999998", "========== 100%"},
		{"0.000000001", "0.00", "0.00", "..........   0%"},
		{"0.000000001", "1.00", "0.00", "########## 100000000000%"},
		{"1.00", "0.095", "0.004", "..........   9%"},
		{"1.00", "0.10", "0.00", "#.........  10%"},
		{"1.00", "-0.50", "0.60", "=.........  10%"},
		{"x", "y", "z", "..........   0%"},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char reply[600];

		(void)snprintf(reply, sizeof(reply),
			       HEAD "\"budgets\":[{\"name\":\"b\",\"amount\":\"%s\",\"spent\":"
				    "\"%s\",\"held\":\"%s\"}]" NEXT("", ""),
			       rows[i].amount, rows[i].spent, rows[i].held);
		lab_run_once(l, S "budget list", reply);
		print_message("# %s\n", l->out);
		assert_int_equal(l->rc, 0);
		assert_non_null(strstr(l->out, rows[i].bar));
	}
	lab_free(l);
}

/* On a terminal: good until 80 %, bad from 100 %. */
static void colours_warn(void **state)
{
	static const struct {
		const char *spent, *want;
	} rows[] = {{"79.99", "\033[32m#######...  79%"},
		    {"80.00", "\033[33m########..  80%"},
		    {"99.99", "\033[33m#########.  99%"},
		    {"100.00", "\033[1;31m########## 100%"}};
	struct lab *l = lab_new();

	(void)state;
	(void)setenv("TERM", "xterm", 1);
	(void)unsetenv("NO_COLOR");
	l->tty = true;
	l->columns = 80;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char reply[400];

		(void)snprintf(reply, sizeof(reply),
			       HEAD "\"budgets\":[{\"name\":\"b\",\"amount\":\"100.00\","
				    "\"spent\":\"%s\",\"held\":\"0.00\"}]" NEXT("", ""),
			       rows[i].spent);
		lab_run_once(l, S "budget list", reply);
		assert_non_null(strstr(l->out, rows[i].want));
	}
	lab_free(l);
}

/* What the ladder has done, what the amount is made of, and what it will come to. */
static void a_budget_says_what_comes(void **state)
{
	static const char reply[] = HEAD
		"\"budgets\":[{\"name\":\"b\",\"each\":\"user\",\"value\":\"ann\"," NOV FULL
		"\"drain_at\":0,\"requeue_at\":100,\"kill_at\":110,\"grace_ms\":600000,"
		"\"step\":\"requeue\",\"step_ms\":1000000,\"amount\":\"30.00\",\"carried\":\"4."
		"00\","
		"\"added\":\"6.00\",\"spent\":\"30.00\",\"held\":\"0.00\",\"accrued\":\"0.00\","
		"\"later\":\"0.00\",\"left\":\"0.00\",\"beyond\":\"0.00\",\"rate\":\"0.00\","
		"\"forecast\":{\"pace\":\"1.00\",\"least\":\"40.00\",\"expected\":\"50.00\","
		"\"most\":"
		"\"60.00\",\"used_up_ms\":1000000},"
		"\"waiting\":0,\"contact\":\"\",\"counts\":{\"market\":\"any\",\"text\":\"all jobs "
		"of each user\"}}]" NEXT("", "");
	static const char *const want[] = {
		"  amount                   30.00\n    rolled over             4.00\n"
		"    overrides               6.00\n",
		"  forecast        50.00 at the end, at the pace of the last week\n"
		"                  between 40.00 and 60.00, at that of its quietest and busiest "
		"day\n"
		"                  used up at 1970-01-01T09:16:40, at that pace\n",
		"  counts          all jobs of each user\n",
		"; jobs requeued at 100%; jobs cancelled at 110%\n"
		"  now             since 1970-01-01T09:16:40 its jobs are requeued, each after "
		"10m00s\n"};
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "budget show b", reply);
	print_message("# %s\n", l->out);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_non_null(strstr(l->out, want[i]));
	lab_free(l);
}

/* By whom, and until when; nothing may be spent is no missing amount. */
static void an_amount_is_set(void **state)
{
#define IS_SET(spent, left, more)                                                                  \
	HEAD "\"budgets\":[{\"name\":\"b\",\"each\":\"\",\"value\":\"\"," NOV FULL                 \
	     "\"amount\":\"0.00\",\"set\":{\"amount\":\"0.00\",\"configured\":\"500.00\"," more    \
	     "},\"spent\":\"" spent                                                                \
	     "\",\"held\":\"0.00\",\"accrued\":\"0.00\",\"later\":\"0.00\","                       \
	     "\"left\":\"" left "\",\"beyond\":\"0.00\",\"rate\":\"0.00\",\"waiting\":0,"          \
	     "\"contact\":\"\"}]" NEXT("", "")
	static const struct {
		const char *line, *reply, *want;
	} rows[] = {
		{"budget show b",
		 IS_SET("0.00", "0.00", "\"until_ms\":2000000,\"id\":7,\"by\":\"uid 5\""),
		 "  amount                    0.00\n"
		 "                  set to 0.00 by uid 5 until 1970-01-01T09:33:20, override 7; in "
		 "burstd.conf 500.00\n"
		 "  spent                     0.00\n"},
		{"budget list", IS_SET("0.00", "0.00", "\"until_ms\":0"), "\nb: set to 0.00\n"},
		{"budget list", IS_SET("0.00", "0.00", "\"until_ms\":0"), "..........   0%\n"},
		{"budget list", IS_SET("1.00", "-1.00", "\"until_ms\":0"), "########## 100%\n"},
	};
#undef IS_SET
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[60];

		(void)snprintf(line, sizeof(line), S "%s", rows[i].line);
		lab_run_once(l, line, rows[i].reply);
		print_message("# %s\n", l->out);
		assert_int_equal(l->rc, 0);
		assert_non_null(strstr(l->out, rows[i].want));
	}
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_amount_is_set),
		cmocka_unit_test(a_budget_says_what_comes),
		cmocka_unit_test(a_list_shows_what_is_left),
		cmocka_unit_test(whose_they_are),
		cmocka_unit_test(a_balance_is_somebodys),
		cmocka_unit_test(one_budget_is_shown_with_its_rules),
		cmocka_unit_test(bars_are_bars),
		cmocka_unit_test(colours_warn),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
