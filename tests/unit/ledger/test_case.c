/* test_case.c - cases whose arithmetic was done by hand, and records that make no sense. */
#include "ledger/case.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text_file.h"
#include "ledger/allocate.h"

#define SHARED "../shared/finops/cases/flat"

enum { LINES_MAX = 100, TEXT_MAX = 1 << 16 };

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text, sorted. */
static char *sorted(const char *text)
{
	char *own = mem_strdup(text), *lines[LINES_MAX], *save = NULL;
	struct str s;
	size_t n = 0;

	for (char *l = strtok_r(own, "\r\n", &save); l != NULL; l = strtok_r(NULL, "\r\n", &save)) {
		assert_true(n < LINES_MAX);
		lines[n++] = l;
	}
	qsort(lines, n, sizeof(lines[0]), by_text);
	str_init(&s, TEXT_MAX);
	for (size_t i = 0; i < n; i++)
		str_addf(&s, "%s\n", lines[i]);
	free(own);
	return str_take(&s);
}

static void check(const char *name, const char *text, const char *want)
{
	struct str out, notes;
	struct err e = {0};
	char *got, *wanted;

	str_init(&out, TEXT_MAX);
	str_init(&notes, TEXT_MAX);
	print_message("# %s\n", name);
	if (case_run(name, text, &out, &notes, &e) != 0)
		fail_msg("%s", e.msg);
	got = sorted(out.p);
	wanted = sorted(want);
	assert_string_equal(got, wanted);
	free(got);
	free(wanted);
	str_fini(&out);
	str_fini(&notes);
}

/* Those that finance agreed on; the folder is not part of the project. */
static void test_shared_cases(void **state)
{
	DIR *dir = opendir(SHARED);
	struct dirent *d;
	unsigned n = 0;

	(void)state;
	if (dir == NULL) {
		print_message("# skipped: no %s\n", SHARED);
		skip();
	}
	while ((d = readdir(dir)) != NULL) {
		const char *end = strstr(d->d_name, ".in.csv");
		char path[512], *text, *want;
		size_t len;

		if (end == NULL)
			continue;
		(void)snprintf(path, sizeof(path), SHARED "/%s", d->d_name);
		assert_int_equal(text_file_read(path, TEXT_MAX, &text, &len, NULL), 0);
		(void)snprintf(path, sizeof(path), SHARED "/%.*s.out.csv", (int)(end - d->d_name),
			       d->d_name);
		assert_int_equal(text_file_read(path, TEXT_MAX, &want, &len, NULL), 0);
		check(d->d_name, text, want);
		free(text);
		free(want);
		n++;
	}
	(void)closedir(dir);
	assert_true(n > 0);
}

#define HEAD  "period,instance,category,owner,attempt,nano\n"
#define META  "meta,UTC,dominant\n"
#define PLAIN META "policy,p,1,0,instant,0\nprice,od,0,3600000000000\n" /* 1 unit a second */

static const struct {
	const char *name, *text, *want;
} by_hand[] = {
	{"a reclaim: kept until the checkpoint at 40, lost after it, on both nodes",
	 PLAIN "instance,a,gpu,p,od,,8,0,0,0,0,,,100,reclaim,\n"
	       "instance,b,gpu,p,od,,8,0,0,0,10,,,120,scale_down,\n"
	       "trigger,b,7,2,8,0,0\n"
	       "job,7,2,a,0,100,8,0,0,reclaim,40\n"
	       "job,7,2,b,10,100,8,0,0,reclaim,40\n",
	 HEAD "1970-01,a,run,job:7,2,40000000000\n"
	      "1970-01,a,lost,job:7,2,60000000000\n"
	      "1970-01,b,boot,job:7,2,10000000000\n"
	      "1970-01,b,run,job:7,2,30000000000\n"
	      "1970-01,b,lost,job:7,2,60000000000\n"
	      "1970-01,b,idle,pool:gpu,0,20000000000\n"},
	{"without a checkpoint all is lost; one node says so for both",
	 PLAIN "instance,a,gpu,p,od,,8,0,0,0,0,,,50,reclaim,\n"
	       "instance,b,gpu,p,od,,8,0,0,0,0,,,50,scale_down,\n"
	       "job,7,0,a,0,50,8,0,0,node_fail,\n"
	       "job,7,0,b,0,50,8,0,0,cancelled,\n"
	       "job,7,1,b,50,50,8,0,0,completed,\n",
	 HEAD "1970-01,a,lost,job:7,0,50000000000\n"
	      "1970-01,b,lost,job:7,0,50000000000\n"
	      "1970-01,b,run,job:7,1,0\n"},
	{"taken in the free hour: each row is given back",
	 META "policy,p,1,60,instant,3600\nprice,od,0,3600000000000\n"
	      "instance,a,gpu,p,od,,8,0,0,0,10,,,50,reclaim,\n"
	      "job,7,0,a,10,50,4,0,0,reclaim,\n"
	      "instance,b,gpu,p,od,,8,0,0,0,0,,,3600,reclaim,\n"
	      "instance,c,gpu,p,od,,8,0,0,0,0,,,50,scale_down,\n",
	 HEAD "1970-01,a,boot,pool:gpu,0,10000000000\n"
	      "1970-01,a,credit:boot,pool:gpu,0,-10000000000\n"
	      "1970-01,a,lost,job:7,0,20000000000\n"
	      "1970-01,a,credit:lost,job:7,0,-20000000000\n"
	      "1970-01,a,idle,pool:gpu,0,20000000000\n"
	      "1970-01,a,credit:idle,pool:gpu,0,-20000000000\n"
	      "1970-01,a,pad,pool:gpu,0,10000000000\n"
	      "1970-01,a,credit:pad,pool:gpu,0,-10000000000\n"
	      "1970-01,b,idle,pool:gpu,0,3600000000000\n"
	      "1970-01,c,idle,pool:gpu,0,50000000000\n"
	      "1970-01,c,pad,pool:gpu,0,10000000000\n"},
	{"a boot for two jobs, by what they asked of it: 6 GPUs of 8, and half of the CPUs",
	 PLAIN "instance,a,gpu,p,od,,8,64,0,0,50,,,50,boot_fail,\n"
	       "trigger,a,2,0,6,1,0\ntrigger,a,1,0,0,32,0\n",
	 HEAD "1970-01,a,boot,job:1,0,20000000000\n1970-01,a,boot,job:2,0,30000000000\n"},
	{"unknown to Slurm, booting, ready, drained, ended",
	 PLAIN "instance,a,gpu,p,od,,8,0,0,0,20,40,50,70,orphan_kill,10\n",
	 HEAD "1970-01,a,orphan,pool:cluster,0,10000000000\n"
	      "1970-01,a,boot,pool:gpu,0,10000000000\n"
	      "1970-01,a,idle,pool:gpu,0,20000000000\n"
	      "1970-01,a,drain,pool:gpu,0,10000000000\n"
	      "1970-01,a,teardown,pool:gpu,0,20000000000\n"},
	{"more than there is is shared by all: 8 of 8 GPUs beside 3 of 4 CPUs, 4 to 3",
	 PLAIN "instance,a,gpu,p,od,,8,4,0,0,0,,,7,scale_down,\n"
	       "job,1,0,a,0,7,8,0,0,completed,\njob,2,0,a,0,7,0,3,0,completed,\n",
	 HEAD "1970-01,a,run,job:1,0,4000000000\n1970-01,a,run,job:2,0,3000000000\n"},
	{"by GPUs alone its CPUs cost nothing",
	 "meta,UTC,gpu\npolicy,p,1,0,instant,0\nprice,od,0,3600000000000\n"
	 "instance,a,gpu,p,od,,8,4,0,0,0,,,8,scale_down,\n"
	 "job,1,0,a,0,8,6,0,0,completed,\njob,2,0,a,0,8,0,3,0,completed,\n",
	 HEAD "1970-01,a,run,job:1,0,6000000000\n1970-01,a,run,job:2,0,0\n"
	      "1970-01,a,idle,pool:gpu,0,2000000000\n"},
	{"the price as it began; hours as they began; beyond the end as its last second",
	 META "policy,l,1,0,launch,0\npolicy,h,1,7200,hour_start,0\npolicy,i,1,4000,instant,0\n"
	      "price,od,0,3600000000000\nprice,od,10,7200000000000\n"
	      "price,od,3600,10800000000000\nprice,od,3610,36000000000000\n"
	      "instance,a,gpu,l,od,,8,0,0,0,0,,,20,scale_down,\n"
	      "instance,b,gpu,h,od,,8,0,0,0,0,,,3605,scale_down,\n"
	      "instance,c,gpu,i,od,,8,0,0,0,0,,,3605,scale_down,\n",
	 HEAD "1970-01,a,idle,pool:gpu,0,20000000000\n"
	      "1970-01,b,idle,pool:gpu,0,3615000000000\n"
	      "1970-01,b,pad,pool:gpu,0,10785000000000\n"
	      "1970-01,c,idle,pool:gpu,0,7205000000000\n"
	      "1970-01,c,pad,pool:gpu,0,1185000000000\n"},
	{"halves go to the even number: 0.5, 1.5 and 2.5 nano-units",
	 META "policy,p,1,0,instant,0\nprice,od,0,1\n"
	      "instance,a,gpu,p,od,,8,0,0,0,0,,,1800,scale_down,\n"
	      "instance,b,gpu,p,od,,8,0,0,0,0,,,5400,scale_down,\n"
	      "instance,c,gpu,p,od,,8,0,0,0,0,,,9000,scale_down,\n",
	 HEAD "1970-01,b,idle,pool:gpu,0,2\n1970-01,c,idle,pool:gpu,0,2\n"},
	{"prices in any order; of those of one moment the later record counts",
	 META "policy,p,1,0,instant,0\nprice,od,20,10800000000000\n"
	      "price,od,0,9000000000000\nprice,od,10,7200000000000\n"
	      "price,od,0,3600000000000\n"
	      "instance,a,gpu,p,od,,8,0,0,0,0,,,30,scale_down,\n",
	 HEAD "1970-01,a,idle,pool:gpu,0,60000000000\n"},
	{"a month in which a job cost nothing is left out, if another has something",
	 META "policy,p,1,0,instant,0\nprice,od,0,0\nprice,od,2678400,3600000000000\n"
	      "instance,a,gpu,p,od,,8,0,0,2678390,2678390,,,2678410,scale_down,\n"
	      "job,1,0,a,2678390,2678410,8,0,0,completed,\n",
	 HEAD "1970-02,a,run,job:1,0,10000000000\n"},
	{"a price that changes as it ends is not its",
	 META "policy,p,1,60,instant,0\nprice,od,0,3600000000000\nprice,od,50,7200000000000\n"
	      "instance,a,gpu,p,od,,8,0,0,0,0,,,50,scale_down,\n",
	 HEAD "1970-01,a,idle,pool:gpu,0,50000000000\n1970-01,a,pad,pool:gpu,0,10000000000\n"},
	{"a node without a time of its own has the attempt's last checkpoint",
	 PLAIN "instance,a,gpu,p,od,,8,0,0,0,0,,,50,reclaim,\n"
	       "instance,b,gpu,p,od,,8,0,0,0,0,,,50,scale_down,\n"
	       "instance,c,gpu,p,od,,8,0,0,0,0,,,50,scale_down,\n"
	       "job,7,0,a,0,50,8,0,0,reclaim,30\njob,7,0,b,0,50,8,0,0,reclaim,20\n"
	       "job,7,0,c,0,50,8,0,0,reclaim,\n",
	 HEAD "1970-01,a,run,job:7,0,30000000000\n1970-01,a,lost,job:7,0,20000000000\n"
	      "1970-01,b,run,job:7,0,20000000000\n1970-01,b,lost,job:7,0,30000000000\n"
	      "1970-01,c,run,job:7,0,30000000000\n1970-01,c,lost,job:7,0,20000000000\n"},
	{"in the free hour what cost nothing is not given back",
	 META "policy,p,1,0,instant,3600\nprice,od,0,3600000000000\n"
	      "instance,a,gpu,p,od,,8,0,0,0,0,,,5,reclaim,\njob,1,0,a,9,9,8,0,0,completed,\n",
	 HEAD "1970-01,a,run,job:1,0,0\n1970-01,a,idle,pool:gpu,0,5000000000\n"
	      "1970-01,a,credit:idle,pool:gpu,0,-5000000000\n"},
	{"a budget: one batch waits for the other's end",
	 "budget,100,0,0,0,3600,0,0,0,10\nbatch,2\njob,1,1,41,1\njob,2,2,11,5\nbatch,1\n"
	 "job,3,1,1,9\nsettle,2,5\n",
	 "admit,2,40,60\nadmit,1,50,10\nadmit,3,10,0\nsettle,2,5,35\n"},
	{"a budget: within a batch nobody gets what those before have taken",
	 "budget,100,0,0,0,3600,0,0,0,10\nbatch,3\njob,1,1,60,1\njob,2,1,60,1\njob,3,1,40,1\n",
	 "admit,1,60,40\nrefuse,2,60,20\nadmit,3,40,0\n"},
	{"a budget: what is spent, accrued and committed, and the times before and after a job",
	 "budget,100,10,20,30,3600,1,2,4,10\nbatch,1\njob,1,2,8,1\n", "admit,1,40,0\n"},
	{"a budget: overdrawn, and what that job lacks",
	 "budget,10,30,0,0,3600,0,0,0,10\nbatch,1\njob,1,1,1,1\n", "refuse,1,10,30\n"},
	{"a budget: nothing is left, so not even a job of no nodes begins",
	 "budget,10,10,0,0,3600,0,0,0,10\nbatch,1\njob,1,0,1,1\n", "refuse,1,0,0\n"},
	{"a budget: a job that cost more than was held for it",
	 "budget,100,0,0,0,3600,0,0,0,10\nbatch,1\njob,1,1,50,1\nsettle,1,70\n",
	 "admit,1,50,50\nsettle,1,70,30\n"},
	{"a budget: as long a time limit is none",
	 "budget,100,0,0,0,3600,0,0,0,10\nbatch,1\njob,1,1,4611686018427387903,1\n",
	 "refuse,1,9223372036854775807,9223372036854775707\n"},
};

/* Each with its arithmetic.  One unit is 1000000000. */
static void test_cases_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++)
		check(by_hand[i].name, by_hand[i].text, by_hand[i].want);
}

/* The lines of a document that begin with a tab, from the one with this text on. */
static void take_block(const char *text, const char *from, struct str *out)
{
	const char *at = strstr(text, from);

	assert_non_null(at);
	for (; *at != '\0' && *at != '\n'; at += *at == '\t') {
		const size_t n = strcspn(at, "\n") + 1;

		str_add(out, at, n);
		at += n;
	}
}

/* In hundredths, of all rows of the table that have this class. */
static long cents_of_class(const char *text, const char *class)
{
	const char *at = strstr(text, "\n| minutes |"), *end = strstr(text, "| sum |");
	long sum = 0;

	assert_true(at != NULL && end != NULL && at < end);
	for (at = strchr(at + 1, '\n'); at + 1 < end; at = strchr(at + 1, '\n')) {
		char what[64], of[32], whose[32];
		long units, cents;

		if (sscanf(at, "\n| %*[^|]| %63[^|]| %31[^ |] | %31[^|]| %ld.%2ld |", what, of,
			   whose, &units, &cents) == 5 ||
		    sscanf(at, "\n| | %63[^|]| %31[^ |] | %31[^|]| %ld.%2ld |", what, of, whose,
			   &units, &cents) == 5)
			sum += strcmp(of, class) == 0 ? 100 * units + cents : 0;
	}
	return sum;
}

/* The same, of the result in nano-units. */
static long cents_of_rows(const char *rows, const char *class)
{
	long long sum = 0;

	for (const char *at = rows; at != NULL; at = strchr(at + 1, '\n')) {
		char of[32];
		long long nano;

		if (sscanf(at, "%*[^,],%*[^,],%31[^,],%*[^,],%*[^,],%lld", of, &nano) == 2)
			sum += strcmp(of, class) == 0 ? nano : 0;
	}
	return (long)((sum + 5000000) / 10000000);
}

/* docs/finance.md explains the arithmetic to people who check it with a pencil. */
static void test_the_example_of_the_document(void **state)
{
	struct str in, want;
	struct err e = {0};
	char *text, row[300], sentence[256];
	size_t len;

	(void)state;
	if (text_file_read("docs/finance.md", TEXT_MAX, &text, &len, &e) != 0)
		fail_msg("%s", e.msg);
	str_init(&in, TEXT_MAX);
	str_init(&want, TEXT_MAX);
	take_block(text, "meta,UTC", &in);
	take_block(text, "period,instance", &want);
	check("docs/finance.md", in.p, want.p);
	assert_int_equal(cents_of_class(text, "idle"), 1250); /* it is read */
	for (int c = 0; c < ALLOCATE_NCLASSES; c++) {
		const char *name = allocate_class_str((enum allocate_class)c);

		assert_int_equal(cents_of_class(text, name), cents_of_rows(want.p, name));
		(void)snprintf(sentence, sizeof(sentence), "%s",
			       allocate_class_text((enum allocate_class)c));
		(void)snprintf(row, sizeof(row), "| %s | %s |\n", name, sentence);
		if (strstr(text, row) == NULL)
			fail_msg("docs/finance.md has no row %s", row);
	}
	str_fini(&in);
	str_fini(&want);
	free(text);
}

static const struct {
	const char *text, *error;
} senseless[] = {
	{"instances,a\n", "x:1: no record is called \"instances\""},
	{"meta,UTC\n", "x:1: meta: want 3 fields, not 2"},
	{"meta,Mars/Olympus,dominant\n",
	 "x:1: meta: no time zone \"Mars/Olympus\" in /usr/share/zoneinfo/"},
	{"meta,../../etc/passwd,dominant\n",
	 "x:1: meta: no time zone \"../../etc/passwd\" in /usr/share/zoneinfo/"},
	{"meta,UTC,cpu\n", "x:1: meta: want dominant or gpu"},
	{META "\npolicy,p,0,0,instant,0\n",
	 "x:3: policy: granularity: want a number from 1 to 1073741824, not \"0\""},
	{META "policy,p,1,0,later,0\n", "x:2: policy: want instant, hour_start or launch"},
	{META "price,od,,5\n", "x:2: price: want a time"},
	{META "price,od,1,-5\n", "x:2: price: price: want a number from 0 to "
				 "9223372036854775807, not \"-5\""},
	{META "price,od,1e3,5\n", "x:2: price: time: want a number from -62135596800 to "
				  "253402300799, not \"1e3\""},
	{PLAIN "instance,a,gpu,q,od,,8,0,0,0,0,,,9,scale_down,\n",
	 "x:4: instance a: no policy \"q\""},
	{PLAIN "instance,a,gpu,p,spot,,8,0,0,0,0,,,9,scale_down,\n",
	 "x:4: instance a: no price is known at 1970-01-01T00:00:00.000Z"},
	{META "policy,p,1,0,instant,0\nprice,od,5,1\n"
	      "instance,a,gpu,p,od,,8,0,0,0,0,,,9,scale_down,\n",
	 "x:4: instance a: no price is known at 1970-01-01T00:00:00.000Z"},
	{PLAIN "instance,a,gpu,p,od,,8,0,0,0,0,,,,scale_down,\n",
	 "x:4: instance: it has no bill_end, so what it costs is not known yet"},
	{PLAIN "instance,a,gpu,p,od,,8,0,0,5,5,,,4,scale_down,\n",
	 "x:4: instance: it ends before it begins"},
	{PLAIN "instance,a,gpu,p,od,,8,0,0,0,0,,,631152001,x,\n",
	 "x:4: instance: it lives for more than twenty years"},
	{PLAIN "instance,a,gpu,p,od,,8,0,0,,,,,,no_capacity,\n"
	       "instance,a,gpu,p,od,,8,0,0,,,,,,no_capacity,\n",
	 "x:5: instance: a second instance of that id"},
	{PLAIN "job,1,0,a,0,7,8,0,0,completed,\n", "x:4: job: no instance of that id before it"},
	{PLAIN "trigger,a,1,0,8,0,0\n", "x:4: trigger: no instance of that id before it"},
	{"policy,p,1,0,instant,0\n", "x: want a record meta"},
	{"batch,1\n", "x:1: batch: a batch without a budget before it"},
	{META META, "x:2: meta: a second one"},
	{META "budget,1,0,0,0,1,0,0,0,1\n", "x: want instances or a budget, not both"},
	{"budget,1,9223372036854775806,9223372036854775806,0,1,0,0,0,1\n",
	 "x:1: budget: its amounts are too large"},
	{"budget,0,0,0,0,1,0,0,0,1\n",
	 "x:1: budget: amount: want a number from 1 to 9223372036854775806, not \"0\""},
	{"budget,1,0,0,0,0,0,0,0,1\n",
	 "x:1: budget: ceiling: want a number from 1 to 9223372036854775807, not \"0\""},
	{"budget,1,0,0,0,1,0,0,0,0\n",
	 "x:1: budget: granularity: want a number from 1 to 1073741824, not \"0\""},
	{"budget,1,0,0,0,1,0,0,0,1\nbatch,1\njob,1,65537,1,1\n",
	 "x:3: job: nodes: want a number from 0 to 65536, not \"65537\""},
	{"budget,1,0,0,0,1,0,0,0,1\nbatch,2\njob,1,1,1,1\nbatch,1\n",
	 "x:4: batch: want a job of the batch, with 5 fields"},
	{"budget,1,0,0,0,1,0,0,0,1\nbatch,2\njob,1,1,1,1\njob,1,1,1,1\n",
	 "x:4: job: this job is there already"},
	{"budget,1,0,0,0,1,0,0,0,1\nbatch,2\njob,1,1,1,1\n", "x: the last batch lacks 1 jobs"},
	{"budget,1,0,0,0,1,0,0,0,1\nsettle,1,1\n", "x:2: settle: no such job has a reservation"},
	{"meta,,,,,,,,,,,,,,,,,,,\n", "x:1: meta: too many fields"},
	{PLAIN "instance,a,gpu,p,od,,9223372036854775807,9223372036854775805,0,0,0,,,9,x,\n",
	 "x:4: instance a: shares of this machine are too fine"},
	{META "policy,p,1,0,instant,0\nprice,od,0,9223372036854775807\n"
	      "instance,a,gpu,p,od,,8,0,0,0,0,,,3601,scale_down,\n",
	 "x:4: instance a: the cost is larger than 9223372036854775807 nano-units"},
};

static void test_what_makes_no_sense(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(senseless) / sizeof(senseless[0]); i++) {
		struct str out, notes;
		struct err e = {0};

		print_message("# row %zu\n", i);
		str_init(&out, TEXT_MAX);
		str_init(&notes, TEXT_MAX);
		assert_int_equal(case_run("x", senseless[i].text, &out, &notes, &e), -1);
		assert_string_equal(e.msg, senseless[i].error);
		str_fini(&out);
		str_fini(&notes);
	}
}

/* What cannot be as it says is told, and moves no money. */
static void test_notes(void **state)
{
	static const char text[] = PLAIN "instance,a,gpu,p,od,,8,0,0,10,20,,,30,scale_down,\r\n"
					 "job,1,0,a,15,36,8,0,0,completed,\r\n"
					 "job,2,1,a,25,22,8,0,0,completed,\r\n";
	struct str out, notes;

	(void)state;
	str_init(&out, TEXT_MAX);
	str_init(&notes, TEXT_MAX);
	assert_int_equal(case_run("x", text, &out, &notes, NULL), 0);
	assert_string_equal(notes.p,
			    "job 1, attempt 0, on a: Slurm has it there longer than the node was "
			    "ready, by 11 s\n"
			    "job 2, attempt 1, on a: it ended before it began, by 3 s\n");
	assert_string_equal(out.p, HEAD "1970-01,a,run,job:1,0,10000000000\n"
					"1970-01,a,run,job:2,1,0\n"
					"1970-01,a,boot,pool:gpu,0,10000000000\n");
	str_fini(&out);
	str_fini(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_cases),
		cmocka_unit_test(test_cases_by_hand),
		cmocka_unit_test(test_the_example_of_the_document),
		cmocka_unit_test(test_what_makes_no_sense),
		cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests_name("ledger, cases", tests, NULL, NULL);
}
