/* test_node_server_tls.c - certificates, keys and versions of TLS at the node-facing listener. */
#include "node_listener.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>

#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

/* --- certificates ----------------------------------------------------------------------------- */

static void a_client_without_a_certificate_is_served_as_nobody(void **state)
{
	char out[4096];

	(void)state;
	start();
	assert_int_equal(once(NULL, "/a%20b?x=1", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "GET /a b?x=1 from=127.0.0.1 accept=text/plain auth=- n=0 "));
	assert_null(strstr(out, "cn="));
}

static void a_good_certificate_says_who_it_is(void **state)
{
	char out[4096];

	(void)state;
	start();
	assert_int_equal(once(&node, "/", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "cn=c7 urn=urn:burst:node:c7:3 serial=4a07 left=23"));
}

/* As node_ca.h and claims know a key: what GnuTLS says is what OpenSSL would. */
static void hash_of(const struct tls_id *id, char out[2 * SHA256_DIGEST_LENGTH + 1])
{
	unsigned char *der = NULL, hash[SHA256_DIGEST_LENGTH];
	BIO *bio = BIO_new_mem_buf(id->cert, -1);
	X509 *x = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	int n = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x), &der);

	assert_true(n > 0);
	assert_non_null(SHA256(der, (size_t)n, hash));
	for (size_t i = 0; i < sizeof(hash); i++)
		(void)snprintf(out + 2 * i, 3, "%02x", hash[i]);
	OPENSSL_free(der);
	X509_free(x);
	BIO_free(bio);
}

static void a_certificate_is_known_by_the_hash_of_its_key(void **state)
{
	char out[4096], want[2 * SHA256_DIGEST_LENGTH + 1];

	(void)state;
	hash_of(&node, want);
	start();
	assert_int_equal(once(&node, "/", out, sizeof(out)), 200);
	assert_non_null(strstr(out, want));
}

/* Whatever it says of its owner and its time: that the key is his. */
static void a_certificate_of_ones_own_says_no_more_than_its_key(void **state)
{
	char out[4096], want[2 * SHA256_DIGEST_LENGTH + 1];

	(void)state;
	hash_of(&own, want);
	start();
	assert_int_equal(once(&own, "/", out, sizeof(out)), 200);
	assert_non_null(strstr(out, " self "));
	assert_non_null(strstr(out, want));
	assert_null(strstr(out, "cn="));
	assert_int_equal(once(&node, "/", out, sizeof(out)), 200);
	assert_null(strstr(out, " self "));
}

/* The certificate is no secret. */
static void a_certificate_of_ones_own_needs_its_key(void **state)
{
	struct tls_id stolen = own;
	char out[4096];

	(void)state;
	memcpy(stolen.key, node.key, sizeof(stolen.key));
	start();
	assert_int_equal(once(&stolen, "/", out, sizeof(out)), -1);
	assert_int_equal(F.served, 0);
}

static void a_bad_certificate_ends_the_handshake(void **state)
{
	const struct {
		const char *name;
		const struct tls_id *id;
	} bad[] = {{"of another CA", &stranger},
		   {"expired", &expired},
		   {"not yet good", &early},
		   {"for servers", &not_client}};
	char out[4096];

	(void)state;
	start();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		print_message("# %s\n", bad[i].name);
		assert_int_equal(once(bad[i].id, "/", out, sizeof(out)), -1);
		UNTIL(stats().mute == i + 1);
	}
	assert_int_equal(F.served, 0);
	assert_int_equal(stats().requests, 0);
}

/* A handshake is reckoned before anybody knows whose it is: with a key of RSA, whose size and
 * exponent are the stranger's to choose, it took seconds, and nodes were not heard meanwhile. */
static void only_keys_of_claims_are_asked_for(void **state)
{
	static const char *const versions[] = {"1.2", "1.3"};

	(void)state;
	start();
	for (int v = 0; v < 2; v++) {
		gnutls_sign_algorithm_t sign = GNUTLS_SIGN_UNKNOWN;
		char text[64];
		struct tls_peer p;
		size_t n = 0;

		(void)snprintf(text, sizeof(text), "NORMAL:-VERS-ALL:+VERS-TLS%s", versions[v]);
		tls_peer_prepare(&p, node_server_port(F.s), ca.cert, &node);
		assert_int_equal(gnutls_priority_set_direct(p.session, text, NULL), 0);
		assert_int_equal(tls_peer_shake(&p), 0);
		while (gnutls_sign_algorithm_get_requested(p.session, n, &sign) == 0) {
			assert_true(sign == GNUTLS_SIGN_ECDSA_SHA256 ||
				    sign == GNUTLS_SIGN_ECDSA_SECP256R1_SHA256);
			n++;
		}
		assert_in_range(n, 1, 2);
		tls_peer_close(&p);
	}
}

/* So who has another key does not show it, or is refused; in no case is it taken for a claim's. */
static void another_kind_of_key_is_nobodys(void **state)
{
	static const struct {
		const char *what, *version;
		const struct tls_id *id;
	} rows[] = {{"RSA", "1.2", &own_rsa},
		    {"RSA", "1.3", &own_rsa},
		    {"a key that takes us longer", "1.2", &own_p384},
		    {"a key that takes us longer", "1.3", &own_p384}};

	(void)state;
	start();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tls_peer p;
		char text[64], out[4096];
		int rc;

		print_message("# %s, TLS %s\n", rows[i].what, rows[i].version);
		(void)snprintf(text, sizeof(text), "NORMAL:-VERS-ALL:+VERS-TLS%s", rows[i].version);
		tls_peer_prepare(&p, node_server_port(F.s), ca.cert, rows[i].id);
		assert_int_equal(gnutls_priority_set_direct(p.session, text, NULL), 0);
		rc = tls_peer_shake(&p);
		rc = rc == 0 ? get(&p, "/", out, sizeof(out)) : -1;
		assert_true(rc == -1 || (rc == 200 && strstr(out, "self") == NULL &&
					 strstr(out, "cn=") == NULL));
		tls_peer_close(&p);
	}
}

static void renew_on_loop(struct fix *f)
{
	struct err e;

	assert_int_equal(node_server_renew(f->s, "nonsense", server_id.key, ca.cert, &e), -1);
	assert_int_equal(node_server_renew(f->s, other_server.cert, other_server.key, "", &e), -1);
	assert_int_equal(
		node_server_renew(f->s, other_server.cert, other_server.key, other_ca.cert, &e), 0);
}

static int renewed(void)
{
	struct tls_peer p;
	int rc = tls_peer_open(&p, node_server_port(F.s), other_ca.cert, NULL);

	tls_peer_close(&p);
	return rc == 0;
}

/* Whoever has it may keep his connection for long. */
static void a_certificate_that_ends_meanwhile_is_good_no_more(void **state)
{
	const struct tls_id_opts o = {
		.cn = "c7", .urn = "urn:burst:node:c7:3", .from_s = -60, .to_s = 4, .serial = 9};
	struct tls_id soon;
	struct tls_peer p;
	char out[4096];
	int64_t end;

	(void)state;
	tls_id_make(&soon, &ca, &o);
	end = clock_wall_ms() + 4000;
	start();
	assert_int_equal(dial(&p, &soon), 0);
	assert_int_equal(get(&p, "/", out, sizeof(out)), 200);
	while (clock_wall_ms() <= end)
		(void)usleep(100000);
	assert_int_equal(get(&p, "/", out, sizeof(out)), -1);
	tls_peer_close(&p);
}

/* Nor what has a MAC beside the cipher, or an exchange that the server's key gives away later. */
static void only_good_tls_is_spoken(void **state)
{
	static const struct {
		const char *what;
		bool spoken;
	} rows[] = {
		{"-VERS-ALL:+VERS-TLS1.3", true},
		{"-VERS-ALL:+VERS-TLS1.2", true},
		{"-VERS-ALL:+VERS-TLS1.1", false},
		{"-VERS-ALL:+VERS-TLS1.0", false},
		{"-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-GCM", true},
		{"-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-256-GCM", true},
		{"-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+CHACHA20-POLY1305", true},
		{"-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CBC:+AES-256-CBC", false},
		{"-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+3DES-CBC:+CAMELLIA-128-CBC:+CAMELLIA-256-CBC",
		 false},
		{"-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA", false},
		{"-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA", true},
		{"-GROUP-ALL:+GROUP-X25519", true},
		{"-GROUP-ALL:+GROUP-SECP256R1", true},
		{"-GROUP-ALL:+GROUP-SECP384R1", true},
		/* Twenty times the work of X25519, for who has said no more than hello. */
		{"-GROUP-ALL:+GROUP-FFDHE8192", false},
		{"-GROUP-ALL:+GROUP-FFDHE2048", false},
	};

	(void)state;
	start();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];
		struct tls_peer p;

		print_message("# %s\n", rows[i].what);
		(void)snprintf(text, sizeof(text), "NORMAL:%s", rows[i].what);
		tls_peer_prepare(&p, node_server_port(F.s), ca.cert, NULL);
		assert_int_equal(gnutls_priority_set_direct(p.session, text, NULL), 0);
		assert_int_equal(tls_peer_shake(&p) == 0, rows[i].spoken);
		tls_peer_close(&p);
	}
}

static void new_certificates_are_for_new_connections(void **state)
{
	struct tls_peer old, next;
	char out[4096];

	(void)state;
	start();
	assert_int_equal(dial(&old, &node), 0);
	assert_int_equal(get(&old, "/", out, sizeof(out)), 200);
	on_loop(renew_on_loop);
	UNTIL(renewed());
	assert_int_equal(get(&old, "/", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "cn=c7"));
	assert_int_equal(tls_peer_open(&next, node_server_port(F.s), other_ca.cert, &stranger), 0);
	assert_int_equal(get(&next, "/", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "cn=c8"));
	tls_peer_close(&next);
	assert_int_equal(tls_peer_open(&next, node_server_port(F.s), ca.cert, NULL), -1);
	tls_peer_close(&next);
	tls_peer_close(&old);
}

/* What no handshake with a key of ours would show. */
static void tls_has_no_other_suites(void **state)
{
	gnutls_priority_t p;
	const unsigned *list;
	int n;

	(void)state;
	assert_int_equal(gnutls_priority_init(&p, NODE_TLS_PRIORITIES, NULL), 0);
	n = gnutls_priority_kx_list(p, &list);
	assert_int_equal(n, 1);
	assert_int_equal(list[0], GNUTLS_KX_ECDHE_ECDSA);
	n = gnutls_priority_mac_list(p, &list);
	assert_int_equal(n, 1);
	assert_int_equal(list[0], GNUTLS_MAC_AEAD);
	n = gnutls_priority_protocol_list(p, &list);
	assert_int_equal(n, 2);
	gnutls_priority_deinit(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_client_without_a_certificate_is_served_as_nobody),
		TEST(a_good_certificate_says_who_it_is),
		TEST(a_certificate_is_known_by_the_hash_of_its_key),
		TEST(a_certificate_of_ones_own_says_no_more_than_its_key),
		TEST(a_certificate_of_ones_own_needs_its_key),
		TEST(a_bad_certificate_ends_the_handshake),
		TEST(only_keys_of_claims_are_asked_for),
		TEST(another_kind_of_key_is_nobodys),
		TEST(a_certificate_that_ends_meanwhile_is_good_no_more),
		TEST(only_good_tls_is_spoken),
		TEST(tls_has_no_other_suites),
		TEST(new_certificates_are_for_new_connections),
	};

	return cmocka_run_group_tests(tests, make_ids, NULL);
}
