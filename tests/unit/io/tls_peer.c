#include "tests/unit/io/tls_peer.h"

#include <arpa/inet.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static gnutls_datum_t datum(const char *text)
{
	union {
		const char *in;
		unsigned char *out;
	} u = {.in = text};

	return (gnutls_datum_t){.data = u.out, .size = (unsigned)strlen(text)};
}

static void load(const struct tls_id *id, gnutls_x509_crt_t *crt, gnutls_x509_privkey_t *key)
{
	gnutls_datum_t c = datum(id->cert), k = datum(id->key);

	assert_int_equal(gnutls_x509_crt_init(crt), 0);
	assert_int_equal(gnutls_x509_privkey_init(key), 0);
	assert_int_equal(gnutls_x509_crt_import(*crt, &c, GNUTLS_X509_FMT_PEM), 0);
	assert_int_equal(gnutls_x509_privkey_import(*key, &k, GNUTLS_X509_FMT_PEM), 0);
}

static void fill(gnutls_x509_crt_t crt, const struct tls_id_opts *o)
{
	const uint8_t serial[2] = {0x4a, o->serial};
	const char *usage = o->server ? GNUTLS_KP_TLS_WWW_SERVER : GNUTLS_KP_TLS_WWW_CLIENT;
	time_t now = time(NULL);

	assert_int_equal(gnutls_x509_crt_set_version(crt, 3), 0);
	assert_int_equal(gnutls_x509_crt_set_serial(crt, serial, sizeof(serial)), 0);
	assert_int_equal(gnutls_x509_crt_set_activation_time(crt, now + o->from_s), 0);
	assert_int_equal(gnutls_x509_crt_set_expiration_time(crt, now + o->to_s), 0);
	assert_int_equal(gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, o->cn,
						       (unsigned)strlen(o->cn)),
			 0);
	if (o->urn != NULL)
		assert_int_equal(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_URI, o->urn,
								      (unsigned)strlen(o->urn),
								      GNUTLS_FSAN_SET),
				 0);
	assert_int_equal(gnutls_x509_crt_set_basic_constraints(crt, o->ca, o->ca ? 1 : -1), 0);
	if (!o->ca)
		assert_int_equal(gnutls_x509_crt_set_key_purpose_oid(crt, usage, 0), 0);
}

void tls_id_make(struct tls_id *out, const struct tls_id *ca, const struct tls_id_opts *o)
{
	gnutls_x509_crt_t crt, by = NULL;
	gnutls_x509_privkey_t key, by_key = NULL;
	const unsigned bits = o->rsa    ? 2048
			      : o->p384 ? GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP384R1)
					: GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
	size_t nc = sizeof(out->cert) - 1, nk = sizeof(out->key) - 1;

	memset(out, 0, sizeof(*out));
	assert_int_equal(gnutls_x509_crt_init(&crt), 0);
	assert_int_equal(gnutls_x509_privkey_init(&key), 0);
	assert_int_equal(gnutls_x509_privkey_generate(key, o->rsa ? GNUTLS_PK_RSA : GNUTLS_PK_ECDSA,
						      bits, 0),
			 0);
	assert_int_equal(gnutls_x509_crt_set_key(crt, key), 0);
	fill(crt, o);
	if (ca != NULL)
		load(ca, &by, &by_key);
	assert_int_equal(gnutls_x509_crt_sign2(crt, ca != NULL ? by : crt,
					       ca != NULL ? by_key : key, GNUTLS_DIG_SHA256, 0),
			 0);
	assert_int_equal(gnutls_x509_crt_export(crt, GNUTLS_X509_FMT_PEM, out->cert, &nc), 0);
	assert_int_equal(gnutls_x509_privkey_export(key, GNUTLS_X509_FMT_PEM, out->key, &nk), 0);
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(key);
	if (ca != NULL) {
		gnutls_x509_crt_deinit(by);
		gnutls_x509_privkey_deinit(by_key);
	}
}

/* --- the client ------------------------------------------------------------------------------- */

int tcp_open(uint16_t port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval wait = {.tv_sec = 10};
	union {
		struct sockaddr_in *in;
		struct sockaddr *any;
	} u = {.in = &sa};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (connect(fd, u.any, sizeof(sa)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

void tls_peer_prepare(struct tls_peer *p, uint16_t port, const char *ca_pem,
		      const struct tls_id *self)
{
	gnutls_datum_t ca = datum(ca_pem);

	memset(p, 0, sizeof(*p));
	p->fd = tcp_open(port);
	assert_int_equal(gnutls_certificate_allocate_credentials(&p->cred), 0);
	assert_int_equal(gnutls_certificate_set_x509_trust_mem(p->cred, &ca, GNUTLS_X509_FMT_PEM),
			 1);
	/* A thief may try. */
	gnutls_certificate_set_flags(p->cred, GNUTLS_CERTIFICATE_SKIP_KEY_CERT_MATCH);
	if (self != NULL) {
		gnutls_datum_t c = datum(self->cert), k = datum(self->key);

		assert_int_equal(
			gnutls_certificate_set_x509_key_mem(p->cred, &c, &k, GNUTLS_X509_FMT_PEM),
			0);
	}
	assert_int_equal(gnutls_init(&p->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL), 0);
	assert_int_equal(gnutls_set_default_priority(p->session), 0);
	assert_int_equal(gnutls_credentials_set(p->session, GNUTLS_CRD_CERTIFICATE, p->cred), 0);
	gnutls_session_set_verify_cert(p->session, NULL, 0);
	if (p->fd >= 0)
		gnutls_transport_set_int(p->session, p->fd);
}

int tls_peer_shake(struct tls_peer *p)
{
	int rc;

	do
		rc = gnutls_handshake(p->session);
	while (rc < 0 && gnutls_error_is_fatal(rc) == 0 && rc != GNUTLS_E_AGAIN);
	return rc;
}

int tls_peer_open(struct tls_peer *p, uint16_t port, const char *ca_pem, const struct tls_id *self)
{
	tls_peer_prepare(p, port, ca_pem, self);
	return p->fd >= 0 && tls_peer_shake(p) == 0 ? 0 : -1;
}

void tls_peer_close(struct tls_peer *p)
{
	if (p->fd >= 0)
		(void)close(p->fd);
	gnutls_deinit(p->session);
	gnutls_certificate_free_credentials(p->cred);
}

int tls_peer_send(struct tls_peer *p, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = gnutls_record_send(p->session, data, len);

		if (n < 0 && gnutls_error_is_fatal((int)n) == 0 && n != GNUTLS_E_AGAIN)
			continue;
		if (n <= 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static bool whole(const char *text, size_t n)
{
	const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "Content-Length:");

	if (end == NULL)
		return false;
	return length == NULL || length > end ||
	       n >= (size_t)(end + 4 - text) + strtoul(length + 15, NULL, 10);
}

/* A byte at a time: what is behind the answer is the next one's. */
int tls_peer_reply(struct tls_peer *p, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	while (n + 1 < size && !whole(out, n)) {
		ssize_t got = gnutls_record_recv(p->session, out + n, 1);

		if (got < 0 && gnutls_error_is_fatal((int)got) == 0 && got != GNUTLS_E_AGAIN)
			continue;
		if (got <= 0)
			return -1;
		n += (size_t)got;
		out[n] = '\0';
	}
	return strncmp(out, "HTTP/1.1 ", 9) == 0 ? (int)strtol(out + 9, NULL, 10) : -1;
}
