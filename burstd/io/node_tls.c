#include "io/node_tls.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"

struct node_tls {
	gnutls_certificate_credentials_t cred;
	unsigned refs;
};

/* Is the certificate self-issued, as no CA does it for nodes?  Its key must be of the kind that
 * claims have, so that strangers cannot make us compute with larger ones. */
static bool is_own(gnutls_x509_crt_t crt)
{
	unsigned bits = 0;

	return gnutls_x509_crt_get_pk_algorithm(crt, &bits) == GNUTLS_PK_ECDSA && bits == 256 &&
	       gnutls_x509_crt_check_issuer(crt, crt) == 1;
}

/* The first certificate of the client; NULL: it cannot be read. */
static gnutls_x509_crt_t first_of(const gnutls_datum_t *chain)
{
	gnutls_x509_crt_t crt;

	if (gnutls_x509_crt_init(&crt) != 0)
		return NULL;
	if (gnutls_x509_crt_import(crt, &chain[0], GNUTLS_X509_FMT_DER) == 0)
		return crt;
	gnutls_x509_crt_deinit(crt);
	return NULL;
}

/* Called in every handshake, with or without a certificate.  The status also covers time. */
static int verify(gnutls_session_t session)
{
	char usage[] = GNUTLS_KP_TLS_WWW_CLIENT;
	gnutls_typed_vdata_st want = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)usage, .size = 0};
	unsigned n = 0, status = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &n);
	gnutls_x509_crt_t crt;
	bool own;

	if (chain == NULL || n == 0)
		return 0;
	crt = first_of(chain);
	own = crt != NULL && is_own(crt);
	gnutls_x509_crt_deinit(crt);
	if (own)
		return 0;
	if (gnutls_certificate_verify_peers(session, &want, 1, &status) != 0 || status != 0)
		return GNUTLS_E_CERTIFICATE_ERROR;
	return 0;
}

static gnutls_datum_t datum(char *pem)
{
	return (gnutls_datum_t){.data = (unsigned char *)pem, .size = (unsigned)strlen(pem)};
}

int node_tls_new(struct node_tls **out, const char *cert_pem, const char *key_pem,
		 const char *client_ca_pem, struct err *e)
{
	struct node_tls *t = mem_zalloc(sizeof(*t));
	char *cert = mem_strdup(cert_pem), *key = mem_strdup(key_pem),
	     *ca = mem_strdup(client_ca_pem);
	gnutls_datum_t c = datum(cert), k = datum(key), a = datum(ca);
	const char *what = "certificate and key";
	int rc = gnutls_certificate_allocate_credentials(&t->cred);

	*out = NULL;
	if (rc == 0)
		rc = gnutls_certificate_set_x509_key_mem(t->cred, &c, &k, GNUTLS_X509_FMT_PEM);
	if (rc == 0) {
		what = "client CA";
		rc = gnutls_certificate_set_x509_trust_mem(t->cred, &a, GNUTLS_X509_FMT_PEM);
		rc = rc == 0 ? GNUTLS_E_NO_CERTIFICATE_FOUND : rc > 0 ? 0 : rc;
	}
	secret_wipe(&cert);
	secret_wipe(&key);
	secret_wipe(&ca);
	t->refs = 1;
	if (rc != 0) {
		node_tls_unref(t);
		return err_set(e, ERR_INVALID, "TLS: %s: %s", what, gnutls_strerror(rc));
	}
	gnutls_certificate_set_verify_function(t->cred, verify);
	*out = t;
	return 0;
}

struct node_tls *node_tls_ref(struct node_tls *t)
{
	t->refs++;
	return t;
}

void node_tls_unref(struct node_tls *t)
{
	if (t == NULL || --t->refs > 0)
		return;
	if (t->cred != NULL)
		gnutls_certificate_free_credentials(t->cred);
	free(t);
}

/* Do not send the CA's name: after a rollover of the CA some clients would not show a certificate
 * of the other one. */
void node_tls_use(const struct node_tls *t, struct gnutls_session_int *session)
{
	(void)gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, t->cred);
	gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
	gnutls_certificate_send_x509_rdn_sequence(session, 1);
}

static int read_serial(struct node_peer *out, gnutls_x509_crt_t crt)
{
	unsigned char raw[20];
	size_t n = sizeof(raw);

	if (gnutls_x509_crt_get_serial(crt, raw, &n) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		(void)snprintf(out->serial + 2 * i, 3, "%02x", raw[i]);
	return 0;
}

static int read_urn(struct node_peer *out, gnutls_x509_crt_t crt)
{
	int type = 0;

	for (unsigned i = 0; type >= 0; i++) {
		size_t n = sizeof(out->urn) - 1;

		type = gnutls_x509_crt_get_subject_alt_name(crt, i, out->urn, &n, NULL);
		if (type != GNUTLS_SAN_URI)
			continue;
		out->urn[n] = '\0';
		return strlen(out->urn) == n ? 0 : -1; /* a NUL within would hide the rest */
	}
	out->urn[0] = '\0';
	return type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE ? 0 : -1;
}

/* GnuTLS calls this hash the key's id. */
static int read_key(struct node_peer *out, gnutls_x509_crt_t crt)
{
	size_t n = sizeof(out->spki);

	return gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA256, out->spki, &n) == 0 &&
			       n == sizeof(out->spki)
		       ? 0
		       : -1;
}

static int read_crt(struct node_peer *out, gnutls_x509_crt_t crt)
{
	size_t n = sizeof(out->cn);
	int64_t end = gnutls_x509_crt_get_expiration_time(crt);

	if (is_own(crt)) {
		out->self = true;
		return read_key(out, crt);
	}
	if (gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, out->cn, &n) !=
		    0 ||
	    strlen(out->cn) != n || end < 0 || read_serial(out, crt) != 0 ||
	    read_urn(out, crt) != 0 || read_key(out, crt) != 0)
		return -1;
	out->not_after_ms = end * 1000;
	out->known = true;
	return 0;
}

int node_tls_peer(struct node_peer *out, struct gnutls_session_int *session)
{
	unsigned n = 0;
	const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &n);
	gnutls_x509_crt_t crt;
	int rc;

	*out = (struct node_peer){0};
	if (chain == NULL || n == 0)
		return 0;
	crt = first_of(chain);
	if (crt == NULL)
		return -1;
	rc = read_crt(out, crt);
	gnutls_x509_crt_deinit(crt);
	if (rc != 0)
		*out = (struct node_peer){0};
	return rc == 0 ? 0 : -1;
}
