/* The daemon as a program: how it starts, reloads and ends. */
#include "lab.h"
#include "running.h"

#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "io/ctl_client.h"

static int connect_idle(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = PATHS_SOCKET};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* SIGTERM and SIGINT end it with status 0 and everything closed, whatever is still under way: a
 * scontrol that hangs, a provider that does not answer, a caller that says nothing. */
static void test_stop(void **state)
{
	static const struct {
		int signal;
		const char *scontrol;
	} rows[] = {
		{SIGTERM, "#!/bin/sh\nexit 1\n"},
		{SIGINT, "#!/bin/sh\nexit 1\n"},
		{SIGTERM, "#!/bin/sh\nexec sleep 600\n"},
	};
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t began;
		int fd;

		print_message("# %s: %s", strsignal(rows[i].signal), rows[i].scontrol + 10);
		lab_make_files(rows[i].scontrol);
		lab_start_ready(b);
		fd = connect_idle();
		began = clock_boot_ms();
		assert_int_equal(kill(b->pid, rows[i].signal), 0);
		lab_finish(b);
		(void)close(fd);
		if (b->rc != 0)
			print_error("%s\n", b->text);
		assert_int_equal(b->rc, 0);
		assert_true(clock_boot_ms() - began < LAB_PATIENCE_MS / 2);
		assert_closed();
	}
	free(b);
}

/* Who obeyed this could make no certificate. */
static void leave_no_algorithms(void)
{
	lab_write("openssl.cnf",
		  "openssl_conf = a\n[a]\nproviders = b\n[b]\nc = d\n[d]\n"
		  "module = /nonexistent.so\nactivate = 1\n",
		  0644);
	assert_int_equal(setenv("OPENSSL_CONF", lab_path("openssl.cnf"), 1), 0);
}

/* What machines that boot are to know is made once and kept; they are heard from the start to the
 * end. */
static void test_nodes(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));
	struct sockaddr_in sa = lab_free_place();
	struct stat st[2];
	int fd;

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_conf_nodes("", "127.0.0.1", ntohs(sa.sin_port));
	leave_no_algorithms();
	for (size_t i = 0; i < 2; i++) {
		lab_start_ready(b);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
		lab_stop(b);
		(void)close(fd);
		assert_int_equal(b->rc, 0);
		assert_closed();
		assert_int_equal(stat(lab_path("state/claim-key"), &st[i]), 0);
		assert_int_equal(st[i].st_mode & 07777, 0600);
		assert_int_equal(access(lab_path("state/node-ca.pem"), F_OK), 0);
	}
	assert_int_equal(unsetenv("OPENSSL_CONF"), 0);
	assert_int_equal(st[0].st_ino, st[1].st_ino);
	assert_int_equal(chmod(lab_path("state/claim-key"), 0644), 0);
	lab_start(b, "-c", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(b->rc, LAB_BAD_CONF); /* a person must look */
	assert_non_null(strstr(b->text, "claim-key: must be a regular file owned by this user"));
	assert_non_null(strstr(b->text, "hint=\"1. start it by systemctl"));
	assert_int_equal(unlink(lab_path("state/claim-key")), 0);
	lab_write_conf(NULL, NULL);
	free(b);
}

static void test_reload(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_start_ready(b);
	ASK("{\"ok\":true,\"changes\":[],\"at_restart\":[]}");
	lab_write_conf("max_nodes = 8", "max_nodes = 4 boot_timeout = 20m");
	lab_write("token", "secret-two", 0600);
	ASK("\"text\":\"pool \\\"p\\\" max_nodes: 8 -> 4\"",
	    "\"text\":\"pool \\\"p\\\" boot_timeout: 10m -> 20m\"",
	    "\"at_restart\":[\"provider \\\"sim\\\" credential_file: ", "holds another secret\"]");
	ASK("{\"ok\":true,\"changes\":[],\"at_restart\":[\"provider");
	assert_int_equal(unlink(lab_path("token")), 0);
	ASK("\"changes\":[],\"at_restart\":[\"provider \\\"sim\\\" credential_file: ",
	    "No such file");
	lab_write_conf("currency", "listen = \"127.0.0.1:1\"\ncurrency");
	ASK("{\"ok\":false,", "listen: a change needs a restart");
	lab_write_conf(NULL, NULL);
	assert_int_equal(kill(b->pid, SIGHUP), 0);
	assert_true(lab_read_until(b, "max_nodes: 4 -> 8"));
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	assert_null(strstr(b->text, "secret-")); /* I25 */
	free(b);
}

#define LAST_AGREED "SELECT nano_h FROM price WHERE source = 'contract' ORDER BY seq DESC"

/* prices.conf is read at the start and at each reload, which a fault in it refuses; what it says is
 * in the journal. */
static void test_negotiated_prices(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("currency", "prices_file = \"DIR/prices.conf\"\ncurrency");
	lab_start(b, "-c", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(b->rc, LAB_BAD_CONF);
	assert_non_null(strstr(b->text, "prices.conf: No such file or directory"));
	lab_write("prices.conf", "price sim { type = t price = 2 currency = EUR }\n", 0600);
	lab_start_ready(b);
	ASK("{\"ok\":true,\"changes\":[],");
	lab_write("prices.conf", "price sim { type = t price = 3 currency = EUR }\n", 0600);
	ASK("prices_file: ", "prices.conf -> the same file, with other prices");
	lab_write("prices.conf", "price sim {\n type = t price = no currency = EUR }\n", 0600);
	ASK("{\"ok\":false,", "prices.conf:2: price \\\"sim\\\": price: ");
	lab_write("prices.conf", "price sim { type = t price = 4 currency = EUR }\n", 0600);
	assert_int_equal(kill(b->pid, SIGHUP), 0);
	assert_true(lab_read_until(b, "with other prices"));
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	assert_int_equal(ask_journal("SELECT count(*) FROM price WHERE source = 'contract'"), 3);
	assert_int_equal(ask_journal(LAST_AGREED), INT64_C(4000000000));
	lab_write_conf(NULL, NULL);
	free(b);
}

/* A process of a user in that group, and in no other: may it reconcile? */
static bool group_may(gid_t gid)
{
	char *answer = NULL;
	size_t len;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (setgroups(1, &gid) != 0 || setresgid(4242, 4242, 4242) != 0 ||
		    setresuid(4242, 4242, 4242) != 0 ||
		    ctl_client_ask(PATHS_SOCKET, "{\"v\":1,\"op\":\"reconcile\"}", LAB_PATIENCE_MS,
				   &answer, &len, NULL) != 0)
			_exit(2);
		_exit(strstr(answer, "{\"ok\":true") != NULL ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 0;
}

/* A reload lets somebody in, and out, and a group that is none leaves all as it was. */
static void test_roles_are_reloaded(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	if (!lab_root || geteuid() != 0)
		skip();
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("currency", "operator_groups = {\"4711\"}\ncurrency");
	lab_start_ready(b);
	assert_true(group_may(4711));
	assert_false(group_may(4712));
	lab_write_conf("currency", "operator_groups = {\"4712\"}\ncurrency");
	ASK("operator_groups: \\\"4711\\\" -> \\\"4712\\\"");
	assert_false(group_may(4711));
	assert_true(group_may(4712));
	lab_write_conf("currency", "operator_groups = {\"4711\", \"no-such-group\"}\ncurrency");
	ASK("{\"ok\":false,", "operator_groups: there is no group \\\"no-such-group\\\"");
	assert_false(group_may(4711));
	assert_true(group_may(4712));
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	assert_non_null(strstr(b->text, "role=operator"));
	lab_write_conf(NULL, NULL);
	free(b);
}

/* An admin sees all of them at once; what is the caller's own the host's list of users decides. */
static void test_budgets(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("slurm {", "budget all {\namount = \"500.00\" notify_at = {80}\n}\n"
				  "budget own {\nusers = {root} amount = \"20.00\" rate = "
				  "\"4.00\"\n}\nslurm {");
	lab_start_ready(b);
	ASK_OP("budgets", "\"name\":\"all\",\"each\":\"\",\"value\":\"\",\"period\":{\"name\":\"20",
	       "\"amount\":\"500.00\",\"spent\":\"0.00\"", "\"left\":\"500.00\"",
	       "\"notify_at\":[80]", "\"name\":\"own\"", "\"rate_limit\":\"4.00\"");
	ask("{\"v\":1,\"op\":\"budgets\",\"mine\":true}",
	    (const char *const[]){"\"user\":\"root\",\"budgets\":[{\"name\":\"own\","}, 1);
	lab_write_conf("slurm {", "budget all {\namount = \"600.00\"\n}\nslurm {");
	ASK("budget");
	ASK_OP("budgets", "\"amount\":\"600.00\"", "}],\"next\":\"\"");
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	lab_write_conf(NULL, NULL);
	free(b);
}

/* The keys are in it for a moment, and credentials for as long as it runs.  (That nobody else of
 * its user may look at it either only shows where that is not root: tests/e2e/bootstrap.bats.) */
static void test_its_memory_is_in_no_core_file(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));
	char path[64], text[4096] = "";
	FILE *f;

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_start_ready(b);
	(void)snprintf(path, sizeof(path), "/proc/%d/limits", (int)b->pid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	(void)fclose(f);
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	assert_non_null(strstr(text, "\nMax core file size        0                    0 "));
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_its_memory_is_in_no_core_file),
		cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_negotiated_prices),
		cmocka_unit_test(test_roles_are_reloaded),
		cmocka_unit_test(test_budgets),
	};
	int rc;

	if (!lab_open(&rc))
		return rc;
	return cmocka_run_group_tests_name("burstd", tests, NULL, NULL);
}
