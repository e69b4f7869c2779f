/* simrun_ec2.h - the program simcloud with EC2's face, and the driver aws that talks to it. */
#ifndef TESTS_SIMRUN_EC2_H
#define TESTS_SIMRUN_EC2_H

#include "simrun.h"

#include "base/clock.h"
#include "providers/aws.h"
#include "providers/common/sigv4.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define KEY      "[default]\naws_access_key_id = AKIDLAB\naws_secret_access_key = lab/secret+key\n"

enum { MANY = 300 };

static const char cluster[] = "0b1c2d3e-0000-4000-8000-000000000001";
static struct simrun S;
static void *driver;
static int64_t clock_off; /* of the driver's */
static struct provider_want wants[MANY];
static char names[MANY][16];
static struct provider_place place;

static inline void open_driver(const char *credential, const char *template)
{
	char queue[128];
	const struct aws_options own = {.region = "eu-north-1",
					.image = "ami-1",
					.subnets = "eu-north-1a=subnet-eu-north-1a,"
						   "eu-north-1b=subnet-eu-north-1b",
					.security_groups = "sg-1,sg-2",
					.instance_profile = "nodes",
					.key_name = "k",
					.launch_template = template,
					.notice_queue = queue};
	const struct provider_conf conf = {.name = "t",
					   .url = S.url,
					   .credential = credential,
					   .user_data = "#!/bin/sh\n",
					   .options = &own};
	struct err e;

	(void)snprintf(queue, sizeof(queue), "%s/000000000000/burstd", S.url);

	provider_aws.close(driver);
	driver = NULL;
	if (provider_aws.open(&driver, &conf, &e) != 0)
		fail_msg("%s", e.msg);
}

static inline int setup(void **state)
{
	char path[SIMRUN_PATH];
	const char *args[] = {"--aws-key-file", path, NULL};

	(void)state;
	S = (struct simrun){0};
	clock_off = 0;
	simrun_dir(&S);
	simrun_write(simrun_path(path, S.dir, "key"), KEY);
	simrun_start(&S, args);
	open_driver(KEY, NULL);
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1ms\",\"stop\":\"1ms\"}");
	place = (struct provider_place){
		.type = "gpu_8x_h100", .region = "eu-north-1", .zone = "eu-north-1a"};
	for (size_t i = 0; i < MANY; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "c%zu", i + 1);
		wants[i] = (struct provider_want){.node = names[i], .gen = 7};
	}
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	provider_aws.close(driver);
	driver = NULL;
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_remove(S.dir);
	return 0;
}

static inline void drive(struct provider_op *op, struct provider_result *out)
{
	op->at_ms = clock_wall_ms() + clock_off;
	assert_int_equal(simrun_drive(&provider_aws, driver, op, out), 0);
}

static inline void create(struct provider_result *out, const char *token, size_t n)
{
	struct provider_op op = {.kind = PROVIDER_CREATE};

	op.u.create = (struct provider_create){
		.cluster = cluster, .token = token, .place = &place, .wants = wants, .nwants = n};
	drive(&op, out);
}

static inline size_t good(const struct provider_result *r)
{
	size_t n = 0;

	assert_int_equal(r->code, PROVIDER_OK);
	while (n < r->nitems && r->items[n].code == PROVIDER_OK)
		n++;
	for (size_t i = n; i < r->nitems; i++)
		assert_int_equal(r->items[i].code, PROVIDER_CAPACITY);
	return n;
}

static inline void list(struct provider_result *out, const char *cursor)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	op.u.list.cluster = cluster;
	op.cursor = cursor;
	drive(&op, out);
}

/* What was refused whole, and how. */
static inline void refused(struct provider_result *r, enum provider_code code, const char *words)
{
	assert_int_equal(r->code, code);
	if (strstr(r->message, words) == NULL)
		fail_msg("%s: %s", words, r->message);
	provider_result_fini(r);
}

static inline json_int_t rows(void)
{
	json_t *meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	json_int_t n = (json_int_t)json_array_size(json_object_get(meter, "rows"));

	json_decref(meter);
	return n;
}

/* Send a body of one's own, well signed; simrun_done() frees the reply. */
static inline void send_in(const char *region, const char *body, struct simrun_reply *r)
{
	const struct sigv4_key key = {.id = "AKIDLAB", .secret = "lab/secret+key"};
	const struct sigv4_header host = {"Host", S.url + strlen("http://")};
	const struct sigv4_request sr = {.method = "POST",
					 .path = "/",
					 .query = "",
					 .headers = &host,
					 .nheaders = 1,
					 .body = body,
					 .len = strlen(body),
					 .region = region,
					 .service = "ec2",
					 .at_ms = clock_wall_ms()};
	char date[SIGV4_DATE_SIZE], line[64];
	struct curl_slist *headers = NULL;
	struct str s;

	str_init(&s, 4096);
	str_adds(&s, "Authorization: ");
	assert_int_equal(sigv4_sign(&s, date, &key, &sr), 0);
	(void)snprintf(line, sizeof(line), "X-Amz-Date: %s", date);
	headers = curl_slist_append(curl_slist_append(headers, s.p), line);
	simrun_send(r, "POST", S.url, headers, body);
	curl_slist_free_all(headers);
	str_fini(&s);
}

static inline void ask_in(const char *region, const char *body, long status, const char *words)
{
	struct simrun_reply r;

	send_in(region, body, &r);
	if (r.status != status || strstr(r.body.p, words) == NULL)
		fail_msg("%s: %ld %s", body, r.status, r.body.p);
	simrun_done(&r);
}

static inline void ask(const char *body, long status, const char *words)
{
	ask_in("eu-north-1", body, status, words);
}

#define RUN "Action=RunInstances&Version=2016-11-15&MinCount=1&MaxCount=2&ImageId=ami-1"

#endif
