/* The options `node` and `gres` of a pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/hardware.h"

static void test_node(void **state)
{
	struct hardware_node h;

	(void)state;
	assert_int_equal(hardware_parse_node("  CPUs=208 Boards=1 SocketsPerBoard=2 "
					     "corespersocket=52 ThreadsPerCore=2  "
					     "RealMemory=1800000 TmpDisk=7 ",
					     &h, NULL),
			 0);
	assert_int_equal(h.cpus, 208);
	assert_int_equal(h.boards, 1);
	assert_int_equal(h.sockets, 2);
	assert_int_equal(h.cores, 52);
	assert_int_equal(h.threads, 2);
	assert_int_equal(h.memory_mb, 1800000);
	assert_int_equal(h.disk_mb, 7);
	assert_int_equal(hardware_parse_node("RealMemory=1 CPUs=65535", &h, NULL), 0);
	assert_int_equal(h.cpus, 65535);
	assert_int_equal(h.sockets, 0);
}

/* Slurm takes the cores for CPUs, too. */
static void test_cpus_are_threads_or_cores(void **state)
{
	struct hardware_node h;

	(void)state;
	assert_int_equal(hardware_parse_node("CPUs=104 Sockets=2 CoresPerSocket=52 "
					     "ThreadsPerCore=2 RealMemory=1",
					     &h, NULL),
			 0);
	assert_int_equal(hardware_parse_node("CPUs=416 Boards=2 Sockets=2 CoresPerSocket=52 "
					     "ThreadsPerCore=2 RealMemory=1",
					     &h, NULL),
			 0);
}

static void test_bad_nodes(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", "want CPUs= and RealMemory= at least"},
		{"CPUs=4", "want CPUs= and RealMemory= at least"},
		{"RealMemory=4", "want CPUs= and RealMemory= at least"},
		{"CPUs=0 RealMemory=4", "CPUs: want a number from 1 to 65535"},
		{"CPUs=65536 RealMemory=4", "CPUs: want a number from 1 to 65535"},
		{"CPUs=4 RealMemory=4G", "RealMemory: want a number from 1 to 1073741824"},
		{"CPUs=4 RealMemory=", "RealMemory: want a number from 1 to 1073741824"},
		{"CPUs=4 CPUs=4 RealMemory=4", "CPUs is there twice"},
		{"CPUs=4 RealMemory=4 RealMemory=5", "RealMemory is there twice"},
		{"CPUs=4 Sockets=1 SocketsPerBoard=1 RealMemory=4",
		 "SocketsPerBoard is there twice"},
		{"CPUs=4 RealMemory=4 Gres=gpu:1", "\"Gres=gpu:1\": want CPUs, "},
		{"CPUs=4 RealMemory=4 UpTime=1-02:03:04", "\"UpTime=1-02:03:04\": want CPUs, "},
		{"CPUs=6 Sockets=1 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=1",
		 "CPUs=6, and sockets, cores and threads make 4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hardware_node h = {.cpus = 77};
		struct err e = {0};

		assert_int_equal(hardware_parse_node(rows[i].text, &h, &e), -1);
		assert_non_null(strstr(e.msg, rows[i].want));
		assert_int_equal(h.cpus, 77);
	}
}

static void test_a_long_text(void **state)
{
	struct hardware_node h;
	struct err e = {0};
	char text[HARDWARE_TEXT_MAX + 2];

	(void)state;
	memset(text, ' ', sizeof(text));
	memcpy(text, "CPUs=1 RealMemory=1", 19);
	text[HARDWARE_TEXT_MAX] = '\0';
	assert_int_equal(hardware_parse_node(text, &h, &e), 0);
	text[HARDWARE_TEXT_MAX] = ' ';
	text[HARDWARE_TEXT_MAX + 1] = '\0';
	assert_int_equal(hardware_parse_node(text, &h, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
}

static void test_gres(void **state)
{
	struct hardware_gres_list l;

	(void)state;
	assert_int_equal(hardware_parse_gres("gpu:a100_3g.20gb:16,gpu:h100:8,shard:64", &l, NULL),
			 0);
	assert_int_equal(l.n, 3);
	assert_string_equal(l.v[0].name, "gpu");
	assert_string_equal(l.v[0].type, "a100_3g.20gb");
	assert_int_equal(l.v[0].count, 16);
	assert_string_equal(l.v[1].type, "h100");
	assert_string_equal(l.v[2].name, "shard");
	assert_string_equal(l.v[2].type, "");
	assert_int_equal(l.v[2].count, 64);
}

static void test_bad_gres(void **state)
{
	static const char *const bad[] = {"",
					  "gpu",
					  "gpu:h100",
					  "gpu:h100:0",
					  "gpu:h100:8,",
					  ",gpu:1",
					  "gpu::8",
					  ":8",
					  "gpu:a:b:8",
					  "gpu:h100:8(S:0)",
					  "gpu:h 100:8",
					  "gpu:1048577",
					  "gpu:h100:8,gpu:H100:4",
					  "gpu:1,gpu:2",
					  "a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,j:1,k:1,l:1,m:1,n:1,"
					  "o:1,p:1,q:1"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hardware_gres_list l = {.n = 77};
		struct err e = {0};

		print_message("# %s\n", bad[i]);
		assert_int_equal(hardware_parse_gres(bad[i], &l, &e), -1);
		assert_int_not_equal(e.msg[0], '\0');
		assert_int_equal(l.n, 77);
	}
}

static void test_mig(void **state)
{
	static const struct {
		const char *type;
		bool mig;
	} rows[] = {
		{"a100_3g.20gb", true}, {"1g.5gb", true},   {"h100_1g.10gb+me", true},
		{"h100", false},        {"", false},        {"a100_80gb", false},
		{"a100_g.20gb", false}, {"3g.x", false},    {"a100_3g.gb", false},
		{"rtx_4g.", false},     {"4g.20mb", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hardware_gres g = {.name = "gpu", .count = 1};

		(void)snprintf(g.type, sizeof(g.type), "%s", rows[i].type);
		print_message("# %s\n", rows[i].type);
		assert_int_equal(hardware_is_mig(&g), rows[i].mig);
	}
}

/* --- what machines turn out to have ------------------------------------------------------------
 */

#define FOUND "CPUs=8 Boards=1 SocketsPerBoard=2 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=16001"

static void read_it(const char *text, struct hardware_node *out)
{
	struct err e = {0};

	*out = (struct hardware_node){.cpus = 0};
	assert_int_equal(hardware_parse_node(text, out, &e), 0);
}

static void test_a_proposal_fits(void **state)
{
	static const struct {
		const char *found, *printed, *proposed;
	} rows[] = {
		{FOUND, "CPUs=8 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=16001",
		 "CPUs=8 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=15840"},
		{"CPUs=4 Boards=2 SocketsPerBoard=2 RealMemory=1000 TmpDisk=7",
		 "CPUs=4 Sockets=4 RealMemory=1000 TmpDisk=7",
		 "CPUs=4 Sockets=4 RealMemory=990 TmpDisk=7"},
		{"CPUs=1 RealMemory=1", "CPUs=1 RealMemory=1", "CPUs=1 RealMemory=0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hardware_node has, node;
		struct str s;

		read_it(rows[i].found, &has);
		str_init(&s, 256);
		hardware_print(&has, &s);
		assert_string_equal(s.p, rows[i].printed);
		str_fini(&s);
		str_init(&s, 256);
		hardware_propose(&has, &s);
		assert_string_equal(s.p, rows[i].proposed);
		if (has.memory_mb > 1) {
			read_it(s.p, &node);
			assert_true(hardware_fits(&node, &has));
		}
		str_fini(&s);
	}
}

/* F36 */
static void test_what_fits(void **state)
{
	static const struct {
		const char *node;
		bool fits;
	} rows[] = {
		{"CPUs=8 RealMemory=16001", true},
		{"CPUs=8 RealMemory=16002", false},
		{"CPUs=8 RealMemory=14401", true},
		{"CPUs=8 RealMemory=14400", false},
		{"CPUs=4 RealMemory=16000", false},
		{"CPUs=16 RealMemory=16000", false},
		{"CPUs=8 Sockets=2 RealMemory=16000", true},
		{"CPUs=8 Boards=2 SocketsPerBoard=1 RealMemory=16000", true},
		{"CPUs=8 Sockets=1 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=16000", false},
		{"CPUs=8 CoresPerSocket=4 RealMemory=16000", false},
		{"CPUs=8 ThreadsPerCore=1 RealMemory=16000", false},
		{"CPUs=8 RealMemory=16000 TmpDisk=99", true}, /* slurmd -C does not say */
	};
	struct hardware_node has, node;

	(void)state;
	read_it(FOUND, &has);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].node);
		read_it(rows[i].node, &node);
		assert_int_equal(hardware_fits(&node, &has), rows[i].fits);
	}
	/* A small machine, by the margin of what a provider sells. */
	read_it("CPUs=8 RealMemory=3900", &has);
	read_it("CPUs=8 RealMemory=2876", &node);
	assert_true(hardware_fits(&node, &has));
	read_it("CPUs=8 RealMemory=2875", &node);
	assert_false(hardware_fits(&node, &has));
	read_it("CPUs=8 RealMemory=16000 TmpDisk=10", &node);
	read_it("CPUs=8 RealMemory=16000 TmpDisk=9", &has);
	assert_false(hardware_fits(&node, &has));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node),      cmocka_unit_test(test_cpus_are_threads_or_cores),
		cmocka_unit_test(test_bad_nodes), cmocka_unit_test(test_a_long_text),
		cmocka_unit_test(test_gres),      cmocka_unit_test(test_bad_gres),
		cmocka_unit_test(test_mig),       cmocka_unit_test(test_a_proposal_fits),
		cmocka_unit_test(test_what_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
