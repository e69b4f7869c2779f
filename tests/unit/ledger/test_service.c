/* test_service.c - burst-ledger run as systemd's service: when it is ready, that it says that it
 * lives, and when it is not to be started again. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "fixture.h"
#include "ledger/command.h"

enum { PATIENCE_MS = 30000, TEXT_SIZE = 512 };

static const char conf[] = "cluster = lab\ncurrency = EUR\nstate_dir = \"%s\"\n"
			   "slurm { bin_dir = \"%s\" }\n"
			   "provider sim { driver = sim url = \"http://127.0.0.1:1\"\n"
			   " credential_file = \"/token\" }\n"
			   "pool p { nodes = \"c[1-8]\" provider = sim type = t region = r\n"
			   " max_nodes = 8 max_rate = \"300\" }\n";

struct service {
	struct fixture *f;
	char conf[64], socket[64];
	int notify; /* where systemd would listen */
	pid_t pid;
};

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void begin(struct service *sv, struct fixture *f)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	char text[TEXT_SIZE];

	*sv = (struct service){.f = f, .pid = -1};
	(void)snprintf(sv->conf, sizeof(sv->conf), "%s/burstd.conf", f->dir);
	(void)snprintf(sv->socket, sizeof(sv->socket), "%s/ctl.sock", f->dir);
	(void)snprintf(text, sizeof(text), conf, f->dir, f->dir);
	write_file(sv->conf, text, 0644);
	(void)snprintf(text, sizeof(text), "%s/squeue", f->dir);
	write_file(text, "#!/bin/sh\nexit 1\n", 0755);
	(void)snprintf(text, sizeof(text), "%s/sacct", f->dir);
	write_file(text, "#!/bin/sh\nexit 1\n", 0755);
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/notify", f->dir);
	sv->notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(sv->notify, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", sa.sun_path, 1), 0);
	ledger_close(f->l);
	f->l = NULL;
}

static void run(struct service *sv)
{
	const struct settings s = {.config = sv->conf, .socket = sv->socket, .interval_ms = 60000};

	sv->pid = fork();
	assert_true(sv->pid >= 0);
	if (sv->pid == 0)
		_exit(command_run(&s));
}

/* The next message; "": none comes. */
static const char *told(const struct service *sv, int ms)
{
	static char text[TEXT_SIZE];
	struct pollfd p = {.fd = sv->notify, .events = POLLIN};
	ssize_t n = 0;

	if (poll(&p, 1, ms) == 1)
		n = recv(sv->notify, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static int end(struct service *sv)
{
	const int64_t until = clock_boot_ms() + PATIENCE_MS;
	int status = 0;
	pid_t got;

	while ((got = waitpid(sv->pid, &status, WNOHANG)) == 0) {
		if (clock_boot_ms() > until)
			(void)kill(sv->pid, SIGKILL);
		(void)poll(NULL, 0, 5);
	}
	assert_int_equal(got, sv->pid);
	(void)close(sv->notify);
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("BURST_TEST_DESK");
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Ready is when the desk is; from then on the watchdog is fed twice in its time, though a pass
 * comes once a minute. */
static void test_ready_and_alive(void **state)
{
	struct service sv;
	char go[80];

	begin(&sv, *state);
	(void)snprintf(go, sizeof(go), "%s/go", sv.f->dir);
	assert_int_equal(setenv("WATCHDOG_USEC", "600000", 1), 0);
	assert_int_equal(setenv("BURST_TEST_DESK", go, 1), 0);
	run(&sv);
	assert_string_equal(told(&sv, 500), "");
	write_file(go, "", 0600);
	assert_string_equal(told(&sv, PATIENCE_MS), "READY=1");
	for (int i = 0; i < 3; i++)
		assert_string_equal(told(&sv, PATIENCE_MS), "WATCHDOG=1");
	assert_int_equal(kill(sv.pid, SIGTERM), 0);
	assert_int_equal(end(&sv), 0);
	(void)unlink(go);
}

/* Without systemd nothing is told, and no timer runs. */
static void test_without_a_watchdog(void **state)
{
	struct service sv;

	begin(&sv, *state);
	run(&sv);
	assert_string_equal(told(&sv, PATIENCE_MS), "READY=1");
	assert_string_equal(told(&sv, 1000), "");
	assert_int_equal(kill(sv.pid, SIGTERM), 0);
	assert_int_equal(end(&sv), 0);
}

/* A desk that does not start is no reason to wait for ever: passes go on without. */
static void test_no_desk(void **state)
{
	struct service sv;

	begin(&sv, *state);
	assert_int_equal(setenv("BURST_TEST_DESK", "", 1), 0);
	run(&sv);
	assert_string_equal(told(&sv, PATIENCE_MS), "READY=1");
	assert_int_equal(kill(sv.pid, SIGTERM), 0);
	assert_int_equal(end(&sv), 0);
}

/* A ledger that was written by a newer version is left alone, and the service is not started again
 * each half minute; a journal that is away is no such thing. */
static void test_a_newer_ledger(void **state)
{
	struct service sv;
	struct fixture *f = *state;

	begin(&sv, f);
	exec(f->ledger, "PRAGMA user_version = 999");
	run(&sv);
	assert_int_equal(end(&sv), COMMAND_GIVE_UP);
	assert_int_equal(ask(f->ledger, "PRAGMA user_version"), 999);
}

/* This program as its own desk, as burst-ledger is. */
static int be_desk(void)
{
	const char *go = getenv("BURST_TEST_DESK");

	while (go != NULL && go[0] != '\0' && access(go, F_OK) != 0)
		(void)poll(NULL, 0, 10);
	if (go != NULL && go[0] == '\0')
		return 1;
	(void)puts("ready");
	(void)fflush(stdout);
	(void)pause();
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ready_and_alive),
		TEST(test_without_a_watchdog),
		TEST(test_no_desk),
		TEST(test_a_newer_ledger),
	};

	if (argc > 1 && strcmp(argv[1], "desk") == 0)
		return be_desk();
	return cmocka_run_group_tests_name("service", tests, NULL, NULL);
}
