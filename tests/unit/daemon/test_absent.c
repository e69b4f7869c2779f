/* What is not there at the start, a port, an address, a file, keeps burstd from nothing else. */
#include "lab.h"
#include "running.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

/* A socket with a port of its own on the loopback, in *sa; as long as it is open nobody else can
 * have that port. */
static int take_port(struct sockaddr_in *sa)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*sa);

	*sa = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)sa, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)sa, &len), 0);
	return fd;
}

/* docs/threats.md: any user of this machine can have bound the ports while burstd was down.  It
 * starts, answers, reloads, says so, and has them when they are free. */
static void test_ports_that_others_have_keep_it_from_nothing_else(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));
	struct sockaddr_in metrics, nodes;
	int taken[] = {take_port(&metrics), take_port(&nodes)}, fd[2];
	char top[64];

	(void)state;
	assert_int_equal(listen(taken[0], 1), 0);
	assert_int_equal(listen(taken[1], 1), 0);
	lab_make_files("#!/bin/sh\nexit 1\n");
	(void)snprintf(top, sizeof(top), "listen = \"127.0.0.1:%u\"", ntohs(metrics.sin_port));
	write_conf_nodes(top, "127.0.0.1", ntohs(nodes.sin_port));
	lab_start_ready(b);
	assert_non_null(strstr(b->text, "msg=\"the listener of /metrics is off\" error="));
	assert_non_null(strstr(b->text, "msg=\"the listener for nodes is off\" error="));
	ASK_OP("status", "\"nodes cannot reach burstd: ", "\"/metrics is not served: cannot listen",
	       "Address already in use");
	ASK("{\"ok\":true,\"changes\":[],\"at_restart\":[]}");
	(void)close(taken[0]);
	(void)close(taken[1]);
	assert_true(lab_read_until(b, "msg=\"the listener of /metrics is on again\""));
	assert_true(lab_read_until(b, "msg=\"the listener for nodes is on again\""));
	for (int i = 0; i < 2; i++) {
		const struct sockaddr_in *sa = i == 0 ? &metrics : &nodes;

		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fd[i], (const struct sockaddr *)sa, sizeof(*sa)), 0);
	}
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	assert_int_equal(count(b->text, "is off"), 2); /* once each, however often it was tried */
	assert_closed();
	(void)close(fd[0]);
	(void)close(fd[1]);
	free(b);
}

/* An address that this machine does not have may come later; burstd ends before. */
static void test_an_address_that_is_not_here(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_conf_nodes("", "192.0.2.1", 8443);
	lab_start_ready(b);
	assert_non_null(strstr(b->text, "cannot listen on 192.0.2.1 port 8443: "));
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	assert_closed();
	lab_write_conf(NULL, NULL);
	free(b);
}

/* What new machines need must not keep what runs from being seen to: burstd starts, says so, and
 * goes on when it is there. */
static void test_files_for_new_machines_that_are_away(void **state)
{
	static const struct {
		const char *name, *off, *on, *problem;
	} files[] = {
		{"secret-id", "msg=\"the secret store is off\"",
		 "msg=\"the secret store is on again\"",
		 "the secret store https://127.0.0.1:1 has given out no keys"},
		{"vault-ca", "msg=\"the secret store is off\"",
		 "msg=\"the secret store is on again\"",
		 "the secret store https://127.0.0.1:1 has given out no keys"},
		{"node-init", "msg=\"node-init cannot be read\"",
		 "msg=\"node-init can be read again\"", "no node that needs it is bought"},
	};
	struct burstd *b = mem_zalloc(sizeof(*b));
	char want[64];

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("slurm {",
		       "secrets {\ndriver = vault address = \"https://127.0.0.1:1\" name = b "
		       "role_id = r\ncredential_file = \"DIR/secret-id\" ca_file = "
		       "\"DIR/vault-ca\"\n}\nnodes {\nlisten = \"127.0.0.1:1\" url = "
		       "{\"https://127.0.0.1:1\"} conf_server = {\"c:1\"}\nnode_init = "
		       "\"DIR/node-init\"\n}\nslurm {");
	for (size_t i = 0; i < COUNT(files); i++) {
		lab_write("node-init", "an-init\n", 0600);
		lab_write("secret-id", "an-id\n", 0600);
		lab_write("vault-ca", "PEM\n", 0600);
		assert_int_equal(unlink(lab_path(files[i].name)), 0);
		lab_start_ready(b);
		(void)snprintf(want, sizeof(want), "%s: No such file or directory", files[i].name);
		assert_true(lab_read_until(b, files[i].off));
		ASK_OP("status", files[i].problem, want);
		lab_write(files[i].name, "an-id", 0600);
		ASK("{\"ok\":true,");
		assert_true(lab_read_until(b, files[i].on));
		lab_stop(b);
		assert_int_equal(b->rc, 0);
	}
	lab_write_conf(NULL, NULL);
	free(b);
}

/* Nor must one provider's damaged file: the others' lists and deletes go on. */
static void test_a_file_of_roots_that_is_damaged(void **state)
{
	static const char *const texts[] = {"", "garbage\n"};
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	write_conf_nodes("provider far {\ndriver = sim url = \"http://127.0.0.1:1\" "
			 "credential_file = \"DIR/token\"\nattest = azure attest_ca_file = "
			 "\"DIR/roots\"\n}",
			 "127.0.0.1", 1);
	for (size_t i = 0; i < COUNT(texts); i++) {
		lab_write("roots", texts[i], 0600);
		lab_start_ready(b);
		assert_true(lab_read_until(b, "msg=\"a provider is off\" provider=far"));
		ASK_OP("status", "provider far is off: attest_ca_file: ",
		       "no root (self-signed) certificate");
		lab_stop(b);
		assert_int_equal(b->rc, 0);
	}
	lab_write_conf(NULL, NULL);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports_that_others_have_keep_it_from_nothing_else),
		cmocka_unit_test(test_an_address_that_is_not_here),
		cmocka_unit_test(test_files_for_new_machines_that_are_away),
		cmocka_unit_test(test_a_file_of_roots_that_is_damaged),
	};
	int rc;

	if (!lab_open(&rc))
		return rc;
	return cmocka_run_group_tests_name("absent", tests, NULL, NULL);
}
