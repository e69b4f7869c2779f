/* test_imds.c - what an instance is told about itself, and who is told nothing. */
#include "imds_lab.h"

#include <jansson.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/pkcs7.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define NOW INT64_C(1795000000000) /* 2026-11-18T09:46:40Z */

static int setup(void **state)
{
	(void)state;
	imds_lab_open(IDENTITY_AWS, NOW);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	imds_lab_close();
	return 0;
}

struct said { /* headers of a request */
	const char *ttl, *token, *forwarded;
};

static const char *header_of(void *from, const char *name)
{
	const struct said *s = from;

	if (strcasecmp(name, "X-aws-ec2-metadata-token-ttl-seconds") == 0)
		return s->ttl;
	if (strcasecmp(name, "X-aws-ec2-metadata-token") == 0)
		return s->token;
	return strcasecmp(name, "X-Forwarded-For") == 0 ? s->forwarded : NULL;
}

/* The status, and the body in out, which the next call overwrites. */
static unsigned ask(const char *from, const char *method, const char *path, struct said said,
		    int64_t now, const char **out)
{
	static char body[8192];
	struct http_request rq = {.method = method,
				  .path = path,
				  .query = "",
				  .body = "",
				  .from = from,
				  .header = header_of,
				  .headers_from = &said};
	struct http_answer an = {.status = 500};

	imds_handle(&W.imds, &rq, &an, now);
	(void)snprintf(body, sizeof(body), "%.*s", (int)an.len, an.body != NULL ? an.body : "");
	free(an.body);
	*out = body;
	return an.status;
}

static char token[IDENTITY_TOKEN_SIZE];

static void get_token(const char *ttl)
{
	const char *out;

	assert_int_equal(
		ask("10.77.0.10", "PUT", "/latest/api/token", (struct said){.ttl = ttl}, NOW, &out),
		200);
	(void)snprintf(token, sizeof(token), "%s", out);
}

static unsigned read_ec2(const char *path, const char **out)
{
	return ask("10.77.0.10", "GET", path, (struct said){.token = token}, NOW, out);
}

static void without_a_good_token_EC2_tells_nothing(void **state)
{
	static const char id[] = "/latest/meta-data/instance-id";
	const char *out;

	(void)state;
	assert_int_equal(ask("10.77.0.10", "GET", id, (struct said){0}, NOW, &out), 401);
	get_token("60");
	assert_int_equal(
		ask("10.77.0.10", "GET", id, (struct said){.token = token}, NOW + 59999, &out),
		200);
	assert_string_equal(out, "sim-00000000");
	assert_int_equal(
		ask("10.77.0.10", "GET", id, (struct said){.token = token}, NOW + 60000, &out),
		401);
	token[40] = token[40] == '0' ? '1' : '0';
	assert_int_equal(read_ec2(id, &out), 401);
	get_token("60");
	token[0] = 'f'; /* until later */
	assert_int_equal(read_ec2(id, &out), 401);
	/* Version 1 is served to who was made so, but a bad token is bad there too. */
	W.order->tokens_only = false;
	assert_int_equal(read_ec2(id, &out), 401);
	assert_int_equal(ask("10.77.0.10", "GET", id, (struct said){0}, NOW, &out), 200);
}

static void a_token_is_of_one_instance(void **state)
{
	struct order *order = order_new();
	const char *out;

	(void)state;
	imds_lab_make(order, MARKET_ON_DEMAND, "x");
	order->ec2 = order->tokens_only = true;
	get_token("60");
	assert_int_equal(ask("10.77.0.12", "GET", "/latest/user-data",
			     (struct said){.token = token}, NOW, &out),
			 401);
	order_unref(order);
}

static void an_instance_of_another_API_is_told_nothing_of_EC2s(void **state)
{
	struct order *order = order_new();
	const char *out;

	(void)state;
	imds_lab_make(order, MARKET_ON_DEMAND, "x");
	assert_int_equal(ask("10.77.0.12", "PUT", "/latest/api/token", (struct said){.ttl = "60"},
			     NOW, &out),
			 405);
	assert_int_equal(ask("10.77.0.12", "GET", "/latest/user-data", (struct said){0}, NOW, &out),
			 404);
	assert_int_equal(
		ask("10.77.0.12", "GET", "/metadata/v1/user-data", (struct said){0}, NOW, &out),
		200);
	order_unref(order);
}

static void a_token_needs_its_time_and_no_proxy(void **state)
{
	static const struct {
		struct said said;
		unsigned status;
	} t[] = {{{.ttl = "1"}, 200},
		 {{.ttl = "21600"}, 200},
		 {{.ttl = "21601"}, 400},
		 {{.ttl = "0"}, 400},
		 {{.ttl = "-1"}, 400},
		 {{.ttl = ""}, 400},
		 {{0}, 400},
		 {{.ttl = "60", .forwarded = "10.0.0.1"}, 403}};
	const char *out;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(
			ask("10.77.0.10", "PUT", "/latest/api/token", t[i].said, NOW, &out),
			t[i].status);
	assert_int_equal(ask("10.77.0.11", "PUT", "/latest/api/token", (struct said){.ttl = "60"},
			     NOW, &out),
			 405);
}

static void what_EC2_tells(void **state)
{
	static const struct {
		const char *path, *text; /* NULL: 404 */
	} t[] = {
		{"/latest/user-data", "#!/bin/sh\n: claim\n"},
		{"/latest/meta-data/local-ipv4", "10.77.0.10"},
		{"/latest/meta-data/instance-type", "gpu_8x_h100"},
		{"/latest/meta-data/instance-life-cycle", "spot"},
		{"/latest/meta-data/placement/availability-zone", "eu-north-1a"},
		{"/latest/meta-data/placement/region", "eu-north-1"},
		{"/latest/meta-data/hostname", "c1"},
		{"/latest/meta-data/spot/instance-action", NULL},
		{"/latest/meta-data/spot/termination-time", NULL},
		{"/latest/meta-data/events/recommendations/rebalance", NULL},
		{"/latest/meta-data/events/maintenance/scheduled", "[]"},
		{"/latest/dynamic/instance-identity/pkcs7", NULL},
		{"/latest/no-such-thing", NULL},
	};
	const char *out;

	(void)state;
	get_token("60");
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		print_message("# %s\n", t[i].path);
		assert_int_equal(read_ec2(t[i].path, &out), t[i].text != NULL ? 200 : 404);
		assert_string_equal(out, t[i].text != NULL ? t[i].text : "");
	}
}

static void what_will_happen_is_told_in_EC2s_words(void **state)
{
	struct cloud_instance *i = cloud_of_row(&W.cloud, 0);
	const char *out;

	(void)state;
	get_token("60");
	assert_true(cloud_warn(&W.cloud, i, NOTICE_REBALANCE, 0, NOW));
	assert_true(cloud_warn(&W.cloud, i, NOTICE_MAINTENANCE, 86400000, NOW));
	assert_true(cloud_reclaim(&W.cloud, i, 120000, NOW));
	assert_int_equal(read_ec2("/latest/meta-data/spot/instance-action", &out), 200);
	assert_string_equal(out, "{\"action\":\"terminate\",\"time\":\"2026-11-18T11:08:40Z\"}");
	assert_int_equal(read_ec2("/latest/meta-data/spot/termination-time", &out), 200);
	assert_string_equal(out, "2026-11-18T11:08:40Z");
	assert_int_equal(read_ec2("/latest/meta-data/events/recommendations/rebalance", &out), 200);
	assert_string_equal(out, "{\"noticeTime\":\"2026-11-18T11:06:40Z\"}");
	assert_int_equal(read_ec2("/latest/meta-data/events/maintenance/scheduled", &out), 200);
	assert_non_null(strstr(out, "\"NotBefore\":\"19 Nov 2026 11:06:40 GMT\""));
	assert_non_null(strstr(out, "\"Code\":\"instance-retirement\""));
	assert_non_null(strstr(out, "\"State\":\"active\""));
}

static void the_neutral_cloud_tells_the_same_unsigned(void **state)
{
	static const struct {
		const char *path, *text;
	} t[] = {{"/metadata/v1/id", "sim-00000001"},    {"/metadata/v1/name", "c1"},
		 {"/metadata/v1/address", "10.77.0.11"}, {"/metadata/v1/user-data", "plain"},
		 {"/metadata/v1/reclaim", NULL},         {"/latest/user-data", NULL},
		 {"/latest/meta-data/instance-id", NULL}};
	const char *out;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(ask("10.77.0.11", "GET", t[i].path, (struct said){0}, NOW, &out),
				 t[i].text != NULL ? 200 : 404);
		assert_string_equal(out, t[i].text != NULL ? t[i].text : "");
	}
	assert_int_equal(
		ask("10.77.0.11", "DELETE", "/metadata/v1/id", (struct said){0}, NOW, &out), 405);
}

static void who_is_no_instance_is_told_nothing(void **state)
{
	static const char *const from[] = {"10.77.0.1", "10.77.0.99", "::1", "", NULL};
	const char *out;

	(void)state;
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++)
		assert_int_equal(
			ask(from[i], "GET", "/metadata/v1/id", (struct said){0}, NOW, &out), 404);
	cloud_kill(&W.cloud, cloud_of_row(&W.cloud, 1), "test", NOW);
	assert_int_equal(ask("10.77.0.11", "GET", "/metadata/v1/id", (struct said){0}, NOW, &out),
			 404);
}

/* --- the identity document -------------------------------------------------------------------- */

/* As one verifies EC2's: with a certificate known beforehand, and none of those that come along.
 * What was signed, the caller's; NULL: it is no good. */
static char *verify(const char *base64, const char *cert_path)
{
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	STACK_OF(X509) *pinned = sk_X509_new_null();
	FILE *f = fopen(cert_path, "r");
	X509 *cert = PEM_read_X509(f, NULL, NULL, NULL);
	char *text = NULL, *data;
	PKCS7 *p7;
	long n;

	(void)fclose(f);
	assert_true(sk_X509_push(pinned, cert) > 0);
	(void)BIO_printf(in, "-----BEGIN PKCS7-----\n%s\n-----END PKCS7-----\n", base64);
	p7 = PEM_read_bio_PKCS7(in, NULL, NULL, NULL);
	assert_non_null(p7);
	assert_false(PKCS7_get_detached(p7));
	if (PKCS7_verify(p7, pinned, NULL, NULL, out,
			 PKCS7_BINARY | PKCS7_NOVERIFY | PKCS7_NOINTERN) == 1) {
		n = BIO_get_mem_data(out, &data);
		text = mem_zalloc((size_t)n + 1);
		memcpy(text, data, (size_t)n);
	}
	PKCS7_free(p7);
	sk_X509_pop_free(pinned, X509_free);
	(void)BIO_free(in);
	(void)BIO_free(out);
	return text;
}

static void the_document_is_signed_by_the_certificate_in_the_file(void **state)
{
	char document[4096], *text, other[80], other_key[80];
	struct identity *stranger;
	const char *out;
	json_t *o;

	(void)state;
	get_token("60");
	assert_int_equal(read_ec2("/latest/dynamic/instance-identity/document", &out), 200);
	(void)snprintf(document, sizeof(document), "%s", out);
	o = json_loads(document, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(o, "instanceId")), "sim-00000000");
	assert_string_equal(json_string_value(json_object_get(o, "region")), "eu-north-1");
	assert_string_equal(json_string_value(json_object_get(o, "accountId")), "000000000000");
	assert_string_equal(json_string_value(json_object_get(o, "pendingTime")),
			    "2026-11-18T11:06:40Z");
	assert_string_equal(json_string_value(json_object_get(o, "privateIp")), "10.77.0.10");
	json_decref(o);
	assert_int_equal(read_ec2("/latest/dynamic/instance-identity/rsa2048", &out), 200);
	text = verify(out, W.cert);
	assert_non_null(text);
	assert_string_equal(text, document);
	free(text);
	(void)snprintf(other, sizeof(other), "%s/other", W.dir);
	(void)snprintf(other_key, sizeof(other_key), "%s/other.key", W.dir);
	assert_int_equal(identity_open(&stranger, IDENTITY_AWS, other, NULL), 0);
	identity_close(stranger);
	assert_null(verify(out, other));
	(void)unlink(other);
	(void)unlink(other_key);
}

static void the_key_is_kept_and_found_again(void **state)
{
	struct identity *again;
	struct err e = {0};
	struct stat st;
	char *text, *signature;

	(void)state;
	assert_int_equal(stat(W.cert, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644); /* burstd, another user, reads it */
	assert_int_equal(stat(W.key, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(identity_open(&again, IDENTITY_AWS, W.cert, &e), 0);
	signature = identity_sign(again, "hello", 5, 64);
	text = verify(signature, W.cert);
	assert_string_equal(text, "hello");
	free(text);
	identity_close(again);
	/* The certificate alone is missing: who made the two was killed. */
	(void)unlink(W.cert);
	assert_int_equal(identity_open(&again, IDENTITY_AWS, W.cert, &e), 0);
	text = verify(signature, W.cert);
	assert_string_equal(text, "hello");
	free(text);
	free(signature);
	identity_close(again);
	(void)unlink(W.key);
	assert_int_equal(identity_open(&again, IDENTITY_AWS, W.cert, &e), -1);
	assert_null(again);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(without_a_good_token_EC2_tells_nothing),
		T(a_token_is_of_one_instance),
		T(an_instance_of_another_API_is_told_nothing_of_EC2s),
		T(a_token_needs_its_time_and_no_proxy),
		T(what_EC2_tells),
		T(what_will_happen_is_told_in_EC2s_words),
		T(the_neutral_cloud_tells_the_same_unsigned),
		T(who_is_no_instance_is_told_nothing),
		T(the_document_is_signed_by_the_certificate_in_the_file),
		T(the_key_is_kept_and_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
