/* test_aws_topology.c - where EC2 says that instances are, in its reference's example and in what
 * may come instead; and what a path may have, whoever says it. */
#include "tests/unit/providers/aws_lab.h"

#define SAYS(items)                                                                                \
	XML "<DescribeInstanceTopologyResponse><instanceSet>" items                                \
	    "</instanceSet></DescribeInstanceTopologyResponse>"
#define AT(id, nodes)                                                                              \
	"<item><instanceId>" id "</instanceId><instanceType>p5.48xlarge</instanceType>"            \
	"<groupName>g</groupName><networkNodeSet>" nodes "</networkNodeSet></item>"
#define NODE(name) "<item>" name "</item>"
#define ERROR(code)                                                                                \
	"<Response><Errors><Error><Code>" code "</Code><Message>m</Message></Error></Errors>"      \
	"</Response>"

static void test_it_asks_about_a_hundred_at_most(void **state)
{
	static const char *ids[101];
	struct provider_op op = {.kind = PROVIDER_TOPOLOGY, .at_ms = now_ms};
	struct provider_request rq;

	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++)
		ids[i] = i == 0 ? "i-1" : "i-2";
	assert_int_equal(provider_aws.caps(self).paths_max, 100);
	op.u.topology.ids = ids;
	op.u.topology.nids = 2;
	build(&rq, &op);
	/* No MaxResults, which EC2 does not take beside ids. */
	assert_string_equal(rq.body, "Action=DescribeInstanceTopology&Version=2016-11-15"
				     "&InstanceId.1=i-1&InstanceId.2=i-2");
	provider_request_fini(&rq);
	op.u.topology.nids = 100;
	build(&rq, &op);
	assert_true(has(&rq, "InstanceId.100=i-2"));
	provider_request_fini(&rq);
	for (size_t n = 0; n <= 101; n += 101) {
		op.u.topology.nids = n;
		assert_int_equal(provider_aws.build(self, &op, &rq, NULL), -1);
	}
	op.u.topology.nids = 1;
	ids[0] = "";
	assert_int_equal(provider_aws.build(self, &op, &rq, NULL), -1);
	ids[0] = "i-1 i-2";
	assert_int_equal(provider_aws.build(self, &op, &rq, NULL), -1);
}

static void test_network_nodes_are_read_the_outermost_first(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum provider_code code;
		const char *paths; /* "ID PATH;", each */
	} rows[] = {
		{200,
		 SAYS(AT("i-1", NODE("nn-1") NODE("nn-2") NODE("nn-3"))
			      AT("i-2", NODE("nn-1") NODE("nn-2") NODE("nn-4") NODE("nn-5"))),
		 PROVIDER_OK, "i-1 nn-1/nn-2/nn-3;i-2 nn-1/nn-2/nn-4/nn-5;"},
		{200, SAYS(""), PROVIDER_OK, ""},
		/* of a type without: listed, and nothing said */
		{200, SAYS("<item><instanceId>i-1</instanceId></item>"), PROVIDER_OK, ""},
		{200, SAYS(AT("i-1", "") AT("i-2", NODE("nn-1"))), PROVIDER_OK, "i-2 nn-1;"},
		/* half a path is none */
		{200, SAYS(AT("i-1", NODE("nn-1") NODE("")) AT("i-2", NODE("nn-1"))), PROVIDER_OK,
		 "i-2 nn-1;"},
		{200, SAYS(AT("i-1", NODE("nn-1") NODE("a/b"))), PROVIDER_OK, ""},
		{200, SAYS(AT("i-1", NODE("nn-1") NODE("a b"))), PROVIDER_OK, ""},
		{200, SAYS(AT("", NODE("nn-1"))), PROVIDER_OK, ""},
		{200, SAYS(AT("i 1", NODE("nn-1"))), PROVIDER_OK, ""},
		{200, XML "<DescribeInstanceTopologyResponse/>", PROVIDER_TRANSIENT, ""},
		{200, XML "<DescribeInstancesResponse><instanceSet/></DescribeInstancesResponse>",
		 PROVIDER_TRANSIENT, ""},
		{200, SAYS(AT("i-1", NODE("nn-1"))) "<", PROVIDER_TRANSIENT, ""},
		{200, "", PROVIDER_TRANSIENT, ""},
		{400, ERROR("InvalidInstanceID.NotFound"), PROVIDER_INVALID, ""},
		{400, ERROR("UnsupportedOperation"), PROVIDER_INVALID, ""},
		{403, ERROR("UnauthorizedOperation"), PROVIDER_DENIED, ""},
		{503, ERROR("RequestLimitExceeded"), PROVIDER_RATE, ""},
		{500, ERROR("InternalError"), PROVIDER_TRANSIENT, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = {.kind = PROVIDER_TOPOLOGY};
		struct provider_result r;
		char said[200] = "";

		parse(&r, &op, rows[i].status, rows[i].body);
		assert_int_equal(r.code, rows[i].code);
		for (size_t k = 0; k < r.npaths; k++)
			(void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s %s;",
				       r.paths[k].id, r.paths[k].path);
		assert_string_equal(said, rows[i].paths);
		provider_result_fini(&r);
	}
}

/* It never asked for more, so more is read of no answer; nor a path of a hundred switches. */
static void test_an_answer_has_its_limits(void **state)
{
	struct provider_op op = {.kind = PROVIDER_TOPOLOGY};
	struct provider_result r;
	struct str s;

	(void)state;
	str_init(&s, 1 << 20);
	str_adds(&s, "<DescribeInstanceTopologyResponse><instanceSet><item><instanceId>i-0"
		     "</instanceId><networkNodeSet>");
	for (int i = 0; i < 17; i++)
		str_adds(&s, "<item>n</item>");
	str_adds(&s, "</networkNodeSet></item>");
	for (int i = 1; i <= 101; i++)
		str_addf(&s, AT("i-%d", NODE("nn-1")), i);
	str_adds(&s, "</instanceSet></DescribeInstanceTopologyResponse>");
	parse(&r, &op, 200, s.p);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.npaths, 100);
	assert_string_equal(r.paths[0].id, "i-1");
	assert_string_equal(r.paths[99].id, "i-100");
	provider_result_fini(&r);
	str_fini(&s);
}

static void test_a_path_has_names_and_slashes_between_them(void **state)
{
	struct provider_path p = {.id = "i-1"};
	char name[PROVIDER_PATH_MAX + 1];

	(void)state;
	assert_int_equal(provider_path_add(&p, ""), -1);
	assert_int_equal(provider_path_add(&p, "a"), 0);
	assert_string_equal(p.path, "a");
	assert_int_equal(provider_path_add(&p, "b/c"), -1);
	assert_int_equal(provider_path_add(&p, "b c"), -1);
	assert_int_equal(provider_path_add(&p, "b\xc3\xa4"), -1);
	assert_int_equal(provider_path_add(&p, "b\n"), -1);
	assert_string_equal(p.path, "a");
	memset(name, 'x', sizeof(name));
	name[PROVIDER_PATH_MAX - 2] = '\0';
	assert_int_equal(provider_path_add(&p, name + 0), 0); /* "a/" and the rest: just full */
	assert_int_equal(strlen(p.path), PROVIDER_PATH_MAX);
	assert_int_equal(provider_path_add(&p, "c"), -1);
	p.path[0] = '\0';
	memset(name, 'x', sizeof(name));
	name[PROVIDER_PATH_MAX] = '\0';
	assert_int_equal(provider_path_add(&p, name), 0);
	p.path[0] = 'a';
	p.path[1] = '\0';
	name[PROVIDER_PATH_MAX - 1] = '\0';
	assert_int_equal(provider_path_add(&p, name), -1);
	assert_string_equal(p.path, "a");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_it_asks_about_a_hundred_at_most),
		T(test_network_nodes_are_read_the_outermost_first),
		T(test_an_answer_has_its_limits),
		T(test_a_path_has_names_and_slashes_between_them),
	};
#undef T

	return cmocka_run_group_tests_name("aws_topology", tests, NULL, NULL);
}
