/* imds_azure.c - Azure's Instance Metadata Service: the instance, its attested document, and its
 * scheduled events. */
#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "providers/simcloud/imds_private.h"
#include "providers/simcloud/js.h"

#define COMPUTE      "/metadata/instance/compute"
#define SUBSCRIPTION "00000000-0000-0000-0000-000000000000"

enum {
	NONCE_SIZE = 64,
	VERSION_SIZE = 16,
	EVENT_ID_SIZE = 40,
	DATE_SIZE = 32,
	DOCUMENT_MAX_BYTES = 4096,
	LIFE_MS = 6 * 3600 * 1000, /* life of a document */
	DAY_MS = 86400000,
};

/* --- the instance ----------------------------------------------------------------------------- */

static bool tell_subscription(struct asked *a)
{
	str_adds(&a->out, SUBSCRIPTION);
	return true;
}

static bool tell_group(struct asked *a)
{
	str_adds(&a->out, "simcloud");
	return true;
}

static bool tell_priority(struct asked *a)
{
	str_adds(&a->out, a->row->market == MARKET_SPOT ? "Spot" : "Regular");
	return true;
}

static bool tell_os(struct asked *a)
{
	str_adds(&a->out, "Linux");
	return true;
}

static bool tell_user_data64(struct asked *a)
{
	const struct userdata *u = a->i->user_data;
	char *text;

	if (u == NULL)
		return true; /* "" */
	text = mem_zalloc((u->len + 2) / 3 * 4 + 1);
	(void)EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)u->bytes, (int)u->len);
	str_adds(&a->out, text);
	free(text);
	return true;
}

static const struct imds_path paths[] = {
	{COMPUTE "/location", imds_tell_region},
	{COMPUTE "/name", imds_tell_name},
	{COMPUTE "/osType", tell_os},
	{COMPUTE "/priority", tell_priority},
	{COMPUTE "/resourceGroupName", tell_group},
	{COMPUTE "/subscriptionId", tell_subscription},
	{COMPUTE "/userData", tell_user_data64},
	{COMPUTE "/vmId", imds_tell_id},
	{COMPUTE "/vmSize", imds_tell_type},
	{COMPUTE "/zone", imds_tell_zone},
	{"/metadata/instance/network/interface/0/ipv4/ipAddress/0/privateIpAddress",
	 imds_tell_address},
};

enum { PATHS = sizeof(paths) / sizeof(paths[0]) };

/* Write all values below COMPUTE. */
static void write_compute(struct asked *a, struct str *s)
{
	const size_t base = strlen(COMPUTE "/");

	js_open(s, NULL, '{');
	for (size_t k = 0; k < PATHS; k++) {
		if (strncmp(paths[k].path, COMPUTE "/", base) != 0)
			continue;
		(void)paths[k].tell(a);
		js_str(s, paths[k].path + base, a->out.p);
		str_clear(&a->out);
	}
	js_close(s, '}');
}

/* --- answers ---------------------------------------------------------------------------------- */

static void refuse(struct asked *a, struct http_answer *an, unsigned status, const char *why)
{
	str_clear(&a->out);
	js_open(&a->out, NULL, '{');
	js_str(&a->out, "error", why);
	js_close(&a->out, '}');
	imds_answer(an, a);
	an->status = status;
}

/* A single value is sent only as plain text, and only for format=text. */
static void get_instance(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	tell_fn tell = imds_find(paths, PATHS, rq->path);
	char format[8];
	struct str all;

	(void)http_query(rq->query, "format", format, sizeof(format));
	if (strcmp(rq->path, COMPUTE) == 0) {
		str_init(&all, a->out.max);
		write_compute(a, &all);
		an->status = 200;
		an->len = all.len;
		an->body = str_take(&all);
	} else if (tell == NULL) {
		refuse(a, an, 404, "Not found");
	} else if (strcasecmp(format, "text") != 0) {
		refuse(a, an, 400, "Bad request. Use format=text for a leaf node");
	} else {
		(void)tell(a);
		an->type = "text/plain; charset=utf-8";
		imds_answer(an, a);
	}
}

/* --- the attested document -------------------------------------------------------------------- */

/* 11/28/26 00:16:17 -0000 */
static void write_time(struct str *s, const char *key, int64_t ms)
{
	char t[FMT_TIME_SIZE], text[DATE_SIZE];

	(void)imds_second(t, ms);
	(void)snprintf(text, sizeof(text), "%.2s/%.2s/%.2s %.8s -0000", t + 5, t + 8, t + 2,
		       t + 11);
	js_str(s, key, text);
}

static void write_document(const struct asked *a, const char *nonce, struct str *s)
{
	char id[METER_ID_SIZE];

	js_open(s, NULL, '{');
	js_str(s, "licenseType", "");
	js_str(s, "nonce", nonce);
	js_open(s, "plan", '{');
	js_str(s, "name", "");
	js_str(s, "product", "");
	js_str(s, "publisher", "");
	js_close(s, '}');
	js_str(s, "sku", a->row->type);
	js_str(s, "subscriptionId", SUBSCRIPTION);
	js_open(s, "timeStamp", '{');
	write_time(s, "createdOn", a->now);
	write_time(s, "expiresOn", a->now + LIFE_MS);
	js_close(s, '}');
	js_str(s, "vmId", meter_id(id, a->i->row));
	js_close(s, '}');
}

/* If the request has no nonce, the time is the nonce. */
static void get_document(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	char nonce[NONCE_SIZE], *signature;
	struct str doc;

	if (http_query(rq->query, "nonce", nonce, sizeof(nonce)) < 0) {
		refuse(a, an, 400, "Bad request. The nonce is malformed or too long");
		return;
	}
	if (nonce[0] == '\0')
		(void)snprintf(nonce, sizeof(nonce), "%lld", (long long)a->now);
	str_init(&doc, DOCUMENT_MAX_BYTES);
	write_document(a, nonce, &doc);
	signature = identity_sign(a->m->identity, doc.p, doc.len, SIZE_MAX);
	str_fini(&doc);
	if (signature == NULL) {
		refuse(a, an, 500, "The service is not available");
		return;
	}
	str_addf(&a->out, "{\"encoding\":\"pkcs7\",\"signature\":\"%s\"}", signature);
	free(signature);
	imds_answer(an, a);
}

/* --- scheduled events ------------------------------------------------------------------------- */

static const struct {
	enum notice_kind kind;
	const char *type;
} events[] = {{NOTICE_RECLAIM, "Preempt"}, {NOTICE_MAINTENANCE, "Redeploy"}};

enum { EVENTS = sizeof(events) / sizeof(events[0]) };

static int64_t begins(const struct asked *a, size_t k)
{
	return events[k].kind == NOTICE_RECLAIM ? a->i->reclaim_at : a->i->repair_at;
}

static const char *event_id(char out[EVENT_ID_SIZE], const struct asked *a, size_t k)
{
	(void)snprintf(out, EVENT_ID_SIZE, "%08lX-0000-4000-8000-%012lX",
		       (unsigned long)events[k].kind + 1, (unsigned long)a->i->row);
	return out;
}

/* Mon, 19 Sep 2016 18:29:47 GMT */
static const char *day_and_time(char out[DATE_SIZE], int64_t ms)
{
	static const char days[] = "ThuFriSatSunMonTueWed", /* 1970 began with a Thursday */
		months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char t[FMT_TIME_SIZE];
	unsigned long month;

	(void)imds_second(t, ms);
	month = strtoul(t + 5, NULL, 10);
	(void)snprintf(out, DATE_SIZE, "%.3s, %.2s %.3s %.4s %.8s GMT", days + ms / DAY_MS % 7 * 3,
		       t + 8, months + (month + 11) % 12 * 3, t, t + 11);
	return out;
}

static void write_event(struct asked *a, size_t k)
{
	char id[EVENT_ID_SIZE], at[DATE_SIZE];
	struct str *s = &a->out;

	js_open(s, NULL, '{');
	js_str(s, "EventId", event_id(id, a, k));
	js_str(s, "EventType", events[k].type);
	js_str(s, "ResourceType", "VirtualMachine");
	js_open(s, "Resources", '[');
	js_str(s, NULL, a->row->node);
	js_close(s, ']');
	js_str(s, "EventStatus", "Scheduled");
	js_str(s, "NotBefore", day_and_time(at, begins(a, k)));
	js_str(s, "Description", "");
	js_str(s, "EventSource", "Platform");
	js_int(s, "DurationInSeconds", -1);
	js_close(s, '}');
}

static void get_events(struct asked *a, struct http_answer *an)
{
	int64_t n = 0;

	for (size_t k = 0; k < EVENTS; k++)
		n += begins(a, k) >= 0;
	js_open(&a->out, NULL, '{');
	js_int(&a->out, "DocumentIncarnation", n + 1);
	js_open(&a->out, "Events", '[');
	for (size_t k = 0; k < EVENTS; k++)
		if (begins(a, k) >= 0)
			write_event(a, k);
	js_close(&a->out, ']');
	js_close(&a->out, '}');
	imds_answer(an, a);
}

/* The index of the instance's event with this id; EVENTS: none. */
static size_t event_of(const struct asked *a, const char *name)
{
	char id[EVENT_ID_SIZE];
	size_t k = 0;

	while (k < EVENTS &&
	       (name == NULL || begins(a, k) < 0 || strcasecmp(name, event_id(id, a, k)) != 0))
		k++;
	return k;
}

/* {"StartRequests":[{"EventId":"..."}]}: start these events now, all of them or none. */
static void start_events(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	json_t *o = json_loadb(rq->body, rq->len, JSON_REJECT_DUPLICATES, NULL), *one;
	const json_t *list = json_object_get(o, "StartRequests");
	bool start[EVENTS] = {false}, good = json_array_size(list) > 0;
	size_t i, k;

	json_array_foreach(list, i, one)
	{
		k = event_of(a, json_string_value(json_object_get(one, "EventId")));
		good = good && k < EVENTS;
		if (k < EVENTS)
			start[k] = true;
	}
	json_decref(o);
	if (!good) {
		refuse(a, an, 400, "Bad request. There is no such event");
		return;
	}
	for (k = 0; k < EVENTS; k++)
		if (start[k])
			(void)cloud_hasten(a->m->cloud, a->i, events[k].kind, a->now);
	imds_answer(an, a);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* api-version must be a date, of the first version that had all of this or later. */
static bool has_version(const struct http_request *rq)
{
	static const char form[] = "dddd-dd-dd";
	char v[VERSION_SIZE];
	size_t i = 0;

	if (http_query(rq->query, "api-version", v, sizeof(v)) != 1)
		return false;
	while (form[i] != '\0' && (form[i] == 'd' ? v[i] >= '0' && v[i] <= '9' : v[i] == form[i]))
		i++;
	return form[i] == '\0' && v[i] == '\0' && strcmp(v, "2018-10-01") >= 0;
}

static void route(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	const char *path = rq->path;
	bool get = strcmp(rq->method, "GET") == 0;

	if (strcmp(path, "/metadata/scheduledevents") == 0 && strcmp(rq->method, "POST") == 0)
		start_events(a, rq, an);
	else if (!get)
		refuse(a, an, 405, "Method not allowed");
	else if (strcmp(path, "/metadata/scheduledevents") == 0)
		get_events(a, an);
	else if (strcmp(path, "/metadata/attested/document") == 0)
		get_document(a, rq, an);
	else
		get_instance(a, rq, an);
}

void imds_azure(struct asked *a, const struct http_request *rq, struct http_answer *an)
{
	const char *said = http_header(rq, "Metadata");

	an->type = "application/json; charset=utf-8";
	if (said == NULL || strcasecmp(said, "true") != 0)
		refuse(a, an, 400, "Bad request. Required metadata header not specified");
	else if (http_header(rq, "X-Forwarded-For") != NULL)
		refuse(a, an, 400, "Bad request. Forwarded requests are not allowed");
	else if (!has_version(rq))
		refuse(a, an, 400,
		       "Bad request. api-version is invalid or was not specified in the request");
	else
		route(a, rq, an);
}
