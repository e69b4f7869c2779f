/* test_sim_fabric.c - fabrics, by simcloud's neutral face and by EC2's: what the drivers ask for is
 * what simcloud does, and its machines stand where they should. */
#include "simrun.h"

#include "base/clock.h"
#include "providers/aws.h"
#include "providers/sim.h"

#define KEY "[default]\naws_access_key_id = AKIDLAB\naws_secret_access_key = lab/secret+key\n"

static const char cluster[] = "0b1c2d3e-0000-4000-8000-000000000001";
static struct simrun S;
static const struct provider_ops *ops; /* of the driver that is tried */
static void *self;
static struct provider_place place;

static int setup(void **state)
{
	char path[SIMRUN_PATH];
	const char *args[] = {"--aws-key-file", path, NULL};

	(void)state;
	S = (struct simrun){0};
	simrun_dir(&S);
	simrun_write(simrun_path(path, S.dir, "key"), KEY);
	simrun_start(&S, args);
	simrun_do(&S, "POST", "/admin/config",
		  "{\"boot\":\"1ms\",\"stop\":\"0s\",\"fabric_size\":4,\"fabric_max\":3}");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_remove(S.dir);
	return 0;
}

static void open_driver(const struct provider_ops *which)
{
	static const struct aws_options own = {.region = "eu-north-1",
					       .image = "ami-1",
					       .subnets = "eu-north-1a=subnet-eu-north-1a"};
	bool aws = which == &provider_aws;
	const struct provider_conf conf = {.name = "t",
					   .url = S.url,
					   .credential = aws ? KEY : NULL,
					   .options = aws ? &own : NULL};
	struct err e;

	ops = which;
	if (ops->open(&self, &conf, &e) != 0)
		fail_msg("%s", e.msg);
	place = (struct provider_place){
		.type = "gpu_8x_h100", .region = "eu-north-1", .zone = "eu-north-1a"};
}

static void drive(struct provider_op *op, struct provider_result *out)
{
	struct provider_request rq = {0};
	struct curl_slist *headers = NULL;
	struct simrun_reply r;
	struct provider_reply reply;

	op->at_ms = clock_wall_ms();
	*out = (struct provider_result){0};
	assert_int_equal(ops->build(self, op, &rq, NULL), 0);
	for (int i = 0; rq.headers[i] != NULL; i++)
		headers = curl_slist_append(headers, rq.headers[i]);
	simrun_send(&r, rq.method, rq.url, headers, rq.body);
	curl_slist_free_all(headers);
	provider_request_fini(&rq);
	assert_int_equal(r.rc, CURLE_OK);
	reply = (struct provider_reply){.status = r.status, .body = r.body.p, .len = r.body.len};
	ops->parse(self, op, &reply, out);
	simrun_done(&r);
}

/* --- about a fabric ----------------------------------------------------------------------------
 */

static enum provider_code about(enum provider_op_kind kind, const char *name)
{
	struct provider_op op = {.kind = kind};
	struct provider_result r;
	enum provider_code code;

	op.u.fabric.cluster = cluster;
	op.u.fabric.name = name;
	op.cursor = "";
	drive(&op, &r);
	code = r.code;
	provider_result_fini(&r);
	return code;
}

static size_t listed(const char *of)
{
	struct provider_op op = {.kind = PROVIDER_FABRIC_LIST};
	struct provider_result r;
	size_t n;

	op.u.fabric.cluster = of;
	op.u.fabric.name = op.cursor = "";
	drive(&op, &r);
	assert_int_equal(r.code, PROVIDER_OK);
	n = r.nfabrics;
	provider_result_fini(&r);
	return n;
}

/* --- machines in it ----------------------------------------------------------------------------
 */

/* n nodes of one job; ids, if wanted, of those that came.  What became of the first. */
static enum provider_code buy(const char *token, const char *fabric, size_t n,
			      char (*ids)[PROVIDER_ID_MAX + 1])
{
	static char names[8][24];
	struct provider_want wants[8];
	struct provider_op op = {.kind = PROVIDER_CREATE};
	struct provider_result r;
	enum provider_code code;

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "c%zu", i + 1);
		wants[i] = (struct provider_want){.node = names[i], .gen = 1, .group = 1};
	}
	place.fabric = fabric;
	op.u.create = (struct provider_create){
		.cluster = cluster, .token = token, .place = &place, .wants = wants, .nwants = n};
	drive(&op, &r);
	code = r.code == PROVIDER_OK ? r.items[0].code : r.code;
	for (size_t i = 0; i < r.nitems; i++) {
		assert_int_equal(r.items[i].code, code); /* whole or not at all */
		if (ids != NULL)
			memcpy(ids[i], r.items[i].instance.id, sizeof(ids[i]));
	}
	provider_result_fini(&r);
	return code;
}

/* On how many blocks the last n instances of simcloud are. */
static size_t blocks(size_t n)
{
	json_t *all = simrun_ask(&S, "GET", "/admin/instances", NULL, 200), *seen = json_object();
	const json_t *list = json_object_get(all, "instances");
	size_t have = json_array_size(list), different;

	assert_true(have >= n);
	for (size_t i = have - n; i < have; i++) {
		const char *block =
			json_string_value(json_object_get(json_array_get(list, i), "fabric"));

		assert_non_null(block);
		(void)json_object_set_new(seen, block, json_true());
	}
	different = json_object_size(seen);
	json_decref(seen);
	json_decref(all);
	return different;
}

static void delete_all(char (*ids)[PROVIDER_ID_MAX + 1], size_t n)
{
	const char *list[8];
	struct provider_op op = {.kind = PROVIDER_DELETE};
	struct provider_result r;

	for (size_t i = 0; i < n; i++)
		list[i] = ids[i];
	op.u.del.ids = list;
	op.u.del.nids = n;
	drive(&op, &r);
	assert_int_equal(r.code, PROVIDER_OK);
	provider_result_fini(&r);
}

static void the_life_of_a_fabric(void)
{
	char ids[8][PROVIDER_ID_MAX + 1];
	const char *zone;

	assert_int_equal(about(PROVIDER_FABRIC_DROP, "f-1"), PROVIDER_NOT_FOUND); /* of none */
	assert_int_equal(buy("none", "f-1", 3, NULL), PROVIDER_INVALID);
	place.of_unit = true; /* burstd makes it again */
	assert_int_equal(buy("none", "f-1", 3, NULL), PROVIDER_NOT_YET);
	place.of_unit = false;
	assert_int_equal(about(PROVIDER_FABRIC_MAKE, "f-1"), PROVIDER_OK);
	assert_int_equal(about(PROVIDER_FABRIC_MAKE, "f-1"), PROVIDER_OK); /* safe to repeat */
	assert_int_equal(listed(cluster), 1);
	assert_int_equal(listed("another"), 0);
	assert_int_equal(buy("lone", NULL, 3, ids), PROVIDER_OK);
	assert_int_equal(blocks(3), 3); /* strewn */
	delete_all(ids, 3);
	assert_int_equal(buy("t-1", "f-1", 3, ids), PROVIDER_OK);
	assert_int_equal(blocks(3), 1);
	assert_int_equal(buy("t-1", "f-1", 3, ids), PROVIDER_OK);        /* the same ones */
	assert_int_equal(buy("t-2", "f-1", 2, NULL), PROVIDER_CAPACITY); /* of four */
	zone = place.zone;
	place.zone = ""; /* in another zone it would not be the same fabric */
	assert_int_equal(buy("t-2a", "f-1", 2, NULL), PROVIDER_CAPACITY);
	place.zone = zone;
	assert_int_equal(buy("t-3", "f-1", 1, ids + 3), PROVIDER_OK);
	assert_int_equal(blocks(4), 1);
	assert_int_equal(about(PROVIDER_FABRIC_MAKE, "f-2"), PROVIDER_OK);
	assert_int_equal(buy("t-4", "f-2", 5, NULL), PROVIDER_CAPACITY); /* no block is so large */
	assert_int_equal(about(PROVIDER_FABRIC_DROP, "f-1"), PROVIDER_NOT_YET);
	delete_all(ids, 4);
	usleep(20000);
	assert_int_equal(about(PROVIDER_FABRIC_DROP, "f-1"), PROVIDER_OK);
	assert_int_equal(about(PROVIDER_FABRIC_DROP, "f-1"), PROVIDER_NOT_FOUND);
	assert_int_equal(about(PROVIDER_FABRIC_MAKE, "f-3"), PROVIDER_OK);
	assert_int_equal(about(PROVIDER_FABRIC_MAKE, "f-4"), PROVIDER_OK);
	assert_int_equal(about(PROVIDER_FABRIC_MAKE, "f-5"), PROVIDER_QUOTA);
	assert_int_equal(listed(cluster), 3);
}

static void test_by_the_neutral_face(void **state)
{
	(void)state;
	open_driver(&provider_sim);
	the_life_of_a_fabric();
	provider_sim.close(self);
}

static void test_by_ec2s(void **state)
{
	(void)state;
	open_driver(&provider_aws);
	the_life_of_a_fabric();
	provider_aws.close(self);
}

static void test_another_region_does_not_know_a_group(void **state)
{
	static const struct aws_options own = {.region = "eu-west-1", .image = "ami-1"};
	const struct provider_conf there = {
		.name = "t", .url = S.url, .credential = KEY, .options = &own};
	struct err e;

	(void)state;
	open_driver(&provider_aws);
	assert_int_equal(about(PROVIDER_FABRIC_MAKE, "f-1"), PROVIDER_OK);
	provider_aws.close(self);
	assert_int_equal(provider_aws.open(&self, &there, &e), 0);
	place.region = "eu-west-1";
	place.zone = "eu-west-1a";
	assert_int_equal(listed(cluster), 0);
	assert_int_equal(buy("t", "f-1", 2, NULL), PROVIDER_INVALID);
	assert_int_equal(about(PROVIDER_FABRIC_DROP, "f-1"), PROVIDER_NOT_FOUND);
	provider_aws.close(self);
}

/* --- where machines are ------------------------------------------------------------------------
 */

/* Ask where these machines are, until n of them run; paths are in their order, "" for none. */
static void where(const char *const *ids, size_t nids, size_t n,
		  char (*paths)[PROVIDER_PATH_MAX + 1])
{
	struct provider_op op = {.kind = PROVIDER_TOPOLOGY, .cursor = ""};
	struct provider_result r;

	op.u.topology.ids = ids;
	op.u.topology.nids = nids;
	drive(&op, &r);
	for (int k = 0; k < 500 && r.npaths < n; k++) {
		assert_int_equal(r.code, PROVIDER_OK);
		provider_result_fini(&r);
		usleep(10000);
		drive(&op, &r);
	}
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.npaths, n);
	for (size_t i = 0; i < nids; i++) {
		paths[i][0] = '\0';
		for (size_t k = 0; k < r.npaths; k++)
			if (strcmp(r.paths[k].id, ids[i]) == 0)
				memcpy(paths[i], r.paths[k].path, sizeof(paths[i]));
	}
	provider_result_fini(&r);
}

static void its_machines_are_where_it_says(const char *zone)
{
	char ids[8][PROVIDER_ID_MAX + 1], paths[8][PROVIDER_PATH_MAX + 1], want[100];
	const char *list[8];

	for (size_t i = 0; i < 8; i++)
		list[i] = ids[i];
	simrun_do(&S, "POST", "/admin/config", "{\"spine_size\":2}");
	assert_int_equal(buy("lone", NULL, 4, ids), PROVIDER_OK);
	where(list, 4, 4, paths);
	for (int i = 0; i < 4; i++) { /* one on each block, two blocks below each spine */
		(void)snprintf(want, sizeof(want),
			       "%seu-north-1a/%seu-north-1a-s%d/%seu-north-1a-b%d", zone, zone,
			       i / 2, zone, i);
		assert_string_equal(paths[i], want);
	}
	assert_int_equal(about(PROVIDER_FABRIC_MAKE, "f-1"), PROVIDER_OK);
	assert_int_equal(buy("t-1", "f-1", 2, ids), PROVIDER_OK);
	simrun_do(&S, "POST", "/admin/config", "{\"spine_size\":null}");
	where(list, 2, 2, paths);
	assert_string_equal(paths[0], paths[1]);
	simrun_do(&S, "POST", "/admin/config", "{\"fabric_apart\":true}");
	assert_int_equal(buy("t-2", "f-1", 5, ids), PROVIDER_OK); /* more than a block has */
	where(list, 5, 5, paths);
	assert_string_not_equal(paths[0], paths[1]);
	simrun_do(&S, "POST", "/admin/config", "{\"fabric_apart\":null,\"boot\":\"1h\"}");
	assert_int_equal(buy("slow", NULL, 1, ids + 5), PROVIDER_OK);
	where(list, 6, 5, paths); /* what does not run is nowhere */
	assert_string_equal(paths[5], "");
}

static void test_where_machines_are_by_the_neutral_face(void **state)
{
	static const char *const unknown[] = {"sim-99"};
	char paths[1][PROVIDER_PATH_MAX + 1];

	(void)state;
	open_driver(&provider_sim);
	its_machines_are_where_it_says("");
	where(unknown, 1, 0, paths);
	provider_sim.close(self);
}

/* As all of EC2's requests with ids: one that it does not know, and all of it fails. */
static void test_where_machines_are_by_ec2s(void **state)
{
	static const char *const unknown[] = {"i-0123"};
	struct provider_op op = {.kind = PROVIDER_TOPOLOGY};
	struct provider_result r;

	(void)state;
	open_driver(&provider_aws);
	its_machines_are_where_it_says("nn-");
	op.u.topology.ids = unknown;
	op.u.topology.nids = 1;
	drive(&op, &r);
	assert_int_equal(r.code, PROVIDER_INVALID);
	assert_non_null(strstr(r.message, "InvalidInstanceID.NotFound"));
	provider_result_fini(&r);
	provider_aws.close(self);
}

/* Without blocks all machines of a zone are together; and what the fabric has bought in another
 * market stands in the same racks. */
static void test_a_zone_or_the_fabrics_block_is_what_machines_share(void **state)
{
	char ids[2][PROVIDER_ID_MAX + 1], paths[2][PROVIDER_PATH_MAX + 1];
	const char *const list[] = {ids[0], ids[1]};

	(void)state;
	open_driver(&provider_sim);
	assert_int_equal(about(PROVIDER_FABRIC_MAKE, "f-1"), PROVIDER_OK);
	assert_int_equal(buy("lone", NULL, 1, NULL), PROVIDER_OK);
	assert_int_equal(buy("t-1", "f-1", 1, ids), PROVIDER_OK);
	place.market = PROVIDER_SPOT;
	assert_int_equal(buy("t-2", "f-1", 1, ids + 1), PROVIDER_OK);
	where(list, 2, 2, paths);
	assert_string_equal(paths[0], "eu-north-1a/eu-north-1a-b1");
	assert_string_equal(paths[1], paths[0]);
	simrun_do(&S, "POST", "/admin/config", "{\"fabric_size\":null}");
	assert_int_equal(buy("t-3", NULL, 1, ids), PROVIDER_OK);
	where(list, 1, 1, paths);
	assert_string_equal(paths[0], "eu-north-1a");
	provider_sim.close(self);
}

/* --- what the driver sim makes of replies ------------------------------------------------------
 */

static void parse(struct provider_result *r, enum provider_op_kind kind, long status,
		  const char *body)
{
	const struct provider_reply reply = {.status = status, .body = body, .len = strlen(body)};
	struct provider_op op = {.kind = kind};

	op.u.fabric.cluster = cluster;
	op.u.fabric.name = "tok";
	op.cursor = "";
	*r = (struct provider_result){0};
	provider_sim.parse(self, &op, &reply, r);
}

/* Of others there may be some, and one with a name so long is nobody's we know. */
static void test_replies(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		long status;
		const char *body;
		enum provider_code code;
	} rows[] = {
		{PROVIDER_FABRIC_MAKE, 200, "{\"name\":\"tok\"}", PROVIDER_OK},
		{PROVIDER_FABRIC_MAKE, 200, "<html>", PROVIDER_TRANSIENT},
		{PROVIDER_FABRIC_MAKE, 403, "{\"error\":{\"code\":\"quota\"}}", PROVIDER_QUOTA},
		{PROVIDER_FABRIC_MAKE, 500, "", PROVIDER_TRANSIENT}, /* it buys nothing */
		{PROVIDER_FABRIC_MAKE, 404, "{}", PROVIDER_INVALID}, /* an older simcloud */
		{PROVIDER_FABRIC_DROP, 200, "{}", PROVIDER_OK},
		{PROVIDER_FABRIC_DROP, 404, "{\"error\":{\"code\":\"not-found\"}}",
		 PROVIDER_NOT_FOUND},
		{PROVIDER_FABRIC_DROP, 409, "{\"error\":{\"code\":\"not-yet\"}}", PROVIDER_NOT_YET},
		{PROVIDER_FABRIC_LIST, 200, "{\"fabrics\":[],\"cursor\":\"\"}", PROVIDER_OK},
		{PROVIDER_FABRIC_LIST, 200, "{\"fabrics\":[]}", PROVIDER_TRANSIENT},
		{PROVIDER_FABRIC_LIST, 200, "{\"cursor\":\"\"}", PROVIDER_TRANSIENT},
	};
	static char body[1024];
	struct provider_result r;

	(void)state;
	open_driver(&provider_sim);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		parse(&r, rows[i].kind, rows[i].status, rows[i].body);
		assert_int_equal(r.code, rows[i].code);
		provider_result_fini(&r);
	}
	(void)snprintf(
		body, sizeof(body),
		"{\"fabrics\":[{\"name\":\"a\",\"cluster\":\"%s\"},"
		"{\"name\":\"b\",\"cluster\":\"x\"},{\"name\":\"%070d\",\"cluster\":\"%s\"},7,"
		"{\"name\":\"c\",\"cluster\":\"%s\"}],\"cursor\":\"\"}",
		cluster, 0, cluster, cluster);
	parse(&r, PROVIDER_FABRIC_LIST, 200, body);
	assert_int_equal(r.nfabrics, 2);
	assert_string_equal(r.fabrics[0].name, "a");
	assert_string_equal(r.fabrics[1].name, "c");
	provider_result_fini(&r);
	provider_sim.close(self);
}

static void test_a_path_that_cannot_be_read_is_none(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum provider_code code;
		const char *paths; /* "ID PATH;", each */
	} rows[] = {
		{200,
		 "{\"instances\":[{\"id\":\"a\",\"path\":[\"z\",\"b\"]},"
		 "{\"id\":\"b\",\"path\":[\"z\"]}]}",
		 PROVIDER_OK, "a z/b;b z;"},
		{200, "{\"instances\":[]}", PROVIDER_OK, ""},
		{200,
		 "{\"instances\":[{\"id\":\"a\",\"path\":[]},7,{\"id\":\"b\",\"path\":"
		 "[\"z\",\"a/b\"]},{\"path\":[\"z\"]},{\"id\":\"c\",\"path\":[\"z\",5]},"
		 "{\"id\":\"d\",\"path\":\"z\"},{\"id\":\"e\",\"path\":[\"z\"]}]}",
		 PROVIDER_OK, "e z;"},
		{200, "{}", PROVIDER_TRANSIENT, ""},
		{200, "{\"instances\":{}}", PROVIDER_TRANSIENT, ""},
		{404, "{\"error\":{\"code\":\"not-found\"}}", PROVIDER_INVALID, ""},
		{404, "{}", PROVIDER_INVALID, ""}, /* an older simcloud */
		{500, "", PROVIDER_TRANSIENT, ""},
	};

	(void)state;
	open_driver(&provider_sim);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r;
		char said[200] = "";

		parse(&r, PROVIDER_TOPOLOGY, rows[i].status, rows[i].body);
		for (size_t k = 0; k < r.npaths; k++)
			(void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s %s;",
				       r.paths[k].id, r.paths[k].path);
		assert_string_equal(said, rows[i].paths);
		assert_int_equal(r.code, rows[i].code);
		provider_result_fini(&r);
	}
	provider_sim.close(self);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_by_the_neutral_face),
		T(test_by_ec2s),
		T(test_another_region_does_not_know_a_group),
		T(test_where_machines_are_by_the_neutral_face),
		T(test_where_machines_are_by_ec2s),
		T(test_a_zone_or_the_fabrics_block_is_what_machines_share),
		T(test_replies),
		T(test_a_path_that_cannot_be_read_is_none),
	};
#undef T

	return cmocka_run_group_tests_name("sim_fabric", tests, NULL, NULL);
}
