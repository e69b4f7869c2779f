/* test_aws_errors.c - what the driver aws makes of errors: which code, and which words of them. */
#include "tests/unit/providers/aws_lab.h"
#include "tests/unit/two_headers.h"

#define C PROVIDER_CREATE
#define L PROVIDER_LIST
#define D PROVIDER_DELETE

/* Never one for the other: what follows from each differs. */
static const struct {
	enum provider_op_kind kind;
	long status;
	const char *word;
	enum provider_code code;
} errors[] = {
	/* EC2 says capacity with 500: it is no failure of its own */
	{C, 500, "InsufficientInstanceCapacity", PROVIDER_CAPACITY},
	{C, 400, "InsufficientInstanceCapacity", PROVIDER_CAPACITY},
	{C, 500, "InsufficientHostCapacity", PROVIDER_CAPACITY},
	{C, 500, "InsufficientReservedInstanceCapacity", PROVIDER_CAPACITY},
	{C, 400, "InvalidLaunchTargets", PROVIDER_CAPACITY},
	{C, 400, "InvalidCapacityReservationState", PROVIDER_CAPACITY},
	{C, 400, "InvalidCapacityReservationId.NotFound", PROVIDER_INVALID},
	{C, 400, "InsufficientCapacity", PROVIDER_CAPACITY},
	{C, 400, "UnfulfillableCapacity", PROVIDER_CAPACITY},
	{C, 400, "ReservationCapacityExceeded", PROVIDER_CAPACITY},
	{C, 400, "InsufficientFreeAddressesInSubnet", PROVIDER_CAPACITY},
	{C, 400, "SpotMaxPriceTooLow", PROVIDER_CAPACITY},
	{C, 400, "Unsupported", PROVIDER_CAPACITY},
	{C, 400, "InsufficientMoonlight", PROVIDER_CAPACITY},
	{C, 400, "MaxSpotInstanceCountExceeded", PROVIDER_QUOTA},
	{C, 400, "VcpuLimitExceeded", PROVIDER_QUOTA},
	{C, 400, "InstanceLimitExceeded", PROVIDER_QUOTA},
	{C, 400, "VolumeLimitExceeded", PROVIDER_QUOTA},
	{C, 400, "SomethingNewLimitExceeded", PROVIDER_QUOTA},
	{C, 503, "RequestLimitExceeded", PROVIDER_RATE},
	{C, 400, "RequestLimitExceeded", PROVIDER_RATE},
	{C, 400, "Throttling", PROVIDER_RATE},
	{C, 400, "ThrottlingException", PROVIDER_RATE},
	{C, 429, "", PROVIDER_RATE},
	{C, 403, "UnauthorizedOperation", PROVIDER_DENIED},
	{C, 401, "AuthFailure", PROVIDER_DENIED},
	{C, 403, "AccessDenied", PROVIDER_DENIED},
	{C, 400, "RequestExpired", PROVIDER_TRANSIENT},
	{C, 400, "ExpiredToken", PROVIDER_DENIED},
	{C, 403, "SignatureDoesNotMatch", PROVIDER_DENIED},
	{C, 403, "InvalidClientTokenId", PROVIDER_DENIED},
	{C, 400, "OptInRequired", PROVIDER_DENIED},
	{C, 400, "PendingVerification", PROVIDER_DENIED},
	{C, 403, "", PROVIDER_DENIED},
	{C, 400, "InvalidParameterValue", PROVIDER_INVALID},
	{C, 400, "InvalidAMIID.NotFound", PROVIDER_INVALID},
	{C, 400, "InvalidSubnetID.NotFound", PROVIDER_INVALID},
	{C, 400, "MissingParameter", PROVIDER_INVALID},
	{C, 400, "UnsupportedOperation", PROVIDER_INVALID},
	{C, 400, "InvalidInstanceID.NotFound", PROVIDER_INVALID},
	{C, 400, "NeverHeardOf", PROVIDER_INVALID},
	{C, 400, "IdempotentParameterMismatch", PROVIDER_CONFLICT},
	{C, 400, "IdempotentInstanceTerminated", PROVIDER_CONFLICT},
	{C, 500, "InternalError", PROVIDER_AMBIGUOUS},
	{C, 500, "InternalFailure", PROVIDER_AMBIGUOUS},
	{C, 500, "InternalServerError", PROVIDER_AMBIGUOUS},
	{C, 500, "ServerInternal", PROVIDER_AMBIGUOUS},
	{C, 503, "Unavailable", PROVIDER_AMBIGUOUS},
	{C, 503, "ServiceUnavailable", PROVIDER_AMBIGUOUS},
	{C, 503, "", PROVIDER_AMBIGUOUS},
	{C, 408, "", PROVIDER_AMBIGUOUS},
	{C, 502, "", PROVIDER_AMBIGUOUS},
	{C, 302, "", PROVIDER_AMBIGUOUS},
	{L, 500, "InternalError", PROVIDER_TRANSIENT},
	{L, 503, "RequestLimitExceeded", PROVIDER_RATE},
	{L, 403, "UnauthorizedOperation", PROVIDER_DENIED},
	{L, 400, "InvalidInstanceID.NotFound", PROVIDER_INVALID},
	{L, 400, "InvalidParameterValue", PROVIDER_INVALID},
	{L, 500, "InsufficientInstanceCapacity", PROVIDER_TRANSIENT},
	{D, 500, "InternalError", PROVIDER_TRANSIENT},
	{D, 400, "IncorrectInstanceState", PROVIDER_NOT_YET},
	{D, 503, "RequestLimitExceeded", PROVIDER_RATE},
	{D, 403, "UnauthorizedOperation", PROVIDER_DENIED},
	{D, 400, "InvalidInstanceID.Malformed", PROVIDER_INVALID},
	{D, 400, "VcpuLimitExceeded", PROVIDER_TRANSIENT},
	{PROVIDER_LOGIN, 403, "AccessDenied", PROVIDER_DENIED},
	{PROVIDER_LOGIN, 403, "ExpiredTokenException", PROVIDER_DENIED},
	{PROVIDER_LOGIN, 500, "", PROVIDER_TRANSIENT},
};

#undef C
#undef L
#undef D

static void test_errors_of_ec2_are_told_apart_for_each_call(void **state)
{
	static const char *const ids[] = {"i-1"};

	(void)state;
	for (size_t i = 0; i < COUNT(errors); i++) {
		struct provider_op op = create(2);
		struct provider_result r;
		struct str s;

		print_message("# %d %ld %s\n", (int)errors[i].kind, errors[i].status,
			      errors[i].word);
		if (errors[i].kind == PROVIDER_DELETE) {
			op.u.del.ids = ids;
			op.u.del.nids = 1;
		}
		op.kind = errors[i].kind;
		str_init(&s, 4096);
		if (errors[i].word[0] != '\0')
			str_addf(&s,
				 XML "<Response><Errors><Error><Code>%s</Code><Message>words "
				     "of EC2</Message></Error></Errors></Response>",
				 errors[i].word);
		parse(&r, &op, errors[i].status, s.p);
		assert_int_equal(r.code, errors[i].code);
		assert_int_equal(r.nitems, 0);
		if (errors[i].word[0] != '\0')
			assert_non_null(strstr(r.message, ": words of EC2"));
		else
			assert_string_not_equal(r.message, "");
		provider_result_fini(&r);
		str_fini(&s);
	}
}

static void test_a_message_has_no_secret_in_it(void **state)
{
	struct provider_op op = create(1);
	struct header v[2];
	struct provider_reply reply = {.status = 403,
				       .body = "<ErrorResponse><Error><Code>SignatureDoesNotMatch</"
					       "Code><Message>not\n" SECRET
					       " it was</Message></Error></ErrorResponse>",
				       .headers = two_headers(v, "7", NULL)};
	struct provider_result r = {0};

	(void)state;
	reply.len = strlen(reply.body);
	provider_aws.parse(self, &op, &reply, &r);
	assert_string_equal(r.message, "SignatureDoesNotMatch: not?*** it was");
	assert_int_equal(r.retry_after_ms, 7000);
	provider_result_fini(&r);
}

/* An answer's id stands in a header, or in its body: at the end of an error, or before all else.  A
 * failure's message ends with it, and whatever was cut, the id is whole. */
static void test_ec2s_id_of_a_request_is_told(void **state)
{
	static const char error[] = "<Response><Errors><Error><Code>Blocked</Code><Message>no"
				    "</Message></Error></Errors><RequestID>e-1</RequestID>"
				    "</Response>",
			  success[] = "<RunInstancesResponse><requestId>s-1</requestId>"
				      "</RunInstancesResponse>",
			  plain[] = "<html>", cut[] = "<RequestID>e-1";
	static const struct {
		const char *header, *body, *id;
	} rows[] = {
		{NULL, error, "e-1"},     {"h-1", error, "h-1"},  {NULL, success, "s-1"},
		{NULL, plain, ""},        {"h-1", plain, "h-1"},  {NULL, cut, ""},
		{"two words", error, ""}, {SECRET, plain, "***"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct header v = {"x-amzn-requestid", rows[i].header};
		const struct provider_op op = {.kind = PROVIDER_LIST};
		const struct provider_reply reply = {.status = 403,
						     .body = rows[i].body,
						     .len = strlen(rows[i].body),
						     .headers = {&v, rows[i].header != NULL}};
		char id[PROVIDER_REQUEST_MAX + 1], end[PROVIDER_REQUEST_MAX + 4];
		struct provider_result r = {0};

		provider_aws.request_id(self, &reply, id);
		assert_string_equal(id, rows[i].id);
		provider_aws.parse(self, &op, &reply, &r);
		(void)snprintf(end, sizeof(end), " (%s)", id);
		assert_int_equal(strstr(r.message, end) != NULL, id[0] != '\0');
		provider_result_fini(&r);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_errors_of_ec2_are_told_apart_for_each_call),
		T(test_ec2s_id_of_a_request_is_told),
		T(test_a_message_has_no_secret_in_it),
	};
#undef T

	return cmocka_run_group_tests_name("aws errors", tests, NULL, NULL);
}
