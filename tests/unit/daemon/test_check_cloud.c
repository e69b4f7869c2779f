/* burstd --check --provider NAME: what it asks a provider, a small server here, and what it says of
 * each answer. */
#include "lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { TEXT_SIZE = 8192, ROUTES = 4 };

#define UUID  "12345678-1234-4123-8123-123456789abc"
#define OTHER "87654321-1234-4123-8123-123456789abc"

/* --- the provider ------------------------------------------------------------------------------
 */

struct route { /* the first that the request begins with answers; once: only one time */
	const char *request, *status, *headers, *body;
	bool once;
};

#define LIST   "GET /v1/instances?"
#define QUOTES "GET /v1/offers "
#define OK     "200 OK", ""
#define DENIED                                                                                     \
	"401 Unauthorized", "",                                                                    \
		"{\"error\":{\"code\":\"denied\",\"message\":\"no \\u001b such key\"}}"
#define SLOW                                                                                       \
	"429 Too Many Requests", "",                                                               \
		"{\"error\":{\"code\":\"rate\",\"message\":\"slow\",\"retry_after_ms\":1}}"
#define EMPTY "{\"instances\":[],\"cursor\":\"\"}"
#define ROW(id, cluster, state)                                                                    \
	"{\"id\":\"" id "\",\"cluster\":\"" cluster "\",\"name\":\"c1\",\"generation\":1,"         \
	"\"state\":\"" state "\",\"address\":\"\",\"created_ms\":1}"
#define LISTED(rows, cursor) "{\"instances\":[" rows "],\"cursor\":\"" cursor "\"}"
#define OFFER(type, price)                                                                         \
	"{\"type\":\"" type "\",\"region\":\"r\",\"zone\":\"z\",\"market\":\"on-demand\","         \
	"\"price\":\"" price "\",\"currency\":\"EUR\"}"
#define OFFERS(list) "{\"offers\":[" list "]}"
#define WELL                                                                                       \
	{                                                                                          \
		LIST, OK, EMPTY, false                                                             \
	}
#define PRICED                                                                                     \
	{                                                                                          \
		QUOTES, OK, OFFERS(OFFER("t", "2.5")), false                                       \
	}

static const struct route *find(const struct route *routes, bool *used, const char *request)
{
	for (size_t i = 0; i < ROUTES && routes[i].request != NULL; i++) {
		if (used[i] || strncmp(request, routes[i].request, strlen(routes[i].request)) != 0)
			continue;
		used[i] = routes[i].once;
		return &routes[i];
	}
	return NULL;
}

/* The first line of a request goes to the file "asked". */
static void note(const char *line)
{
	int fd = open(lab_path("asked"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (write(fd, line, strlen(line)) < 0 || write(fd, "\n", 1) < 0)
		_exit(1);
	(void)close(fd);
}

static void serve_one(int fd, const struct route *routes, bool *used)
{
	static const struct route none = {"", "404 Not Found", "", "", false};
	char in[TEXT_SIZE] = "", text[TEXT_SIZE];
	const struct route *r;
	size_t len = 0;
	int n;

	while (len < sizeof(in) - 1 && strstr(in, "\r\n\r\n") == NULL) {
		ssize_t got = read(fd, in + len, sizeof(in) - 1 - len);

		if (got <= 0)
			return;
		len += (size_t)got;
	}
	in[strcspn(in, "\r")] = '\0';
	note(in);
	r = find(routes, used, in);
	r = r != NULL ? r : &none;
	n = snprintf(text, sizeof(text),
		     "HTTP/1.1 %s\r\n%sContent-Type: application/json\r\nConnection: close\r\n"
		     "Content-Length: %zu\r\n\r\n%s",
		     r->status, r->headers, strlen(r->body), r->body);
	if (write(fd, text, (size_t)n) < 0)
		_exit(1);
}

static pid_t serve(int fd, const struct route *routes)
{
	bool used[ROUTES] = {false};
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int c = accept(fd, NULL, NULL);

		if (c < 0)
			_exit(1);
		serve_one(c, routes, used);
		(void)close(c);
	}
}

/* --- asking it ---------------------------------------------------------------------------------
 */

static int listener(unsigned *port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&sa, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	assert_int_equal(listen(fd, 8), 0);
	*port = ntohs(sa.sin_port);
	return fd;
}

static void read_file(const char *name, char text[TEXT_SIZE])
{
	int fd = open(lab_path(name), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, TEXT_SIZE - 1) : 0;

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		(void)close(fd);
}

static struct burstd *b;
static char out[TEXT_SIZE], asked[TEXT_SIZE];

/* With the places of the server and of the lab's files. */
static void write_conf(unsigned port, const char *pool)
{
	static const char providers[] =
		"cluster = lab\ncurrency = EUR\nstate_dir = \"DIR/state\"\n"
		"provider sim { driver = sim url = \"URL\" credential_file = \"DIR/token\" timeout "
		"= 20s }\n"
		"provider bad { driver = nosuch }\n"
		"provider aws { driver = aws region = r image = ami-1 url = \"URL\" metadata_url = "
		"\"URL\" }\n"
		"provider lambda { driver = lambda url = \"URL\" credential_file = \"DIR/token\" "
		"ssh_key = k }\n"
		"provider ironic { driver = ironic url = \"URL\" }\n"
		"provider lyceum { driver = lyceum url = \"URL\" credential_file = \"DIR/token\"\n"
		"bootstrap = ssh ssh_public_key = \"ssh-ed25519 "
		"AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZ"
		"GhscHR4f\" }\n";
	struct str s;

	str_init(&s, LAB_TEXT_SIZE);
	for (const char *c = providers; *c != '\0';) {
		if (strncmp(c, "URL", 3) == 0)
			str_addf(&s, "http://127.0.0.1:%u", port);
		else if (strncmp(c, "DIR", 3) == 0)
			str_adds(&s, lab_dir);
		else
			str_add(&s, c, 1);
		c += strncmp(c, "URL", 3) == 0 || strncmp(c, "DIR", 3) == 0 ? 3 : 1;
	}
	str_addf(&s, "pool p { nodes = \"c[1-8]\" max_nodes = 8 max_rate = \"300\" %s }\n", pool);
	lab_write("burstd.conf", s.p, 0644);
	str_fini(&s);
}

/* Run it against a server with these routes (NULL: nobody listens), which `pool` buys from; b->rc,
 * `out` and `asked` have what came of it. */
static void run(const struct route *routes, const char *pool, const char *name, bool json)
{
	char *file = mem_strdup(lab_path("burstd.conf"));
	const char *text_argv[] = {"burstd", "--check", "--provider", name, file, NULL};
	const char *json_argv[] = {"burstd", "--check", "--json", "--provider", name, file, NULL};
	unsigned port = 1;
	int fd = routes != NULL ? listener(&port) : -1;
	pid_t server = routes != NULL ? serve(fd, routes) : -1;

	write_conf(port, pool);
	(void)unlink(lab_path("asked"));
	lab_start_args(b, (char *const *)(uintptr_t)(json ? json_argv : text_argv));
	lab_finish(b);
	read_file("out", out);
	read_file("asked", asked);
	if (server > 0) {
		(void)kill(server, SIGKILL);
		(void)waitpid(server, NULL, 0);
		(void)close(fd);
	}
	assert_string_equal(b->text, "");
	free(file);
}

static void assert_line(const char *line)
{
	char want[512], text[TEXT_SIZE + 1];

	(void)snprintf(want, sizeof(want), "\n%s\n", line);
	(void)snprintf(text, sizeof(text), "\n%s", out);
	if (strstr(text, want) == NULL)
		fail_msg("no line \"%s\" in:\n%s", line, out);
}

#define ANY     "provider = sim type = t region = r"
#define CERTAIN "provider = sim type = t region = r price = \"5\""
#define STOCK   "; the provider does not say whether any is free"
#define DATA    "; user-data: cloud-init of at most 65536 bytes"
#define LAMBDA                                                                                     \
	"; billed in steps of 1m00s; no minimum rental; user-data: cloud-init of at most 1000000 " \
	"bytes"

static const struct {
	const char *name, *pool;
	struct route routes[ROUTES];
	int rc;
	const char *lines[5];
} rows[] = {
	{"all is well",
	 ANY,
	 {WELL, PRICED},
	 0,
	 {"ok: credential: taken", "ok: list: 0 instances are this cluster's", "ok: quotes: 1",
	  "ok: pool \"p\": t in r, on-demand: 2.50 EUR per hour" STOCK DATA}},
	{"a wrong credential",
	 CERTAIN,
	 {{"GET", DENIED, false}},
	 1,
	 {"not ok: credential: refused: no ? such key", "not ok: list: denied: no ? such key",
	  "not ok: quotes: denied: no ? such key",
	  "not tried: pool \"p\": t in r, on-demand: without quotes nothing is known of it"}},
	{"a wrong credential where all may see prices",
	 ANY,
	 {{LIST, DENIED, false}, PRICED},
	 1,
	 {"not ok: credential: refused: no ? such key", "ok: quotes: 1"}},
	{"no right to see prices",
	 ANY,
	 {WELL, {QUOTES, DENIED, false}},
	 1,
	 {"ok: credential: taken", "not ok: quotes: denied: no ? such key"}},
	{"what it has not, and what has no price",
	 "offer a { " ANY " market = spot }\n"
	 "offer b { provider = sim type = u region = r price = \"5\" }\n"
	 "offer c { provider = sim type = t region = s }\n"
	 "offer d { provider = sim type = free region = r }\n"
	 "offer e { provider = sim type = gift region = r price = \"5\" }\n",
	 {WELL,
	  {QUOTES, OK, OFFERS(OFFER("t", "2.5") "," OFFER("free", "0") "," OFFER("gift", "0")),
	   false}},
	 1,
	 {"not ok: offer \"a\" of pool \"p\": t in r, spot: the provider does not sell that as "
	  "spot",
	  "not ok: offer \"b\" of pool \"p\": u in r, on-demand: the provider knows no type u",
	  "not ok: offer \"c\" of pool \"p\": t in s, on-demand: the provider has that type, but "
	  "not in region s",
	  "not ok: offer \"d\" of pool \"p\": free in r, on-demand: the provider names no price in "
	  "EUR: \"price\" is missing, and nothing is bought without" STOCK DATA,
	  "ok: offer \"e\" of pool \"p\": gift in r, on-demand: 5.00 EUR per hour, as burstd.conf "
	  "says" STOCK DATA}},
	{"quotes that are none",
	 ANY,
	 {WELL, {QUOTES, OK, OFFERS(""), false}},
	 1,
	 {"not ok: quotes: invalid: none at all: burstd does not believe that"}},
	{"a list that is throttled, and has two pages; neither one that has ended nor another's "
	 "counts",
	 ANY,
	 {{LIST, SLOW, true},
	  {LIST, OK, LISTED(ROW("i-1", UUID, "running"), "more"), true},
	  {LIST, OK, LISTED(ROW("i-2", UUID, "ended") "," ROW("i-3", OTHER, "running"), ""), false},
	  PRICED},
	 0,
	 {"ok: list: 1 instance is this cluster's"}},
	{"what cannot be read",
	 ANY,
	 {{LIST, OK, "<html>", false}, PRICED},
	 1,
	 {"not tried: credential: not known: the provider has not judged it"}},
	{"a clock that is wrong",
	 ANY,
	 {WELL,
	  {QUOTES, "200 OK", "Date: Thu, 01 Jan 2015 00:00:00 GMT\r\n", OFFERS(OFFER("t", "2.5")),
	   false}},
	 1,
	 {"ok: list: 0 instances are this cluster's"}},
};

static void write_uuid(void)
{
	assert_true(mkdir(lab_path("state"), 0700) == 0 || errno == EEXIST);
	lab_write("state/uuid", UUID "\n", 0600);
}

/* Whatever it says, it has asked; and for nothing that changes anything. */
static void test_each_answer_is_told(void **state)
{
	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_uuid();
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# %s\n", rows[i].name);
		run(rows[i].routes, rows[i].pool, "sim", false);
		for (size_t k = 0; k < COUNT(rows[i].lines) && rows[i].lines[k] != NULL; k++)
			assert_line(rows[i].lines[k]);
		if (b->rc != rows[i].rc)
			print_error("%s", out);
		assert_int_equal(b->rc, rows[i].rc);
		assert_int_equal(strstr(out, " ahead of the provider's: some refuse signatures") !=
					 NULL,
				 strcmp(rows[i].name, "a clock that is wrong") == 0);
		assert_non_null(strstr(asked, LIST));
		assert_non_null(strstr(asked, "cluster=" UUID));
		assert_non_null(strstr(asked, QUOTES));
		for (const char *p = asked; *p != '\0'; p = strchr(p, '\n') + 1)
			assert_int_equal(strncmp(p, "GET ", 4), 0);
	}
}

/* What its driver cannot ask for says so itself. */
static void test_an_offer_that_the_driver_refuses_is_wrong(void **state)
{
	const struct route routes[ROUTES] = {
		{"GET /api/v2/external/vms/list", OK, "{\"vms\":[],\"total\":0}", false},
		{"GET /api/v2/external/pricing", OK,
		 "{\"prices\":[{\"meter_slug\":\"vm_running\",\"applies_to\":{\"hardware_profile\":"
		 "\"spot.h100.8x\"},\"unit\":\"second\",\"unit_price\":\"0.001\"}]}",
		 false}};

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_uuid();
	run(routes,
	    "offer a { provider = lyceum type = h100 region = r }\n"
	    "offer b { provider = lyceum type = \"h100.8x\" region = r market = spot }\n",
	    "lyceum", false);
	assert_int_equal(b->rc, 1);
	assert_line("not ok: offer \"a\" of pool \"p\": h100 in r, on-demand: type h100: want a "
		    "hardware profile and a number of GPUs, such as h100.8x");
	assert_line("not ok: offer \"b\" of pool \"p\": h100.8x in r, spot: the provider names no "
		    "price in EUR: \"price\" is missing, and nothing is bought without" STOCK
		    "; billed in steps of 1s; no user-data");
}

/* Lambda says what is sold out, and with that that the rest is not. */
static void test_what_is_free_is_told_where_the_provider_says_so(void **state)
{
	const struct route routes[ROUTES] = {
		{"GET /api/v1/instances", OK, "{\"data\":[]}", false},
		{"GET /api/v1/instance-types", OK,
		 "{\"data\":{\"t\":{\"instance_type\":{\"name\":\"t\",\"price_cents_per_hour\":100,"
		 "\"specs\":{\"vcpus\":1,\"gpus\":1,\"memory_gib\":1}},"
		 "\"regions_with_capacity_available\":[{\"name\":\"r\"}]}}}",
		 false}};

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_uuid();
	run(routes,
	    "offer a { provider = lambda type = t region = r price = \"5\" }\n"
	    "offer b { provider = lambda type = t region = s price = \"5\" }\n",
	    "lambda", false);
	assert_line("ok: offer \"a\" of pool \"p\": t in r, on-demand: 5.00 EUR per hour, as "
		    "burstd.conf says; some are free now" LAMBDA);
	assert_line("ok: offer \"b\" of pool \"p\": t in s, on-demand: 5.00 EUR per hour, as "
		    "burstd.conf says; none is free now" LAMBDA);
	assert_int_equal(b->rc, 0); /* none now is not wrong */
	run(routes, "offer a { provider = lambda type = t region = r price = \"5\" }\n", "lambda",
	    true);
	assert_non_null(strstr(out, "\"cpus\":1,\"gpus\":1,\"memory_mb\":1024}"));
}

#define TERMS(rest)                                                                                \
	"{\"type\":\"t\",\"region\":\"r\",\"zone\":\"z\",\"market\":\"on-demand\",\"price\":"      \
	"\"1\","                                                                                   \
	"\"currency\":\"EUR\"," rest "}"

/* The longest step and minimum of those that fit; some in one zone are some. */
static void test_the_terms_of_an_offer_are_told(void **state)
{
	const struct route routes[ROUTES] = {
		WELL,
		{QUOTES, OK,
		 OFFERS(TERMS("\"quantum_ms\":3600000,\"minimum_ms\":0,\"stock\":\"none\","
			      "\"interconnect\":\"ib\"") "," TERMS("\"minimum_ms\":1200000,"
								   "\"stock\":\"some\"")),
		 false}};

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_uuid();
	run(routes, ANY, "sim", false);
	assert_line(
		"ok: pool \"p\": t in r, on-demand: 1.00 EUR per hour; some are free now; billed "
		"in steps of 1h00m; at least 20m00s are billed" DATA "; interconnect: ib");
	run(routes, ANY, "sim", true);
	assert_non_null(strstr(out, "\"free\":true,\"quantum_ms\":3600000,\"minimum_ms\":1200000,"
				    "\"user_data\":\"cloud-init\",\"user_data_max\":65536,"
				    "\"interconnect\":\"ib\"}"));
}

/* Ironic is asked for each type by itself, so offers of one type must not be asked for twice. */
static void test_each_type_is_asked_for_once(void **state)
{
	const struct route routes[ROUTES] = {
		{"GET /v1/nodes?resource_class=t", OK, "{\"nodes\":[{\"resource_class\":\"t\"}]}",
		 false},
		{"GET /v1/nodes", OK, "{\"nodes\":[]}", false},
		{"GET /v1/allocations", OK, "{\"allocations\":[]}", false}};
	const char *first;

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_uuid();
	run(routes,
	    "offer a { provider = ironic type = t region = r price = \"5\" }\n"
	    "offer b { provider = ironic type = t region = s price = \"5\" }\n",
	    "ironic", false);
	assert_int_equal(b->rc, 0);
	assert_line("ok: quotes: 1");
	assert_line("ok: credential: none is configured, and none was asked for");
	first = strstr(asked, "resource_class=t");
	assert_non_null(first);
	assert_null(strstr(first + 1, "resource_class=t"));
}

/* Without a session nothing is asked, and that is wrong: the machine's role has steps, and its
 * session may have ended. */
static void test_a_login_that_fails_is_told(void **state)
{
	const struct route routes[ROUTES] = {
		{"PUT /latest/api/token", OK, "token", false},
		{"GET /latest/meta-data/iam/security-credentials/burst", OK,
		 "{\"Code\":\"Success\",\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"S\",\"Token\":"
		 "\"T\","
		 "\"Expiration\":\"2015-01-01T00:00:00Z\"}",
		 false},
		{"GET /latest/meta-data/iam/security-credentials/", OK, "burst", false}};

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_uuid();
	run(NULL, "provider = aws type = t region = r price = \"5\"", "aws", false);
	assert_int_equal(b->rc, 1);
	assert_non_null(strstr(out, "not ok: login: no answer: "));
	assert_line("not tried: credential: not known: the provider has not judged it");
	assert_line("not tried: list: without a session nothing can be asked");
	run(routes, "provider = aws type = t region = r price = \"5\"", "aws", false);
	assert_int_equal(b->rc, 1);
	assert_line("not ok: login: invalid: the session has ended already");
	assert_null(strstr(asked, "POST"));
}

/* Before burstd was ever started there is no uuid, and a look makes none. */
static void test_it_works_before_burstd_has_run(void **state)
{
	const struct route routes[ROUTES] = {WELL, PRICED};

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_uuid();
	(void)unlink(lab_path("state/uuid"));
	run(routes, ANY, "sim", false);
	assert_int_equal(b->rc, 0);
	assert_line("ok: list: no instance is this cluster's: burstd has not run yet");
	assert_int_equal(access(lab_path("state/uuid"), F_OK), -1);
	assert_int_equal(access(lab_path("state/lock"), F_OK), -1);
}

static void test_a_configuration_without_providers_is_told(void **state)
{
	char *file = mem_strdup(lab_path("burstd.conf")), line[256];
	const char *argv[] = {"burstd", "--check", "--provider", "sim", file, NULL};
	FILE *f = fopen(file, "w");

	(void)state;
	assert_non_null(f);
	(void)fprintf(f, "cluster = \"prod\"\ncurrency = \"EUR\"\n");
	assert_int_equal(fclose(f), 0);
	lab_start_args(b, (char *const *)(uintptr_t)argv);
	lab_finish(b);
	read_file("out", out);
	assert_int_equal(b->rc, 1);
	(void)snprintf(line, sizeof(line),
		       "not ok: configuration: %s has no provider \"sim\", nor any other", file);
	assert_line(line);
	free(file);
}

/* Nobody listens; there is no such provider; its driver, or its credential, is not there. */
static void test_what_keeps_it_from_asking_is_told(void **state)
{
	char line[256];

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_uuid();
	run(NULL, ANY, "sim", false);
	assert_int_equal(b->rc, 1);
	assert_non_null(strstr(out, "not ok: list: no answer: "));
	run(NULL, ANY, "smi", false);
	assert_int_equal(b->rc, 1);
	(void)snprintf(line, sizeof(line),
		       "not ok: configuration: %s has no provider \"smi\"; there are: sim, bad, "
		       "aws, lambda, ironic, lyceum",
		       lab_path("burstd.conf"));
	assert_line(line);
	run(NULL, ANY, "bad", false);
	assert_int_equal(b->rc, 1);
	assert_non_null(strstr(out, ":5: provider \"bad\": no driver \"nosuch\"; there are: "));
	assert_int_equal(unlink(lab_path("token")), 0);
	run(NULL, ANY, "sim", false);
	assert_int_equal(b->rc, 1);
	assert_non_null(strstr(out, "provider \"sim\": credential_file: "));
	assert_null(strstr(out, "list"));
}

static void test_json(void **state)
{
	const struct route routes[ROUTES] = {
		{LIST, OK, LISTED(ROW("i-1", UUID, "running"), ""), false}, PRICED};

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_uuid();
	run(routes, ANY, "sim", true);
	assert_int_equal(b->rc, 0);
	assert_non_null(strstr(out, "\"provider\":\"sim\",\"good\":true,\"checks\":["));
	assert_non_null(strstr(out, "{\"check\":\"list\",\"state\":\"ok\",\"says\":\"1 instance is "
				    "this cluster's\",\"instances\":1}"));
	assert_non_null(strstr(out, "\"pool\":\"p\",\"offer\":\"\",\"type\":\"t\",\"region\":\"r\","
				    "\"zone\":\"\",\"market\":\"on-demand\",\"price\":\"2.50\","
				    "\"currency\":\"EUR\",\"user_data\":\"cloud-init\","
				    "\"user_data_max\":65536}"));
	run(NULL, ANY, "sim", true);
	assert_int_equal(b->rc, 1);
	assert_non_null(strstr(out, "\"good\":false"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_answer_is_told),
		cmocka_unit_test(test_an_offer_that_the_driver_refuses_is_wrong),
		cmocka_unit_test(test_what_is_free_is_told_where_the_provider_says_so),
		cmocka_unit_test(test_the_terms_of_an_offer_are_told),
		cmocka_unit_test(test_each_type_is_asked_for_once),
		cmocka_unit_test(test_a_login_that_fails_is_told),
		cmocka_unit_test(test_it_works_before_burstd_has_run),
		cmocka_unit_test(test_a_configuration_without_providers_is_told),
		cmocka_unit_test(test_what_keeps_it_from_asking_is_told),
		cmocka_unit_test(test_json),
	};
	int rc;

	if (!lab_open(&rc))
		return rc;
	b = mem_zalloc(sizeof(*b));
	rc = cmocka_run_group_tests_name("burstd --check --provider", tests, NULL, NULL);
	free(b);
	return rc;
}
