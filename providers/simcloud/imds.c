/* imds.c - finds the instance that asks and the service of its cloud, and answers as EC2. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/imds_private.h"
#include "providers/simcloud/js.h"

enum { DATE_SIZE = 32, LINE = 64 };

static struct cloud_instance *who(const struct cloud *c, const char *from)
{
	uint32_t addr;

	if (from == NULL || inet_pton(AF_INET, from, &addr) != 1)
		return NULL;
	addr = ntohl(addr);
	for (uint32_t k = c->first; k < c->cap; k++) {
		struct cloud_instance *i = c->by_row[k];

		if (i != NULL && i->addr == addr && i->state != CLOUD_ENDED)
			return i;
	}
	return NULL;
}

/* --- times ------------------------------------------------------------------------------------ */

/* 2 Jan 2026 03:04:05 GMT */
static const char *date(char out[DATE_SIZE], int64_t ms)
{
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	char t[FMT_TIME_SIZE];
	unsigned long month;

	(void)imds_second(t, ms);
	month = strtoul(t + 5, NULL, 10);
	(void)snprintf(out, DATE_SIZE, "%lu %s %.4s %.8s GMT", strtoul(t + 8, NULL, 10),
		       months[(month + 11) % 12], t, t + 11);
	return out;
}

/* --- what there is ---------------------------------------------------------------------------- */

static bool tell_image(struct asked *a)
{
	str_adds(&a->out, "ami-00000000000000000");
	return true;
}

static bool tell_cycle(struct asked *a)
{
	str_adds(&a->out, a->row->market == MARKET_SPOT ? "spot" : "on-demand");
	return true;
}

static bool tell_action(struct asked *a)
{
	char t[FMT_TIME_SIZE];

	if (a->i->reclaim_at >= 0)
		str_addf(&a->out, "{\"action\":\"terminate\",\"time\":\"%s\"}",
			 imds_second(t, a->i->reclaim_at));
	return a->i->reclaim_at >= 0;
}

static bool tell_termination(struct asked *a)
{
	char t[FMT_TIME_SIZE];

	if (a->i->reclaim_at >= 0)
		str_adds(&a->out, imds_second(t, a->i->reclaim_at));
	return a->i->reclaim_at >= 0;
}

static bool tell_rebalance(struct asked *a)
{
	char t[FMT_TIME_SIZE];

	if (a->i->warned_at >= 0)
		str_addf(&a->out, "{\"noticeTime\":\"%s\"}", imds_second(t, a->i->warned_at));
	return a->i->warned_at >= 0;
}

static bool tell_maintenance(struct asked *a)
{
	char at[DATE_SIZE];

	if (a->i->repair_at < 0) {
		str_adds(&a->out, "[]");
		return true;
	}
	js_open(&a->out, NULL, '[');
	js_open(&a->out, NULL, '{');
	js_str(&a->out, "NotBefore", date(at, a->i->repair_at));
	js_str(&a->out, "Code", "instance-retirement");
	js_str(&a->out, "Description", "The instance is running on degraded hardware");
	str_addf(&a->out, ",\"EventId\":\"instance-event-%017lx\"", (unsigned long)a->i->row);
	js_str(&a->out, "NotAfter", date(at, a->i->repair_at));
	js_str(&a->out, "State", "active");
	js_close(&a->out, '}');
	js_close(&a->out, ']');
	return true;
}

/* Byte for byte as EC2 lays it out. */
static bool tell_document(struct asked *a)
{
	char id[METER_ID_SIZE], addr[ADDR_TEXT_SIZE], t[FMT_TIME_SIZE];

	str_addf(&a->out,
		 "{\n  \"accountId\" : \"000000000000\",\n  \"architecture\" : \"x86_64\",\n"
		 "  \"availabilityZone\" : \"%s\",\n  \"billingProducts\" : null,\n"
		 "  \"devpayProductCodes\" : null,\n  \"marketplaceProductCodes\" : null,\n"
		 "  \"imageId\" : \"ami-00000000000000000\",\n  \"instanceId\" : \"%s\",\n"
		 "  \"instanceType\" : \"%s\",\n  \"kernelId\" : null,\n",
		 a->row->zone, meter_id(id, a->i->row), a->row->type);
	str_addf(&a->out,
		 "  \"pendingTime\" : \"%s\",\n  \"privateIp\" : \"%s\",\n  \"ramdiskId\" : null,\n"
		 "  \"region\" : \"%s\",\n  \"version\" : \"2017-09-30\"\n}",
		 imds_second(t, a->row->start_ms), addr_text(addr, a->i->addr), a->row->region);
	return true;
}

static bool tell_signed(struct asked *a)
{
	char *text;

	(void)tell_document(a);
	text = identity_sign(a->m->identity, a->out.p, a->out.len, LINE);
	str_clear(&a->out);
	if (text != NULL)
		str_adds(&a->out, text);
	free(text);
	return a->out.len > 0;
}

/* In EC2's service a path that ends in '/' is a directory; none is here. */
static const struct imds_path ec2_paths[] =
	{
		{"/latest/dynamic/instance-identity/document", tell_document},
		{"/latest/dynamic/instance-identity/rsa2048", tell_signed},
		{"/latest/meta-data/ami-id", tell_image},
		{"/latest/meta-data/events/maintenance/scheduled", tell_maintenance},
		{"/latest/meta-data/events/recommendations/rebalance", tell_rebalance},
		{"/latest/meta-data/hostname", imds_tell_name},
		{"/latest/meta-data/instance-id", imds_tell_id},
		{"/latest/meta-data/instance-life-cycle", tell_cycle},
		{"/latest/meta-data/instance-type", imds_tell_type},
		{"/latest/meta-data/local-hostname", imds_tell_name},
		{"/latest/meta-data/local-ipv4", imds_tell_address},
		{"/latest/meta-data/placement/availability-zone", imds_tell_zone},
		{"/latest/meta-data/placement/region", imds_tell_region},
		{"/latest/meta-data/spot/instance-action", tell_action},
		{"/latest/meta-data/spot/termination-time", tell_termination},
		{"/latest/user-data", imds_tell_user_data},
},
			      plain_paths[] = {
				      {"/metadata/v1/address", imds_tell_address},
				      {"/metadata/v1/id", imds_tell_id},
				      {"/metadata/v1/name", imds_tell_name},
				      {"/metadata/v1/reclaim", tell_termination},
				      {"/metadata/v1/region", imds_tell_region},
				      {"/metadata/v1/type", imds_tell_type},
				      {"/metadata/v1/user-data", imds_tell_user_data},
				      {"/metadata/v1/zone", imds_tell_zone},
};

enum { PLAIN_PATHS = sizeof(plain_paths) / sizeof(plain_paths[0]) };

static tell_fn find(const char *path, bool ec2)
{
	tell_fn tell =
		ec2 ? imds_find(ec2_paths, sizeof(ec2_paths) / sizeof(ec2_paths[0]), path) : NULL;

	return tell != NULL ? tell : imds_find(plain_paths, PLAIN_PATHS, path);
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* Refuse requests with X-Forwarded-For: a proxy, which adds it, may have been tricked into them. */
static void put_token(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	const char *ttl = http_header(rq, "X-aws-ec2-metadata-token-ttl-seconds");
	char token[IDENTITY_TOKEN_SIZE];
	unsigned long s = 0;

	if (http_header(rq, "X-Forwarded-For") != NULL) {
		an->status = 403;
		return;
	}
	if (ttl != NULL && ttl[0] != '\0' && strlen(ttl) < 6 &&
	    ttl[strspn(ttl, "0123456789")] == '\0')
		s = strtoul(ttl, NULL, 10);
	if (s == 0 || s > IMDS_TOKEN_S_MAX) {
		an->status = 400;
		return;
	}
	identity_token(a->m->identity, a->i->row, a->now + (int64_t)s * 1000, token);
	str_adds(&a->out, token);
	imds_answer(an, a);
}

static bool is_ec2(const struct asked *a)
{
	return a->i->order != NULL && a->i->order->ec2;
}

/* A token in the request must be valid, even where none is demanded. */
static bool may_read(const struct asked *a, const struct http_request *rq)
{
	const char *token = http_header(rq, "X-aws-ec2-metadata-token");

	if (token != NULL)
		return identity_check(a->m->identity, token, a->i->row, a->now);
	return !a->i->order->tokens_only;
}

static void get(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	bool ec2 = strncmp(rq->path, "/latest/", 8) == 0;
	tell_fn tell = find(rq->path, is_ec2(a));

	if (ec2 && is_ec2(a) && !may_read(a, rq)) {
		an->status = 401;
		return;
	}
	if (tell == NULL || !tell(a))
		an->status = 404;
	else
		imds_answer(an, a);
}

static void handle_ec2(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	if (strcmp(rq->method, "GET") == 0)
		get(a, rq, an);
	else if (strcmp(rq->method, "PUT") == 0 && is_ec2(a) &&
		 strcmp(rq->path, "/latest/api/token") == 0)
		put_token(a, rq, an);
	else
		an->status = 405;
}

void imds_handle(struct imds *m, const struct http_request *rq, struct http_answer *an, int64_t now)
{
	struct asked a = {.m = m, .i = who(m->cloud, rq->from), .now = now};
	enum identity_kind kind = identity_kind(m->identity);

	an->status = 404;
	if (a.i == NULL)
		return;
	a.row = &m->cloud->meter->rows[a.i->row];
	str_init(&a.out, IMDS_TEXT_MAX_BYTES);
	if (kind == IDENTITY_AWS || strncmp(rq->path, "/metadata/v1/", 13) == 0)
		handle_ec2(&a, rq, an);
	else if (kind == IDENTITY_GCP)
		imds_gcp(&a, rq, an);
	else
		imds_azure(&a, rq, an);
	str_fini(&a.out);
}
