#include "providers/aws_private.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/secret.h"

enum {
	METADATA_TOKEN_S = 21600, /* six hours: EC2's longest */
	ASSUME_S = 3600,          /* allowed by every role, and the most for a chained one */
	ROLE_ARN_MAX = 2048,
	HEADER_BYTES = AWS_CRED_MAX + 64,
};

#define METADATA_ROLES "/latest/meta-data/iam/security-credentials/"

static void key_fini(struct aws_key *k)
{
	secret_wipe(&k->id);
	secret_wipe(&k->secret);
	secret_wipe(&k->token);
	k->until = 0;
}

/* Copy n bytes only: a longer copy, cut later, would leave secrets in memory. */
static char *copy(const char *text, size_t n)
{
	char *p = mem_zalloc(n + 1);

	memcpy(p, text, n);
	return p;
}

static void key_copy(struct aws_key *to, const struct aws_key *from)
{
	struct aws_key k = {.id = mem_strdup(from->id),
			    .secret = mem_strdup(from->secret),
			    .token = from->token != NULL ? mem_strdup(from->token) : NULL,
			    .until = from->until};

	key_fini(to);
	*to = k;
}

/* --- the file ---------------------------------------------------------------------------------
 */

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\r");
}

/* The value of `name` in the first section of a credentials file of the AWS command line; the
 * caller's, or NULL. */
static char *file_value(const char *text, const char *name)
{
	unsigned sections = 0;

	for (const char *line = text; *line != '\0';) {
		const char *end = line + strcspn(line, "\n"), *p = skip_blanks(line);
		size_t n = strlen(name);

		sections += *p == '[';
		if (sections < 2 && strncmp(p, name, n) == 0 && *skip_blanks(p + n) == '=') {
			const char *value = skip_blanks(skip_blanks(p + n) + 1);

			return copy(value, strcspn(value, " \t\r\n"));
		}
		line = end + (*end == '\n');
	}
	return NULL;
}

static bool is_key(const struct aws_key *k)
{
	return k->id != NULL && k->secret != NULL && aws_is_plain(k->id, 128) &&
	       strpbrk(k->id, "/,=") == NULL && aws_is_plain(k->secret, 256) &&
	       (k->token == NULL || aws_is_plain(k->token, AWS_CRED_MAX));
}

static void restart(struct aws *a)
{
	a->step = a->from_file ? AWS_STEP_ASSUME : AWS_STEP_TOKEN;
}

int aws_login_open(struct aws *a, const struct provider_conf *conf, struct err *e)
{
	if (a->role != NULL && !aws_is_plain(a->role, ROLE_ARN_MAX))
		return err_set(e, ERR_INVALID, "role: want an ARN");
	a->from_file = conf->credential != NULL;
	restart(a);
	if (!a->from_file)
		return 0;
	a->base.id = file_value(conf->credential, "aws_access_key_id");
	a->base.secret = file_value(conf->credential, "aws_secret_access_key");
	a->base.token = file_value(conf->credential, "aws_session_token");
	a->base.until = INT64_MAX;
	if (!is_key(&a->base))
		return err_set(e, ERR_INVALID,
			       "credential_file: want lines \"aws_access_key_id = ...\" and "
			       "\"aws_secret_access_key = ...\"");
	if (a->role == NULL)
		key_copy(&a->now, &a->base);
	return 0;
}

void aws_login_close(struct aws *a)
{
	key_fini(&a->base);
	key_fini(&a->now);
	secret_wipe(&a->metadata_token);
	secret_wipe(&a->metadata_role);
}

int64_t aws_good_until(const void *self)
{
	const struct aws *a = self;

	return a->now.id != NULL ? a->now.until : 0;
}

/* --- requests ---------------------------------------------------------------------------------
 */

static void metadata_request(const struct aws *a, const char *method, const char *path,
			     const char *more, struct provider_request *out)
{
	struct str url, header;

	str_init(&url, 4096);
	str_addf(&url, "%s%s%s", a->metadata.url, path, more);
	str_init(&header, HEADER_BYTES);
	if (a->step == AWS_STEP_TOKEN)
		str_addf(&header, "X-aws-ec2-metadata-token-ttl-seconds: %d", METADATA_TOKEN_S);
	else
		str_addf(&header, "X-aws-ec2-metadata-token: %s", a->metadata_token);
	out->kind = PROVIDER_HTTP;
	out->method = method;
	out->url = str_take(&url);
	out->headers[0] = str_take(&header);
}

static int assume_request(const struct aws *a, int64_t at_ms, struct provider_request *out,
			  struct err *e)
{
	struct str body;

	str_init(&body, AWS_BODY_MAX);
	query_begin(&body, "AssumeRole", AWS_STS_VERSION);
	query_add(&body, a->role, "RoleArn");
	query_add(&body, "burstd", "RoleSessionName");
	query_add_number(&body, ASSUME_S, "DurationSeconds");
	return aws_post(a, &a->sts, "sts", &a->base, at_ms, &body, out, e);
}

int aws_login_build(const struct aws *a, const struct provider_op *op, struct provider_request *out,
		    struct err *e)
{
	switch (a->step) {
	case AWS_STEP_TOKEN:
		metadata_request(a, "PUT", "/latest/api/token", "", out);
		return 0;
	case AWS_STEP_ROLE:
		metadata_request(a, "GET", METADATA_ROLES, "", out);
		return 0;
	case AWS_STEP_KEY:
		metadata_request(a, "GET", METADATA_ROLES, a->metadata_role, out);
		return 0;
	case AWS_STEP_ASSUME:
		return a->role != NULL
			       ? assume_request(a, op->at_ms, out, e)
			       : err_set(e, ERR_INVALID, "the key of a file needs no login");
	case AWS_STEP_DONE:
		break;
	}
	return err_set(e, ERR_INVALID, "already logged in");
}

/* --- replies: what renew() takes, as one text -------------------------------------------------
 */

/* The first line of a short text. */
static int read_line(const struct provider_reply *reply, struct provider_result *out)
{
	size_t n = 0;

	while (n < reply->len && strchr("\r\n", reply->body[n]) == NULL) /* a NUL ends it too */
		n++;
	out->session = copy(reply->body, n);
	return aws_is_plain(out->session, AWS_CRED_MAX) ? 0 : -1;
}

/* Write the key as four lines: id, secret, token, end. */
static int put_key(struct provider_result *out, const struct aws_key *k)
{
	char until[FMT_U64_SIZE];
	size_t size;

	if (!is_key(k) || k->token == NULL || k->until <= 0)
		return -1;
	size = strlen(k->id) + strlen(k->secret) + strlen(k->token) + sizeof(until) + 3;
	/* Allocate the full size at once: a buffer that grows leaves copies behind. */
	out->session = mem_zalloc(size);
	(void)snprintf(out->session, size, "%s\n%s\n%s\n%s", k->id, k->secret, k->token,
		       fmt_i64(until, k->until));
	return 0;
}

static char *json_dup(const json_t *doc, const char *name)
{
	const char *text = json_string_value(json_object_get(doc, name));

	return text != NULL ? mem_strdup(text) : NULL;
}

static int read_metadata_key(const struct provider_reply *reply, struct provider_result *out)
{
	json_t *doc = json_loadb(reply->body, reply->len, 0, NULL);
	const char *until = json_string_value(json_object_get(doc, "Expiration"));
	struct aws_key k = {.id = json_dup(doc, "AccessKeyId"),
			    .secret = json_dup(doc, "SecretAccessKey"),
			    .token = json_dup(doc, "Token"),
			    .until = until != NULL ? aws_time_read(until) : 0};
	int rc = put_key(out, &k);

	key_fini(&k);
	json_decref(doc);
	return rc;
}

static int read_assumed(const struct provider_reply *reply, struct provider_result *out)
{
	static const char *const names[] = {
		"AssumeRoleResponse", "AssumeRoleResult", "Credentials", "AccessKeyId",
		"SecretAccessKey",    "SessionToken",     "Expiration",  NULL};
	const struct xml_node *c;
	struct aws_key k = {0};
	struct xml x;
	int rc = -1;

	if (xml_parse(&x, names, reply->body, reply->len) == 0) {
		c = xml_child(xml_child(x.root, "AssumeRoleResult"), "Credentials");
		k.id = mem_strdup(xml_text(c, "AccessKeyId"));
		k.secret = mem_strdup(xml_text(c, "SecretAccessKey"));
		k.token = mem_strdup(xml_text(c, "SessionToken"));
		k.until = aws_time_read(xml_text(c, "Expiration"));
		rc = put_key(out, &k);
		key_fini(&k);
	}
	xml_fini(&x);
	return rc;
}

int aws_login_parse(const struct aws *a, const struct provider_reply *reply,
		    struct provider_result *out)
{
	if (reply->body == NULL)
		return -1;
	switch (a->step) {
	case AWS_STEP_TOKEN:
	case AWS_STEP_ROLE:
		return read_line(reply, out);
	case AWS_STEP_KEY:
		return read_metadata_key(reply, out);
	case AWS_STEP_ASSUME:
		return read_assumed(reply, out);
	case AWS_STEP_DONE:
		break;
	}
	return -1;
}

/* --- the session ------------------------------------------------------------------------------
 */

/* Copy the line at *p and move *p past it; the caller's.  NULL: none is left. */
static char *next_line(const char **p)
{
	size_t n = strcspn(*p, "\n");
	char *line = **p != '\0' ? copy(*p, n) : NULL;

	*p += n + ((*p)[n] == '\n');
	return line;
}

static int take_key(struct aws_key *to, const char *session)
{
	struct aws_key k = {.id = next_line(&session)};
	int rc = -1;

	k.secret = next_line(&session);
	k.token = next_line(&session);
	k.until = strtoll(session, NULL, 10);
	if (is_key(&k) && k.token != NULL && k.until > 0)
		rc = 0;
	if (rc == 0)
		key_copy(to, &k);
	key_fini(&k);
	return rc;
}

static int take(struct aws *a, const char *session)
{
	switch (a->step) {
	case AWS_STEP_TOKEN:
		secret_wipe(&a->metadata_token);
		a->metadata_token = mem_strdup(session);
		return 0;
	case AWS_STEP_ROLE:
		if (strchr(session, '/') != NULL || strchr(session, '?') != NULL)
			return -1;
		secret_wipe(&a->metadata_role);
		a->metadata_role = mem_strdup(session);
		return 0;
	case AWS_STEP_KEY:
		return take_key(a->role != NULL ? &a->base : &a->now, session);
	case AWS_STEP_ASSUME:
		return take_key(&a->now, session);
	case AWS_STEP_DONE:
		break;
	}
	return -1;
}

int aws_renew(void *self, const char *session, struct err *e)
{
	struct aws *a = self;

	if (session == NULL) {
		restart(a);
		return 1;
	}
	if (take(a, session) != 0) {
		restart(a);
		return err_set(e, ERR_INVALID, "malformed login reply");
	}
	a->step++;
	if (a->step == AWS_STEP_DONE || (a->step == AWS_STEP_ASSUME && a->role == NULL)) {
		restart(a); /* for the next login */
		return 0;
	}
	return 1;
}
