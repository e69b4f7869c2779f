#include "providers/secrets/aws_sm.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/ipaddr.h"
#include "base/mem.h"
#include "providers/aws.h"
#include "providers/aws_private.h"
#include "providers/common/words.h"
#include "providers/secrets/parts.h"

/* Readers get the version with the label AWSCURRENT.  A new bundle is written under a label of our
 * own, then gets AWSCURRENT by a request that names the version that has it, so that two concurrent
 * writers do not overwrite each other. */

#define TARGET "secretsmanager."
#define STAGE  "burstd-next"

enum { ID_MAX = 2048, TOKEN_MIN = 32, TOKEN_MAX = 64 };

struct sm {
	char *id; /* SecretId */
	char *url;
	void *aws; /* state of provider_aws, for sessions and signatures */
};

static void sm_close(void *self)
{
	struct sm *s = self;

	if (s == NULL)
		return;
	provider_aws.close(s->aws);
	free(s->id);
	free(s->url);
	free(s);
}

static bool is_given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static int sm_open(void **self, const struct secret_store_conf *c, struct err *e)
{
	const char *region = c->region != NULL ? c->region : "";
	const struct aws_options own = {.region = region,
					.image = "none", /* unused, but open() wants one */
					.role = c->role,
					.sts_url = c->sts_url,
					.metadata_url = c->metadata_url};
	struct provider_conf pc = {.name = "secrets", .credential = c->credential, .options = &own};
	struct sm *s = mem_zalloc(sizeof(*s));

	*self = NULL;
	if (c->name == NULL || !words_is_plain(c->name, ID_MAX)) {
		(void)err_set(e, ERR_INVALID, "name: want the secret's ARN or name");
		goto fail;
	}
	s->id = mem_strdup(c->name);
	s->url = is_given(c->address)
			 ? mem_strdup(c->address)
			 : parts_text("https://secretsmanager.%s.amazonaws.com%s", region,
				      strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
	/* http is for tests on this machine. */
	if (strncmp(s->url, "https://", 8) != 0 &&
	    (strncmp(s->url, "http://", 7) != 0 || !ipaddr_host_is_loopback(s->url + 7))) {
		(void)err_set(e, ERR_INVALID, "address: want https://");
		goto fail;
	}
	pc.url = s->url;
	if (provider_aws.open(&s->aws, &pc, e) != 0)
		goto fail;
	*self = s;
	return 0;
fail:
	sm_close(s);
	return -1;
}

static unsigned sm_flags(const void *self)
{
	(void)self;
	return SECRET_TWO_STEPS;
}

static const char *sm_address(const void *self, uint32_t i)
{
	const struct sm *s = self;

	return i == 0 ? s->url : NULL;
}

static int64_t sm_good_until(const void *self)
{
	const struct sm *s = self;

	return provider_aws.good_until(s->aws);
}

static int sm_take(void *self, const struct secret_result *r, int64_t now_ms, struct err *e)
{
	struct sm *s = self;

	(void)now_ms; /* the session says itself when it ends */
	if (r != NULL && r->value == NULL)
		return err_set(e, ERR_INVALID, "not a session");
	return provider_aws.renew(s->aws, r != NULL ? secret_text(r->value) : NULL, e);
}

static const char *sm_path(const void *self, enum secret_op_kind kind)
{
	(void)self;
	(void)kind;
	return NULL;
}

/* --- requests ---------------------------------------------------------------------------------
 */

static bool is_version(const char *text)
{
	return is_given(text) && words_is_plain(text, SECRET_VERSION_MAX);
}

static char *put_body(const struct sm *s, const struct secret_op *op)
{
	size_t n = strlen(op->bundle);
	char *base64 = mem_zalloc((n + 2) / 3 * 4 + 1), *body;

	(void)EVP_EncodeBlock((unsigned char *)base64, (const unsigned char *)op->bundle, (int)n);
	body = parts_text("{\"SecretId\":\"%s\",\"ClientRequestToken\":\"%s\",\"SecretBinary\":"
			  "\"%s\",\"VersionStages\":[\"" STAGE "\"]}",
			  s->id, op->token, base64);
	secret_wipe(&base64);
	return body;
}

/* Make the body, the caller's, and set *action; NULL: the operation is not possible. */
static char *make_body(const struct sm *s, const struct secret_op *op, const char **action)
{
	switch (op->kind) {
	case SECRET_VERSION:
		*action = TARGET "DescribeSecret";
		return parts_text("{\"SecretId\":\"%s\"}", s->id);
	case SECRET_READ:
		*action = TARGET "GetSecretValue";
		if (is_version(op->version))
			return parts_text("{\"SecretId\":\"%s\",\"VersionId\":\"%s\"}", s->id,
					  op->version);
		return parts_text("{\"SecretId\":\"%s\",\"VersionStage\":\"AWSCURRENT\"}", s->id);
	case SECRET_WRITE:
		*action = TARGET "PutSecretValue";
		if (op->bundle == NULL || !is_given(op->token) || strlen(op->token) < TOKEN_MIN ||
		    !words_is_plain(op->token, TOKEN_MAX))
			return NULL;
		return put_body(s, op);
	case SECRET_PROMOTE:
		*action = TARGET "UpdateSecretVersionStage";
		if (!is_version(op->version) || !is_version(op->token))
			return NULL;
		return parts_text("{\"SecretId\":\"%s\",\"VersionStage\":\"AWSCURRENT\","
				  "\"RemoveFromVersionId\":\"%s\",\"MoveToVersionId\":\"%s\"}",
				  s->id, op->version, op->token);
	default:
		return NULL;
	}
}

static int build_call(const struct sm *s, const struct secret_op *op, struct provider_request *out,
		      struct err *e)
{
	const char *action = "";
	char *text;
	struct str body;

	if (sm_good_until(s) <= op->at_ms)
		return err_set(e, ERR_AUTH, "there is no session");
	text = make_body(s, op, &action);
	if (text == NULL)
		return err_set(e, ERR_INVALID, "operation not supported by Secrets Manager");
	str_init(&body, AWS_BODY_MAX);
	str_adds(&body, text); /* in one piece: no copy is left behind */
	secret_wipe(&text);
	return aws_post_secrets(s->aws, action, op->at_ms, &body, out, e);
}

static int sm_build(const void *self, const struct secret_op *op, struct secret_request *out,
		    struct err *e)
{
	const struct provider_op login = {.kind = PROVIDER_LOGIN, .at_ms = op->at_ms};
	const struct sm *s = self;
	struct provider_request rq = {0};
	int rc = op->kind == SECRET_LOGIN ? provider_aws.build(s->aws, &login, &rq, e)
					  : build_call(s, op, &rq, e);

	if (rc != 0)
		return -1;
	out->kind = SECRET_HTTP;
	out->method = rq.method;
	out->url = rq.url;
	for (size_t i = 0; i < SECRET_HEADERS_MAX && rq.headers[i] != NULL; i++)
		out->headers[i] = rq.headers[i];
	out->body = rq.body;
	out->body_len = rq.body_len;
	return 0;
}

/* --- replies ----------------------------------------------------------------------------------
 */

static enum secret_code code_of(const char *word, long status)
{
	static const struct {
		const char *word;
		enum secret_code code;
	} words[] = {
		{"ResourceNotFoundException", SECRET_MISSING},
		{"InvalidRequestException", SECRET_MISSING}, /* marked for deletion */
		{"ResourceExistsException", SECRET_CONFLICT},
		{"InvalidParameterException", SECRET_INVALID},
		{"DecryptionFailure", SECRET_DENIED},
		{"InternalServiceError", SECRET_TRANSIENT},
		{"ThrottlingException", SECRET_RATE},
		{"Throttling", SECRET_RATE},
		{"AccessDeniedException", SECRET_DENIED},
		{"AccessDenied", SECRET_DENIED},
		{"UnrecognizedClientException", SECRET_DENIED},
		{"InvalidClientTokenId", SECRET_DENIED},
		{"SignatureDoesNotMatch", SECRET_DENIED},
		{"InvalidSignatureException", SECRET_DENIED},
		{"ExpiredTokenException", SECRET_DENIED},
		{"MissingAuthenticationToken", SECRET_DENIED},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i].word) == 0)
			return words[i].code;
	if (status == 429)
		return SECRET_RATE;
	if (status == 401 || status == 403)
		return SECRET_DENIED;
	return status >= 500 ? SECRET_TRANSIENT : SECRET_INVALID;
}

static void failed(const struct sm *s, const struct secret_op *op, const struct secret_reply *reply,
		   struct secret_result *out)
{
	const struct provider_reply pr = {.status = reply->status,
					  .body = reply->body,
					  .len = reply->len,
					  .headers = reply->headers};
	char code[64], words[AWS_WORDS_MAX], text[AWS_WORDS_MAX + 80];
	struct provider_result r = {0};

	aws_error_words(&pr, code, words);
	out->code = code_of(code, reply->status);
	/* The label was moved by somebody else meanwhile. */
	if (op->kind == SECRET_PROMOTE && strcmp(code, "InvalidParameterException") == 0)
		out->code = SECRET_CONFLICT;
	out->retry_after_ms = headers_retry_after_ms(&reply->headers, SECRET_RETRY_MAX_MS);
	if (code[0] != '\0')
		(void)snprintf(text, sizeof(text), "%s: %s", code, words);
	else
		(void)snprintf(text, sizeof(text), "HTTP status %ld without an error message",
			       reply->status);
	aws_set_message(s->aws, &r, text); /* masks the secrets in it */
	parts_message(out, r.message, strlen(r.message));
}

static void parse_login(const struct sm *s, const struct secret_op *op,
			const struct secret_reply *reply, struct secret_result *out)
{
	const struct provider_op login = {.kind = PROVIDER_LOGIN, .at_ms = op->at_ms};
	const struct provider_reply pr = {.status = reply->status,
					  .body = reply->body,
					  .len = reply->len,
					  .headers = reply->headers};
	struct provider_result r = {0};

	provider_aws.parse(s->aws, &login, &pr, &r);
	parts_message(out, r.message, strlen(r.message));
	out->retry_after_ms = r.retry_after_ms;
	switch (r.code) {
	case PROVIDER_OK:
		if (r.session != NULL)
			out->value = secret_new(r.session, strlen(r.session));
		out->code = out->value != NULL ? SECRET_OK : SECRET_INVALID;
		break;
	case PROVIDER_DENIED:
		out->code = SECRET_DENIED;
		break;
	case PROVIDER_RATE:
		out->code = SECRET_RATE;
		break;
	case PROVIDER_TRANSIENT:
	case PROVIDER_AMBIGUOUS:
		out->code = SECRET_TRANSIENT;
		break;
	default:
		out->code = SECRET_INVALID;
	}
	provider_result_fini(&r);
}

/* Decode a JSON text in a JSON string, with only the escapes that an encoder must use there. */
static struct secret *unescape(const struct jpull_value *v)
{
	char *text = mem_zalloc(v->n + 1);
	struct secret *s = NULL;
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		char c = v->p[i];

		if (c == '\\') {
			static const char from[] = "\"\\/nrt", to[] = "\"\\/\n\r\t";
			const char *at = i + 1 < v->n ? strchr(from, v->p[++i]) : NULL;

			if (at == NULL || *at == '\0')
				goto out;
			c = to[at - from];
		}
		text[n++] = c;
	}
	if (n > 0 && n <= SECRET_BUNDLE_MAX)
		s = secret_new(text, n);
out:
	explicit_bzero(text, v->n + 1);
	free(text);
	return s;
}

/* Make a bundle of a bare munge key, as AWS ParallelCluster stores it. */
static struct secret *lone_key(const struct jpull_value *v)
{
	char *text = parts_text("{\"munge_key\":\"%.*s\"}", (int)v->n, v->p);
	struct secret *s = secret_new(text, strlen(text));

	secret_wipe(&text);
	return s;
}

static struct secret *from_binary(const struct jpull_value *v)
{
	const size_t size = v->n < SECRET_BUNDLE_MAX ? v->n : SECRET_BUNDLE_MAX;
	unsigned char *bytes = mem_zalloc(size + 1);
	struct secret *s = NULL;
	size_t n;

	if (base64_decode(BASE64_PLAIN, v->p, v->n, bytes, size, &n) && n > 0)
		s = bytes[0] == '{' ? secret_new(bytes, n) : lone_key(v);
	explicit_bzero(bytes, size);
	free(bytes);
	return s;
}

static const char *read_value(const struct jpull_value *root, struct secret_result *out)
{
	struct jpull_value binary = parts_member(root, "SecretBinary"),
			   text = parts_member(root, "SecretString"),
			   id = parts_member(root, "VersionId");

	parts_copy(&id, out->version, sizeof(out->version));
	if (out->version[0] == '\0')
		return "no VersionId in it";
	if (binary.type == JPULL_STRING && binary.plain)
		out->value = from_binary(&binary);
	else if (text.type == JPULL_STRING && text.n > 0 && text.n <= 2 * SECRET_BUNDLE_MAX)
		out->value = text.p[0] == '{' ? unescape(&text)
			     : text.plain     ? lone_key(&text)
					      : NULL;
	return out->value != NULL ? NULL : "no bundle in it";
}

static const char *read_version(const struct jpull_value *root, struct secret_result *out)
{
	struct jpull_value all = parts_member(root, "VersionIdsToStages"), key;
	struct jpull j, k;

	if (parts_member(root, "DeletedDate").type == JPULL_NUMBER) {
		out->code = SECRET_MISSING;
		(void)snprintf(out->message, sizeof(out->message),
			       "the secret is marked for deletion");
		return NULL;
	}
	if (all.type != JPULL_OBJECT)
		return "no versions in it";
	jpull_init(&j, all.p, all.n);
	(void)jpull_enter(&j, '{');
	while (jpull_key(&j, &key)) {
		struct jpull_value stages = jpull_take(&j);

		if (stages.type != JPULL_ARRAY)
			continue;
		jpull_init(&k, stages.p, stages.n);
		(void)jpull_enter(&k, '[');
		while (jpull_item(&k)) {
			struct jpull_value stage = jpull_take(&k);

			if (jpull_is(&stage, "AWSCURRENT"))
				parts_copy(&key, out->version, sizeof(out->version));
		}
	}
	return out->version[0] != '\0' ? NULL : "no version is the current one";
}

static const char *read_reply(const struct secret_op *op, const struct jpull_value *root,
			      struct secret_result *out)
{
	struct jpull_value id;

	switch (op->kind) {
	case SECRET_READ:
		return read_value(root, out);
	case SECRET_VERSION:
		return read_version(root, out);
	case SECRET_WRITE:
		id = parts_member(root, "VersionId");
		parts_copy(&id, out->version, sizeof(out->version));
		return out->version[0] != '\0' ? NULL : "no VersionId in it";
	case SECRET_PROMOTE:
		return NULL;
	default:
		return "unsupported operation";
	}
}

static void sm_parse(const void *self, const struct secret_op *op, const struct secret_reply *reply,
		     struct secret_result *out)
{
	const struct sm *s = self;
	struct jpull_value root;
	const char *wrong;

	if (op->kind == SECRET_LOGIN) {
		parse_login(s, op, reply, out);
		return;
	}
	if (reply->status != 200) {
		failed(s, op, reply, out);
		return;
	}
	wrong = parts_json(reply->body, reply->len, &root) && root.type == JPULL_OBJECT
			? read_reply(op, &root, out)
			: "not JSON";
	if (wrong == NULL)
		return;
	secret_result_fini(out);
	out->code = SECRET_INVALID;
	(void)snprintf(out->message, sizeof(out->message), "malformed reply: %s", wrong);
}

const struct secret_store_ops secrets_aws = {
	.name = "aws",
	.open = sm_open,
	.close = sm_close,
	.flags = sm_flags,
	.address = sm_address,
	.build = sm_build,
	.parse = sm_parse,
	.good_until = sm_good_until,
	.take = sm_take,
	.path = sm_path,
};
