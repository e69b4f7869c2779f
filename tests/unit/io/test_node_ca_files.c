/* test_node_ca_files.c - the files of the authority: kept over a restart, and replaced. */
#include "node_ca_lab.h"

static void keys_stay_over_a_restart_and_are_ours_alone(void **state)
{
	struct fixture *f = *state;
	struct node_ca_cert c = sign(f, "c1", 1, now);
	char *trust = mem_strdup(node_ca_trust(f->ca));
	struct node_ca_peer peer;
	struct stat st;
	struct err e;

	assert_int_equal(stat(in_dir(f, "node-ca.pem"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_null(strstr(trust, "PRIVATE"));
	node_ca_close(f->ca);
	open_at(f, now + day / 2);
	assert_string_equal(node_ca_trust(f->ca), trust);
	assert_int_equal(check(f, c.pem, now + day / 2, &peer, &e), 0);
	free(trust);
}

static void refused_to_open(struct fixture *f, enum err_code code, const char *why)
{
	struct node_ca *ca;
	struct err e = {0};

	assert_int_equal(node_ca_open(&ca, f->dir, "north", now, &e), -1);
	assert_null(ca);
	if (e.code != (int)code || strstr(e.msg, why) == NULL)
		fail_msg("want %d '%s', got %d '%s'", code, why, e.code, e.msg);
}

static void a_file_that_is_not_ours_alone_or_damaged_is_refused_and_kept(void **state)
{
	struct fixture *f = *state;
	char path[128], other[128];
	struct stat before, after;

	(void)snprintf(path, sizeof(path), "%s", in_dir(f, "node-ca.pem"));
	(void)snprintf(other, sizeof(other), "%s", in_dir(f, "other"));
	assert_int_equal(chmod(path, 0640), 0);
	refused_to_open(f, ERR_AUTH, "mode 0600");
	assert_int_equal(chmod(path, 0602), 0);
	refused_to_open(f, ERR_AUTH, "mode 0600");
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink("other", path), 0);
	refused_to_open(f, ERR_AUTH, "node-ca.pem");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	refused_to_open(f, ERR_AUTH, "mode 0600");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rename(other, path), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		refused_to_open(f, ERR_AUTH, "owned by this user");
		assert_int_equal(chown(path, 0, 0), 0);
	}
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(truncate(path, before.st_size / 2), 0);
	refused_to_open(f, ERR_INVALID, "damaged");
	assert_int_equal(truncate(path, 0), 0);
	refused_to_open(f, ERR_INVALID, "damaged");
	assert_int_equal(stat(path, &after), 0);
	assert_true(before.st_ino == after.st_ino); /* never replaced by a new one */
}

static void a_key_and_a_certificate_that_do_not_belong_together_are_refused(void **state)
{
	struct fixture *f = *state;
	BIO *b = mem_check(BIO_new_file(in_dir(f, "node-ca.pem"), "w"));
	X509 *cert = parse(node_ca_trust(f->ca));

	(void)PEM_write_bio_PKCS8PrivateKey(b, f->key, NULL, NULL, 0, NULL, NULL);
	(void)PEM_write_bio_X509(b, cert);
	BIO_free(b);
	X509_free(cert);
	refused_to_open(f, ERR_INVALID, "damaged");
}

static bool exists(const struct fixture *f, const char *name)
{
	return access(in_dir(f, name), F_OK) == 0;
}

static void the_next_key_is_told_before_it_takes_over(void **state)
{
	static const char *const names[] = {"burst.example.org"};
	const int64_t end = now + 3 * 365 * day;
	struct fixture *f = *state;
	char *first = mem_strdup(node_ca_trust(f->ca)), *both;
	struct node_ca_cert before, after;
	struct node_ca_server s;
	struct node_ca_peer peer;
	struct err e;

	assert_int_equal(node_ca_roll(f->ca, end - 365 * day, &e), 0);
	assert_false(exists(f, "node-ca-next.pem"));
	assert_int_equal(node_ca_roll(f->ca, end - 364 * day, &e), 1);
	assert_true(exists(f, "node-ca-next.pem"));
	both = mem_strdup(node_ca_trust(f->ca));
	assert_true(strlen(both) > 3 * strlen(first) / 2 && strstr(both, first) == both);
	before = sign(f, "c1", 1, end - 91 * day);
	assert_true(is_trusted(first, before.pem, X509_PURPOSE_SSL_CLIENT, NULL, end - 91 * day));
	assert_int_equal(node_ca_roll(f->ca, end - 91 * day, &e), 0);
	node_ca_close(f->ca); /* and the same after a restart */
	open_at(f, end - 90 * day + day / 2);
	assert_false(exists(f, "node-ca-next.pem"));
	assert_true(exists(f, "node-ca-old.pem"));
	after = sign(f, "c1", 2, end - 89 * day);
	assert_false(is_trusted(first, after.pem, X509_PURPOSE_SSL_CLIENT, NULL, end - 89 * day));
	/* Who was told of both believes the listener now. */
	assert_int_equal(node_ca_serve(f->ca, names, 1, end - 89 * day, &s, &e), 0);
	assert_true(is_trusted(both, s.pem, X509_PURPOSE_SSL_SERVER, names[0], end - 89 * day));
	assert_int_equal(check(f, after.pem, end - 89 * day, &peer, &e), 0);
	assert_int_equal(check(f, before.pem, end - 91 * day, &peer, &e), 0); /* by the old one */
	node_ca_close(f->ca);
	open_at(f, end - 89 * day);
	assert_int_equal(check(f, before.pem, end - 91 * day, &peer, &e), 0);
	assert_int_equal(node_ca_roll(f->ca, end + 2 * day, &e), 1);
	assert_false(exists(f, "node-ca-old.pem"));
	free(first);
	free(both);
}

static void a_take_over_that_was_cut_short_is_done_again(void **state)
{
	const int64_t end = now + 3 * 365 * day;
	struct fixture *f = *state;
	struct node_ca_cert c;
	struct node_ca_peer peer;
	FILE *old;
	struct err e;

	assert_int_equal(node_ca_roll(f->ca, end - 300 * day, &e), 1);
	/* The old one was written, the next did not take its place yet; and what was begun then. */
	old = fopen(in_dir(f, "node-ca-old.pem"), "w");
	assert_non_null(old);
	assert_int_equal(fchmod(fileno(old), 0600), 0);
	(void)fputs(strstr(node_ca_trust(f->ca), "-----BEGIN"), old);
	(void)fclose(old);
	(void)close(open(in_dir(f, "node-ca.pem.tmp"), O_CREAT | O_WRONLY, 0600));
	node_ca_close(f->ca);
	open_at(f, end - 300 * day);
	c = sign(f, "c1", 1, end - 300 * day);
	assert_int_equal(check(f, c.pem, end - 300 * day, &peer, &e), 0);
	assert_int_equal(node_ca_roll(f->ca, end - 80 * day, &e), 1);
	assert_false(exists(f, "node-ca-next.pem"));
	c = sign(f, "c1", 2, end - 80 * day);
	assert_int_equal(check(f, c.pem, end - 80 * day, &peer, &e), 0);
}

static void a_certificate_ends_with_its_authority_at_the_latest(void **state)
{
	const int64_t end = now + 3 * 365 * day;
	struct fixture *f = *state;
	struct node_ca_cert c = sign(f, "c1", 1, end - 3600000);

	assert_true(c.until_ms == end);
}

static void a_key_that_is_missing_while_the_next_is_there_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct err e;

	assert_int_equal(node_ca_roll(f->ca, now + 900 * day, &e), 1);
	assert_int_equal(unlink(in_dir(f, "node-ca.pem")), 0);
	refused_to_open(f, ERR_INVALID, "missing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keys_stay_over_a_restart_and_are_ours_alone),
		TEST(a_file_that_is_not_ours_alone_or_damaged_is_refused_and_kept),
		TEST(a_key_and_a_certificate_that_do_not_belong_together_are_refused),
		TEST(the_next_key_is_told_before_it_takes_over),
		TEST(a_take_over_that_was_cut_short_is_done_again),
		TEST(a_certificate_ends_with_its_authority_at_the_latest),
		TEST(a_key_that_is_missing_while_the_next_is_there_is_an_error),
	};

	return cmocka_run_group_tests_name("node_ca_files", tests, NULL, NULL);
}
