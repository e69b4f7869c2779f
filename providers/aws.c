#include "providers/aws.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ipaddr.h"
#include "base/mem.h"
#include "providers/aws_private.h"
#include "providers/common/rest.h"
#include "providers/common/words.h"

enum { TOKEN_LIFE_MS = 86400000 }; /* EC2 keeps tokens a day after the instance's end, at least */

/* --- open, close ------------------------------------------------------------------------------
 */

static char *dup_or_null(const char *text)
{
	return text != NULL && text[0] != '\0' ? mem_strdup(text) : NULL;
}

/* Parse "https://HOST[:PORT][/PATH]"; ep->host is as in the header Host, without the default
 * port. */
static int set_endpoint(struct aws_endpoint *ep, const char *url, struct err *e)
{
	bool tls = strncmp(url, "https://", 8) == 0;
	const char *host = url + (tls ? 8 : 7), *drop = tls ? ":443" : ":80";
	size_t n, end = strlen(drop);

	if (!rest_is_url(url))
		return err_set(e, ERR_INVALID, "want a URL http(s)://HOST[:PORT][/PATH]");
	n = strcspn(host, "/");
	ep->url = mem_strdup(url);
	ep->host = mem_strdup(host);
	ep->host[n] = '\0';
	if (n > end && strcmp(ep->host + n - end, drop) == 0)
		ep->host[n - end] = '\0';
	ep->path = mem_strdup(host[n] == '/' ? host + n : "/");
	return 0;
}

static void free_endpoint(struct aws_endpoint *ep)
{
	free(ep->url);
	free(ep->host);
	free(ep->path);
}

/* Demand TLS except on loopback, for tests: whoever reads a request may use its signature for
 * minutes, and STS replies with keys. */
static int set_service(struct aws_endpoint *ep, const char *url, struct err *e)
{
	if (set_endpoint(ep, url, e) != 0)
		return -1;
	if (strncmp(url, "http://", 7) == 0 && !ipaddr_host_is_loopback(url + 7))
		return err_set(e, ERR_INVALID, "want https://: %.100s is not this machine", url);
	return 0;
}

static int set_endpoints(struct aws *a, const struct provider_conf *conf,
			 const struct aws_options *own, struct err *e)
{
	const char *tail = strncmp(a->region, "cn-", 3) == 0 ? ".cn" : "";
	char ec2[160], sts[160];

	(void)snprintf(ec2, sizeof(ec2), "https://ec2.%s.amazonaws.com%s/", a->region, tail);
	(void)snprintf(sts, sizeof(sts), "https://sts.%s.amazonaws.com%s/", a->region, tail);
	if (set_service(&a->ec2, conf->url != NULL && conf->url[0] != '\0' ? conf->url : ec2, e) !=
	    0)
		return err_wrap(e, "url");
	if (set_service(&a->sts,
			own->sts_url != NULL && own->sts_url[0] != '\0' ? own->sts_url : sts,
			e) != 0)
		return err_wrap(e, "sts_url");
	if (set_endpoint(&a->metadata,
			 own->metadata_url != NULL && own->metadata_url[0] != '\0'
				 ? own->metadata_url
				 : "http://169.254.169.254",
			 e) != 0)
		return err_wrap(e, "metadata_url");
	if (a->metadata.url[strlen(a->metadata.url) - 1] == '/')
		a->metadata.url[strlen(a->metadata.url) - 1] = '\0';
	return 0;
}

/* "https://sqs.REGION.amazonaws.com/ACCOUNT/NAME": requests go to the host, and the whole URL names
 * the queue. */
static int set_queue(struct aws *a, const char *url, struct err *e)
{
	const char *host, *path;
	char *root;
	int rc;

	if (url == NULL || url[0] == '\0')
		return 0;
	host = strstr(url, "://");
	path = host != NULL ? strchr(host + 3, '/') : NULL;
	if (path == NULL || strchr(path + 1, '/') == NULL || !aws_is_plain(url, REST_BASE_MAX) ||
	    strpbrk(url, "\"\\") != NULL)
		return err_set(e, ERR_INVALID,
			       "notice_queue: want the URL of a queue, such as "
			       "\"https://sqs.eu-west-1.amazonaws.com/123456789012/burstd\"");
	a->queue = mem_strdup(url);
	root = mem_strdup(url);
	root[path + 1 - url] = '\0';
	rc = set_service(&a->sqs, root, e);
	free(root);
	return rc == 0 ? 0 : err_wrap(e, "notice_queue");
}

/* "ZONE=SUBNET,ZONE=SUBNET"; a zone may occur more than once. */
static int set_subnets(struct aws *a, const char *text, struct err *e)
{
	while (text[0] != '\0') {
		size_t n = strcspn(text, ","), zone = strcspn(text, "=,");
		struct aws_subnet *s = &a->subnets[a->nsubnets];

		if (a->nsubnets == AWS_SUBNETS_MAX)
			return err_set(e, ERR_LIMIT, "subnets: at most %d", AWS_SUBNETS_MAX);
		if (zone == 0 || zone + 1 >= n)
			return err_set(e, ERR_INVALID,
				       "subnets: want \"ZONE=SUBNET,ZONE=SUBNET\", such as "
				       "\"eu-west-1a=subnet-0123\"");
		s->zone = mem_strdup(text);
		s->zone[zone] = '\0';
		s->id = mem_strdup(text + zone + 1);
		s->id[n - zone - 1] = '\0';
		a->nsubnets++;
		text += n + (text[n] == ',');
	}
	return 0;
}

/* "TYPE[@ZONE]=[block:]TARGET", of n bytes. */
static int set_reservation(struct aws_reservation *r, const char *text, size_t n)
{
	size_t key = strcspn(text, "=,"), type = strcspn(text, "@=,"), kind;
	const char *target = text + key + 1;

	if (key >= n || type == 0 || (type < key && type + 1 == key))
		return -1;
	r->block = strncmp(target, "block:", 6) == 0;
	target += r->block ? 6 : 0;
	kind = strncmp(target, "cr-", 3) == 0 ? 3 : strncmp(target, "arn:", 4) == 0 ? 4 : 0;
	if (kind == 0 || target + kind >= text + n)
		return -1;
	r->type = mem_strdup(text);
	r->type[type] = '\0';
	r->zone = mem_strdup(type < key ? text + type + 1 : "");
	if (type < key)
		r->zone[key - type - 1] = '\0';
	r->target = mem_strdup(target);
	r->target[text + n - target] = '\0';
	return 0;
}

static int set_reservations(struct aws *a, const char *text, struct err *e)
{
	while (text != NULL && text[0] != '\0') {
		size_t n = strcspn(text, ",");

		if (a->nreservations == AWS_RESERVATIONS_MAX)
			return err_set(e, ERR_LIMIT, "reservations: at most %d",
				       AWS_RESERVATIONS_MAX);
		if (set_reservation(&a->reservations[a->nreservations], text, n) != 0)
			return err_set(e, ERR_INVALID,
				       "reservations: want \"TYPE=TARGET,TYPE@ZONE=TARGET\", with "
				       "cr-..., block:cr-... or arn:... as TARGET");
		a->nreservations++;
		text += n + (text[n] == ',');
	}
	return 0;
}

static int set_groups(struct aws *a, const char *text, struct err *e)
{
	while (text[0] != '\0') {
		size_t n = strcspn(text, ",");

		if (a->ngroups == AWS_GROUPS_MAX || n == 0)
			return err_set(e, ERR_INVALID,
				       "security_groups: want 1 to %d ids with commas between them",
				       AWS_GROUPS_MAX);
		a->groups[a->ngroups] = mem_strdup(text);
		a->groups[a->ngroups++][n] = '\0';
		text += n + (text[n] == ',');
	}
	return 0;
}

/* "lt-0123", "lt-0123:7", "name:7" */
static void set_template(struct aws *a, const char *text)
{
	size_t n = strcspn(text, ":");

	if (text[0] == '\0')
		return;
	a->template = mem_strdup(text);
	a->template[n] = '\0';
	/* If the default version changes between a create and its repeat, EC2 refuses the repeat,
	 * and the lists show what came of the create. */
	a->template_version = mem_strdup(text[n] == ':' ? text + n + 1 : "$Default");
}

static int set_user_data(struct aws *a, const char *text, struct err *e)
{
	size_t n = text != NULL ? strlen(text) : 0;

	if (n == 0)
		return 0;
	if (n > AWS_USER_DATA_MAX)
		return err_set(e, ERR_LIMIT,
			       "user_data_file: it has %zu bytes, and EC2 takes at most %d", n,
			       AWS_USER_DATA_MAX);
	a->user_data = words_base64(text);
	return 0;
}

static int set_launch(struct aws *a, const struct provider_conf *conf,
		      const struct aws_options *own, struct err *e)
{
	a->image = dup_or_null(own->image);
	a->profile = dup_or_null(own->instance_profile);
	a->key_name = dup_or_null(own->key_name);
	a->role = dup_or_null(own->role);
	set_template(a, own->launch_template != NULL ? own->launch_template : "");
	if (a->image == NULL && a->template == NULL)
		return err_set(e, ERR_INVALID, "want image or launch_template: the image to run");
	if (set_subnets(a, own->subnets != NULL ? own->subnets : "", e) != 0 ||
	    set_groups(a, own->security_groups != NULL ? own->security_groups : "", e) != 0 ||
	    set_reservations(a, own->reservations, e) != 0)
		return -1;
	return set_user_data(a, conf->user_data, e);
}

static void aws_close(void *self)
{
	struct aws *a = self;

	if (a == NULL)
		return;
	aws_login_close(a);
	for (size_t i = 0; i < a->ngroups; i++)
		free(a->groups[i]);
	for (size_t i = 0; i < a->nsubnets; i++) {
		free(a->subnets[i].zone);
		free(a->subnets[i].id);
	}
	for (size_t i = 0; i < a->nreservations; i++) {
		free(a->reservations[i].type);
		free(a->reservations[i].zone);
		free(a->reservations[i].target);
	}
	free_endpoint(&a->ec2);
	free_endpoint(&a->sts);
	free_endpoint(&a->metadata);
	free_endpoint(&a->sqs);
	free(a->queue);
	free(a->name);
	free(a->region);
	free(a->image);
	free(a->profile);
	free(a->key_name);
	free(a->template);
	free(a->template_version);
	free(a->role);
	free(a->user_data);
	free(a);
}

static int set_address(struct aws *a, const char *word, struct err *e)
{
	static const struct {
		const char *word, *element;
	} words[] = {{"private", AWS_ADDRESS_PRIVATE},
		     {"public", AWS_ADDRESS_PUBLIC},
		     {"ipv6", AWS_ADDRESS_IPV6}};

	a->address = word == NULL || word[0] == '\0' ? AWS_ADDRESS_PRIVATE : NULL;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (word != NULL && strcmp(word, words[i].word) == 0)
			a->address = words[i].element;
	return a->address != NULL
		       ? 0
		       : err_set(e, ERR_INVALID, "address: want private, public or ipv6");
}

static int aws_open(void **self, const struct provider_conf *conf, struct err *e)
{
	static const struct aws_options none;
	const struct aws_options *own = conf->options != NULL ? conf->options : &none;
	struct aws *a = mem_zalloc(sizeof(*a));

	*self = NULL;
	a->name = mem_strdup(conf->name);
	if (own->region == NULL || strlen(own->region) > PROVIDER_WORD_MAX ||
	    !aws_is_plain(own->region, PROVIDER_WORD_MAX)) {
		(void)err_set(e, ERR_INVALID, "want region, such as \"eu-west-1\"");
		goto fail;
	}
	a->region = mem_strdup(own->region);
	if (set_address(a, own->address, e) != 0 || set_endpoints(a, conf, own, e) != 0 ||
	    set_queue(a, own->notice_queue, e) != 0 || set_launch(a, conf, own, e) != 0 ||
	    aws_login_open(a, conf, e) != 0)
		goto fail;
	*self = a;
	return 0;
fail:
	aws_close(a);
	return -1;
}

/* Request limits that EC2 documents for each action, per account and region: {burst, tokens gained,
 * in ms}. None is documented for CreateFleet, which launches instances as RunInstances does. */
static const struct provider_limit limits[PROVIDER_NOPS] = {
	[PROVIDER_CREATE] = {.requests = {5, 2, 1000}, .instances = {1000, 2, 1000}},
	[PROVIDER_STEP] = {.requests = {5, 2, 1000}}, /* a launch in the next subnet */
	[PROVIDER_DELETE] = {.requests = {100, 5, 1000}, .instances = {1000, 20, 1000}},
	[PROVIDER_LIST] = {.requests = {100, 20, 1000}},
	[PROVIDER_QUOTES] = {.requests = {100, 20, 1000}},
	[PROVIDER_FABRIC_LIST] = {.requests = {100, 20, 1000}},
	[PROVIDER_FABRIC_MAKE] = {.requests = {50, 5, 1000}},
	[PROVIDER_FABRIC_DROP] = {.requests = {50, 5, 1000}},
	[PROVIDER_REPORT] = {.requests = {50, 5, 1000}},
	[PROVIDER_CONSOLE] = {.requests = {50, 5, 1000}},
	[PROVIDER_TOPOLOGY] = {.requests = {100, 20, 1000}},
};

/* No PROVIDER_GANGS: EC2 may launch only a part of a batch of several jobs.  It follows the order
 * of the batch, so that at most one job is cut. */
static struct provider_caps aws_caps(const void *self)
{
	const struct aws *a = self;

	return (struct provider_caps){
		.flags = PROVIDER_TOKENS | PROVIDER_TAGS | PROVIDER_FABRICS | PROVIDER_REPORTS |
			 PROVIDER_CONSOLES | PROVIDER_ELSEWHERE | PROVIDER_PAST | PROVIDER_PATHS |
			 PROVIDER_IMAGES | (a->queue != NULL ? PROVIDER_TELLS : 0),
		.create_max = AWS_CREATE_MAX,
		.delete_max = AWS_DELETE_MAX,
		.paths_max = AWS_PATHS_MAX,
		.token_ms = TOKEN_LIFE_MS,
		.reclaim_ms = AWS_WARNED_MS,
		.region = a->region,
		.spot_prices = AWS_CURRENCY,
		.limits = limits,
	};
}

/* Linux is billed by the second, with a minimum of 60 seconds (EC2's page of on-demand prices; what
 * an image from the marketplace costs besides is its seller's).  User-data is "limited to 16 KB, in
 * raw form, before it is base64-encoded" (EC2's user guide). */
static struct provider_terms aws_terms(const void *self, const struct provider_place *place)
{
	(void)self;
	(void)place;
	return (struct provider_terms){.quantum_ms = 1000,
				       .minimum_ms = 60000,
				       .data = PROVIDER_DATA_ANY,
				       .data_max = AWS_USER_DATA_MAX,
				       .own_image = true};
}

/* --- requests ---------------------------------------------------------------------------------
 */

static int build_body(const struct aws *a, const struct provider_op *op, struct str *body,
		      struct err *e)
{
	switch (op->kind) {
	case PROVIDER_CREATE:
		return aws_create_build(a, op, body, e);
	case PROVIDER_LIST:
		return aws_list_build(op->u.list.cluster, provider_cursor(op), body, e);
	case PROVIDER_DELETE:
		return aws_delete_build(op->u.del.ids, op->u.del.nids, body, e);
	case PROVIDER_QUOTES:
		return aws_quotes_build(op, body, e);
	case PROVIDER_REPORT:
		return aws_report_build(op->u.report.id, body, e);
	case PROVIDER_CONSOLE:
		return aws_console_build(op->u.console.id, body, e);
	case PROVIDER_TOPOLOGY:
		return aws_topology_build(op->u.topology.ids, op->u.topology.nids, body, e);
	case PROVIDER_FABRIC_MAKE:
	case PROVIDER_FABRIC_LIST:
	case PROVIDER_FABRIC_DROP:
		return aws_group_build(op, body, e);
	case PROVIDER_LOGIN:
	case PROVIDER_NOTICES:
	case PROVIDER_STEP:
	case PROVIDER_NOPS:
		break;
	}
	return err_set(e, ERR_INVALID, "no such request");
}

static int aws_build(const void *self, const struct provider_op *op, struct provider_request *out,
		     struct err *e)
{
	const struct aws *a = self;
	struct str body;

	if (op->kind == PROVIDER_LOGIN)
		return aws_login_build(a, op, out, e);
	if (op->kind == PROVIDER_NOTICES)
		return aws_notices_build(a, op, out, e);
	str_init(&body, AWS_BODY_MAX);
	body.secret = true; /* a create contains user-data */
	if (build_body(a, op, &body, e) != 0) {
		str_fini(&body);
		return -1;
	}
	return aws_post(a, &a->ec2, "ec2", &a->now, op->at_ms, &body, out, e);
}

/* --- replies ----------------------------------------------------------------------------------
 */

static int parse_list(const struct aws *a, const struct provider_op *op,
		      const struct provider_reply *reply, struct provider_result *out)
{
	struct aws_list *l = aws_list_begin(a);

	if (reply->body != NULL)
		aws_list_add(l, reply->body, reply->len);
	return aws_list_end(l, provider_cursor(op), out);
}

static int parse_ok(const struct aws *a, const struct provider_op *op,
		    const struct provider_reply *reply, struct provider_result *out)
{
	switch (op->kind) {
	case PROVIDER_CREATE:
		return aws_create_parse(a, op, reply, out);
	case PROVIDER_LIST:
		return parse_list(a, op, reply, out);
	case PROVIDER_DELETE:
		return aws_delete_parse(op->u.del.ids, op->u.del.nids, reply, out);
	case PROVIDER_QUOTES:
		return aws_quotes_parse(a, op, reply, out);
	case PROVIDER_LOGIN:
		return aws_login_parse(a, reply, out);
	case PROVIDER_NOTICES:
		return aws_notices_parse(a, op, reply, out);
	case PROVIDER_REPORT:
		return aws_report_parse(reply);
	case PROVIDER_CONSOLE:
		return aws_console_parse(reply, out);
	case PROVIDER_TOPOLOGY:
		return aws_topology_parse(reply, out);
	case PROVIDER_FABRIC_MAKE:
	case PROVIDER_FABRIC_LIST:
	case PROVIDER_FABRIC_DROP:
		return aws_group_parse(op, reply, out);
	case PROVIDER_STEP:
	case PROVIDER_NOPS:
		break;
	}
	return -1;
}

/* The job's own placement group is so new that parts of EC2 do not know it: send the same create
 * again later.  A create that counts as not sent would get another group, just as new; but that of
 * a unit is made again by its name. */
static void take_missing_group(const struct provider_op *op, const char *code,
			       struct provider_result *out)
{
	const struct provider_create *c = &op->u.create;

	if (op->kind != PROVIDER_CREATE || strcmp(code, "InvalidPlacementGroup.Unknown") != 0 ||
	    !provider_in_fabric(c->place))
		return;
	if (c->place->of_unit)
		out->code = PROVIDER_NOT_YET;
	else if (strcmp(c->place->fabric, c->token) == 0)
		out->code = PROVIDER_AMBIGUOUS;
}

static void parse_error(const struct aws *a, const struct provider_op *op,
			const struct provider_reply *reply, struct provider_result *out)
{
	char code[64], message[AWS_WORDS_MAX], text[AWS_WORDS_MAX + 80];

	aws_error_words(reply, code, message);
	out->retry_after_ms = headers_retry_after_ms(&reply->headers, AWS_RETRY_MAX_MS);
	out->code = aws_code(op->kind, code, reply->status);
	if (op->kind == PROVIDER_DELETE &&
	    aws_delete_error(op->u.del.ids, op->u.del.nids, code, message, out))
		return;
	if (out->code == PROVIDER_OK)
		return;
	take_missing_group(op, code, out);
	if (out->code == PROVIDER_NOT_FOUND && op->kind == PROVIDER_DELETE)
		out->code = PROVIDER_TRANSIENT; /* EC2 does not say which id */
	if (code[0] != '\0')
		(void)snprintf(text, sizeof(text), "%s: %s", code, message);
	else if (op->kind == PROVIDER_LOGIN && reply->status == 404)
		(void)snprintf(text, sizeof(text),
			       "no credential_file, and this machine has no role");
	else
		(void)snprintf(text, sizeof(text), "HTTP status %ld without an error message",
			       reply->status);
	aws_set_message(a, out, text);
	if (op->kind == PROVIDER_CREATE)
		aws_create_goes_on(a, op, code, out);
}

/* What failed has EC2's id of the request at its end. */
static void tell_id(const struct aws *a, const struct provider_reply *reply,
		    struct provider_result *out)
{
	char id[PROVIDER_REQUEST_MAX + 1];

	aws_request_id(a, reply, id);
	if (out->message[0] != '\0')
		words_add_id(out->message, sizeof(out->message), id);
}

/* rc: of reading a success. */
static void conclude(const struct aws *a, const struct provider_op *op, int rc,
		     struct provider_result *out)
{
	if (rc == 0) {
		if (op->kind != PROVIDER_NOTICES && out->cursor[0] != '\0')
			out->code = PROVIDER_MORE;
		return;
	}
	provider_result_fini(out); /* half a result would be worse than none */
	out->code = op->kind == PROVIDER_CREATE ? PROVIDER_AMBIGUOUS : PROVIDER_TRANSIENT;
	aws_set_message(a, out, "malformed reply");
}

static void aws_parse(const void *self, const struct provider_op *op,
		      const struct provider_reply *reply, struct provider_result *out)
{
	if (reply->status != 200)
		parse_error(self, op, reply, out);
	else
		conclude(self, op, parse_ok(self, op, reply, out), out);
	tell_id(self, reply, out);
}

/* A page of 250 instances with 32 interfaces each is 7 MB. */
static void *aws_read_begin(const void *self, const struct provider_op *op)
{
	return op->kind == PROVIDER_LIST ? aws_list_begin(self) : NULL;
}

static void aws_read_some(void *reader, const char *p, size_t len)
{
	aws_list_add(reader, p, len);
}

static void aws_read_end(void *reader, const void *self, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out)
{
	if (out == NULL) {
		(void)aws_list_end(reader, "", NULL);
		return;
	}
	conclude(self, op, aws_list_end(reader, provider_cursor(op), out), out);
	tell_id(self, reply, out);
}

const struct provider_ops provider_aws = {
	.name = "aws",
	.options = &aws_options,
	.open = aws_open,
	.close = aws_close,
	.caps = aws_caps,
	.terms = aws_terms,
	.request_id = aws_request_id,
	.build = aws_build,
	.parse = aws_parse,
	.read_begin = aws_read_begin,
	.read_some = aws_read_some,
	.read_end = aws_read_end,
	.fits = aws_fits,
	.good_until = aws_good_until,
	.renew = aws_renew,
};
