#include "providers/aws_private.h"

#include "base/mem.h"

enum { HEADER_MAX_BYTES = AWS_CRED_MAX + 1024 };

static void add_header(struct provider_request *out, const char *name, const char *value)
{
	struct str h;
	size_t n = 0;

	while (out->headers[n] != NULL)
		n++;
	str_init(&h, HEADER_MAX_BYTES);
	str_addf(&h, "%s: %s", name, value);
	out->headers[n] = str_take(&h);
}

struct post { /* one POST */
	const struct aws_endpoint *ep;
	const char *service, *type;
	const char *target; /* the action, if the body does not name it; or NULL */
	const struct aws_key *key;
	int64_t at_ms;
};

static int add_signature(const struct aws *a, const struct post *p, struct provider_request *out)
{
	const struct sigv4_header headers[] = {
		{"Host", p->ep->host}, {"Content-Type", p->type}, {"X-Amz-Target", p->target}};
	const struct sigv4_key k = {
		.id = p->key->id, .secret = p->key->secret, .token = p->key->token};
	const struct sigv4_request rq = {.method = "POST",
					 .path = p->ep->path,
					 .query = "",
					 .headers = headers,
					 .nheaders = p->target != NULL ? 3 : 2,
					 .body = out->body,
					 .len = out->body_len,
					 .region = a->region,
					 .service = p->service,
					 .at_ms = p->at_ms};
	char date[SIGV4_DATE_SIZE];
	struct str s;
	int rc = 0;

	add_header(out, "Content-Type", p->type);
	if (p->target != NULL)
		add_header(out, "X-Amz-Target", p->target);
	/* Without a session the request stays unsigned: the engine needs only its body, and sends
	 * nothing. */
	if (p->key->id == NULL)
		return 0;
	str_init(&s, HEADER_MAX_BYTES);
	rc = sigv4_sign(&s, date, &k, &rq);
	if (rc == 0) {
		add_header(out, "X-Amz-Date", date);
		if (p->key->token != NULL)
			add_header(out, "X-Amz-Security-Token", p->key->token);
		add_header(out, "Authorization", s.p);
	}
	str_fini(&s);
	return rc;
}

static int post(const struct aws *a, const struct post *p, struct str *body,
		struct provider_request *out, struct err *e)
{
	bool full = body->full;

	out->kind = PROVIDER_HTTP;
	out->method = "POST";
	out->body_len = body->len;
	out->body = str_take(body);
	out->url = mem_strdup(p->ep->url);
	if (!full && add_signature(a, p, out) == 0)
		return 0;
	provider_request_fini(out);
	return err_set(e, ERR_LIMIT, "the request is longer than %d bytes", AWS_BODY_MAX);
}

int aws_post(const struct aws *a, const struct aws_endpoint *ep, const char *service,
	     const struct aws_key *key, int64_t at_ms, struct str *body,
	     struct provider_request *out, struct err *e)
{
	const struct post p = {.ep = ep,
			       .service = service,
			       .type = "application/x-www-form-urlencoded; charset=utf-8",
			       .key = key,
			       .at_ms = at_ms};

	return post(a, &p, body, out, e);
}

int aws_post_queue(const struct aws *a, const char *action, int64_t at_ms, struct str *body,
		   struct provider_request *out, struct err *e)
{
	const struct post p = {.ep = &a->sqs,
			       .service = "sqs",
			       .type = "application/x-amz-json-1.0",
			       .target = action,
			       .key = &a->now,
			       .at_ms = at_ms};

	return post(a, &p, body, out, e);
}

int aws_post_secrets(const struct aws *a, const char *action, int64_t at_ms, struct str *body,
		     struct provider_request *out, struct err *e)
{
	const struct post p = {.ep = &a->ec2,
			       .service = "secretsmanager",
			       .type = "application/x-amz-json-1.1",
			       .target = action,
			       .key = &a->now,
			       .at_ms = at_ms};

	return post(a, &p, body, out, e);
}
