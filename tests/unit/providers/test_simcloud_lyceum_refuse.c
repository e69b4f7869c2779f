/* test_simcloud_lyceum_refuse.c - Lyceum's face of simcloud refuses in Lyceum's words: malformed
 * requests, credentials and sessions, and each fault on demand. */
#include "simrun_lyceum.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#define WRONG(type, loc, msg)                                                                      \
	"{\"detail\":[{\"type\":\"" type "\",\"loc\":[" loc "],\"msg\":\"" msg "\"}]}"
#define INVALID                                                                                    \
	"{\"detail\":\"The instance request was invalid. Please check your parameters and try "    \
	"again.\"}"
#define CAPACITY                                                                                   \
	"{\"detail\":\"The instance could not be provisioned right now. Please try again in a "    \
	"moment.\"}"

static void test_a_bad_request_is_told_what_is_wrong_with_it(void **state)
{
	static const struct {
		const char *method, *path, *body;
		long status;
		const char *answer;
	} table[] = {
		{"POST", "vms/create", "{\"hardware_profile\":\"h100\"}", 422,
		 WRONG("missing", "\"body\",\"user_public_key\"", "Field required")},
		{"POST", "vms/create", "{\"user_public_key\":\"k\"}", 422,
		 WRONG("missing", "\"body\",\"hardware_profile\"", "Field required")},
		{"POST", "vms/create", "{\"user_public_key\":7,\"hardware_profile\":\"h100\"}", 422,
		 WRONG("string_type", "\"body\",\"user_public_key\"",
		       "Input should be a valid string")},
		{"POST", "vms/create", "{\"user_public_key\":null,\"hardware_profile\":\"h100\"}",
		 422,
		 WRONG("string_type", "\"body\",\"user_public_key\"",
		       "Input should be a valid string")},
		{"POST", "vms/create", VM(",\"instance_specs\":[]"), 422,
		 WRONG("dict_type", "\"body\",\"instance_specs\"",
		       "Input should be a valid dictionary")},
		{"POST", "vms/create", VM(",\"instance_specs\":{\"gpu_count\":\"8\"}"), 422,
		 WRONG("int_type", "\"body\",\"instance_specs\",\"gpu_count\"",
		       "Input should be a valid integer")},
		{"POST", "vms/create", VM(",\"instance_type\":\"reserved\""), 422,
		 WRONG("literal_error", "\"body\",\"instance_type\"",
		       "Input should be 'on-demand' or 'spot'")},
		{"POST", "vms/create", VM(",\"display_name\":{}"), 422,
		 WRONG("string_type", "\"body\",\"display_name\"",
		       "Input should be a valid string")},
		{"POST", "vms/create", "{bad", 422,
		 WRONG("json_invalid", "\"body\",4", "JSON decode error")},
		{"POST", "vms/create", "[]", 422,
		 WRONG("model_attributes_type", "\"body\"",
		       "Input should be a valid dictionary or object to extract fields from")},
		{"POST", "vms/create", VM(GPUS(3)), 400, INVALID},
		{"POST", "vms/create", VM(GPUS(-1)), 400, INVALID},
		{"POST", "vms/create", VM(GPUS(4294967304)), 400, INVALID},
		{"POST", "vms/create",
		 "{\"user_public_key\":\"k\",\"hardware_profile\":\"l40s\","
		 "\"instance_type\":\"spot\"}",
		 400, INVALID},
		{"POST", "vms/create", "{\"user_public_key\":\"k\",\"hardware_profile\":\"v100\"}",
		 400,
		 "{\"detail\":\"Unknown hardware_profile 'v100'. Valid options: a100, b200, b300, "
		 "h100, h200, l40s\"}"},
		{"POST", "vms/create", VM(GPUS(4)), 500, CAPACITY},
		{"GET", "vms/list?include_failed=maybe", NULL, 422,
		 WRONG("bool_parsing", "\"query\",\"include_failed\"",
		       "Input should be a valid boolean, unable to interpret input")},
		{"GET", "vms/0123/status", NULL, 404, "{\"detail\":\"VM not found\"}"},
		{"DELETE", "vms/0123", NULL, 404, "{\"detail\":\"VM not found\"}"},
		{"PATCH", "vms/0123", "{\"display_name\":\"c\"}", 404,
		 "{\"detail\":\"VM not found\"}"},
		{"PATCH", "vms/0123", "{}", 422,
		 WRONG("missing", "\"body\",\"display_name\"", "Field required")},
		{"POST", "vms/0123", "{}", 405, "{\"detail\":\"Method Not Allowed\"}"},
		{"DELETE", "vms/list", NULL, 404, "{\"detail\":\"VM not found\"}"},
		{"PUT", "vms/list", NULL, 405, "{\"detail\":\"Method Not Allowed\"}"},
		{"GET", "vms/0123/status/more", NULL, 404, "{\"detail\":\"Not Found\"}"},
		{"GET", "vms//status", NULL, 404, "{\"detail\":\"Not Found\"}"},
		{"GET", "", NULL, 404, "{\"detail\":\"Not Found\"}"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++)
		says(table[i].method, table[i].path, table[i].body, table[i].status,
		     table[i].answer);
	assert_int_equal(bought(""), 0);
}

static void test_no_credits_and_no_room_are_told_apart(void **state)
{
	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"quota\":0}");
	says("POST", "vms/create", VM(GPUS(8)), 402, "{\"detail\":\"Insufficient credits\"}");
	simrun_do(&S, "POST", "/admin/config", "{\"quota\":null}");
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":0}");
	says("POST", "vms/create", VM(GPUS(8)), 500, CAPACITY);
	assert_int_equal(bought(""), 0);
}

/* --- credentials ------------------------------------------------------------------------------ */

static void test_only_the_key_is_served(void **state)
{
	static const char *const wrong[] = {
		"Authorization: Bearer lk_lab-k3x", "Authorization: Bearer lk_lab-k3",
		"Authorization: Bearer ", "Authorization: Basic " KEY, "Authorization: " KEY};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		rest_headers[0] = wrong[i];
		says("GET", "vms/list", NULL, 401,
		     "{\"detail\":\"Could not validate credentials\"}");
	}
	rest_headers[0] = NULL;
	says("GET", "vms/list", NULL, 401, "{\"detail\":\"Not authenticated\"}");
	says("POST", "vms/create", VM(GPUS(8)), 401, "{\"detail\":\"Not authenticated\"}");
	assert_int_equal(bought(""), 0);
}

static char bearer[600];

static void use_token(const json_t *session, const char *member)
{
	(void)snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s",
		       text_at(session, member));
	rest_headers[0] = bearer;
}

static void test_a_session_is_begun_and_refreshed(void **state)
{
	json_t *session, *again;
	char body[700];

	(void)state;
	rest_headers[0] = NULL;
	says("POST", "auth/login", "{\"email\":\"a@example.com\",\"password\":\"wrong\"}", 401,
	     "{\"detail\":\"Invalid login credentials\"}");
	session = ask("POST", "auth/login",
		      "{\"email\":\"a@example.com\",\"password\":\"" KEY "\"}", 200);
	assert_int_equal(strncmp(text_at(session, "access_token"), "eyJ", 3), 0);
	use_token(session, "access_token");
	json_decref(ask("GET", "vms/list", NULL, 200));
	use_token(session, "refresh_token"); /* is for a refresh only */
	says("GET", "vms/list", NULL, 401, "{\"detail\":\"Could not validate credentials\"}");
	rest_headers[0] = NULL;
	(void)snprintf(body, sizeof(body), "{\"refresh_token\":\"%s\"}",
		       text_at(session, "access_token")); /* and an access token is not */
	says("POST", "auth/refresh", body, 401, "{\"detail\":\"Invalid refresh token\"}");
	(void)snprintf(body, sizeof(body), "{\"refresh_token\":\"%s\"}",
		       text_at(session, "refresh_token"));
	again = ask("POST", "auth/refresh", body, 200);
	use_token(again, "access_token");
	json_decref(ask("GET", "vms/list", NULL, 200));
	json_decref(again);
	json_decref(session);
	rest_headers[0] = NULL;
	says("POST", "auth/refresh", "{}", 422,
	     WRONG("missing", "\"body\",\"refresh_token\"", "Field required"));
	says("POST", "auth/login", "{\"email\":7,\"password\":\"x\"}", 422,
	     WRONG("string_type", "\"body\",\"email\"", "Input should be a valid string"));
	says("POST", "auth/login", "{bad", 422,
	     WRONG("missing", "\"body\",\"email\"", "Field required"));
}

static void url64(char *out, const void *bytes, int n)
{
	char *p;

	(void)EVP_EncodeBlock((unsigned char *)out, bytes, n);
	for (p = out; *p != '\0' && *p != '='; p++)
		*p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
	*p = '\0';
}

/* A token with these claims, signed with that key. */
static void sign_token(const char *claims, const char *key)
{
	char *token = bearer + strlen("Authorization: Bearer "), *end;
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned n;

	(void)snprintf(bearer, sizeof(bearer), "Authorization: Bearer ");
	url64(token, "{\"alg\":\"HS256\",\"typ\":\"JWT\"}", 27);
	end = token + strlen(token);
	*end++ = '.';
	url64(end, claims, (int)strlen(claims));
	(void)HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)token, strlen(token),
		   mac, &n);
	end += strlen(end);
	*end++ = '.';
	url64(end, mac, (int)n);
	rest_headers[0] = bearer;
}

static void test_a_session_ends(void **state)
{
	(void)state;
	sign_token("{\"use\":\"access\",\"exp\":4102444800}", KEY);
	json_decref(ask("GET", "vms/list", NULL, 200));
	sign_token("{\"use\":\"access\",\"exp\":4102444800}", "another");
	json_decref(ask("GET", "vms/list", NULL, 401));
	sign_token("{\"use\":\"access\",\"exp\":1000000000}", KEY);
	json_decref(ask("GET", "vms/list", NULL, 401));
	sign_token("{\"use\":\"access\"}", KEY);
	json_decref(ask("GET", "vms/list", NULL, 401));
	sign_token("{\"exp\":4102444800}", KEY);
	json_decref(ask("GET", "vms/list", NULL, 401));
}

/* A key belongs to an organization, whatever the header says. */
static void test_a_session_is_of_an_organization(void **state)
{
	(void)state;
	rest_headers[1] = "X-Org-Slug: other";
	json_decref(ask("GET", "vms/list", NULL, 200));
	sign_token("{\"use\":\"access\",\"exp\":4102444800}", KEY);
	says("GET", "vms/list", NULL, 404, "{\"detail\":\"Organization not found\"}");
	rest_headers[1] = "X-Org-Slug: simcloud";
	json_decref(ask("GET", "vms/list", NULL, 200));
}

static void test_what_the_clients_ask_about_the_account(void **state)
{
	json_t *o;

	(void)state;
	o = ask("GET", "user/org", NULL, 200);
	assert_string_equal(text_at(o, "slug"), "simcloud");
	json_decref(o);
	o = ask("GET", "orgs", NULL, 200);
	assert_string_equal(text_at(o, "0.slug"), "simcloud");
	json_decref(o);
	json_decref(ask("GET", "machine-types", NULL, 200));
	o = ask("GET", "billing/credits", NULL, 200);
	assert_true(json_is_real(at(o, "available_credits")));
	json_decref(o);
}

/* --- faults ----------------------------------------------------------------------------------- */

#define RULE(rest) "{\"count\":1," rest "}"

static void fault(const char *rule)
{
	simrun_do(&S, "POST", "/admin/faults", rule);
}

static void test_faults_are_told_in_lyceums_words(void **state)
{
	static const struct {
		const char *rule;
		long status;
		const char *answer;
	} table[] = {
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"capacity\""), 500,
		 CAPACITY},
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"quota\""), 402,
		 "{\"detail\":\"Insufficient credits\"}"},
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"invalid\""), 400, INVALID},
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"internal\""), 500,
		 "{\"detail\":\"Internal Server Error\"}"},
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"internal\","
		      "\"status\":503,\"message\":\"upstream\""),
		 503, "{\"detail\":\"upstream\"}"},
		{RULE("\"op\":\"create\",\"action\":\"error\",\"code\":\"denied\""), 401,
		 "{\"detail\":\"Could not validate credentials\"}"},
		{RULE("\"op\":\"create\",\"action\":\"partial\",\"keep\":0"), 500, CAPACITY},
		{RULE("\"op\":\"create\",\"action\":\"late\",\"ms\":1"), 500,
		 "{\"detail\":\"Internal Server Error\"}"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		assert_int_equal(bought(""), 0);
		fault(table[i].rule);
		says("POST", "vms/create", VM(GPUS(8)), table[i].status, table[i].answer);
	}
	for (int i = 0; i < 500 && bought("") == 0; i++)
		usleep(10000);
	assert_int_equal(bought(""), 1); /* the late one */
}

static void test_an_effect_may_be_without_its_answer(void **state)
{
	struct simrun_reply r;

	(void)state;
	fault(RULE("\"op\":\"create\",\"action\":\"error\",\"when\":\"after\""));
	json_decref(ask("POST", "vms/create", VM(GPUS(8)), 500));
	assert_int_equal(bought(""), 1);
	fault(RULE("\"op\":\"create\",\"action\":\"drop-reply\""));
	rest_send(&r, "POST", "vms/create", VM(GPUS(8)));
	assert_true(r.rc != CURLE_OK);
	simrun_done(&r);
	assert_int_equal(bought(""), 2);
	fault(RULE("\"op\":\"create\",\"action\":\"truncate\""));
	assert_null(ask("POST", "vms/create", VM(GPUS(8)), 200));
	fault(RULE("\"op\":\"create\",\"action\":\"garbage\""));
	assert_null(ask("POST", "vms/create", VM(GPUS(8)), 200));
	assert_int_equal(bought(""), 4);
}

static void test_a_list_may_lack_machines(void **state)
{
	json_t *vms;
	char id[64];

	(void)state;
	(void)create("c1");
	(void)snprintf(id, sizeof(id), "%s", create("c2"));
	fault(RULE("\"op\":\"list\",\"action\":\"empty\""));
	says("GET", "vms/list", NULL, 200, "{\"vms\":[],\"total\":0}");
	fault(RULE("\"op\":\"list\",\"action\":\"partial\",\"node\":\"c1\""));
	vms = ask("GET", "vms/list", NULL, 200);
	assert_int_equal(json_integer_value(at(vms, "total")), 1);
	assert_string_equal(text_at(vms, "vms.0.display_name"), "c2");
	json_decref(vms);
	fault(RULE("\"op\":\"delete\",\"action\":\"error\",\"code\":\"capacity\",\"node\":\"c2\""));
	delete (id, 500);
	delete (id, 200);
}

static void test_too_many_requests_are_refused(void **state)
{
	struct simrun_reply r;

	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"buckets\":{\"list\":{\"rate\":0.1,\"burst\":1}}}");
	json_decref(ask("GET", "vms/list", NULL, 200));
	rest_send(&r, "GET", "vms/list", NULL);
	assert_int_equal(r.status, 429);
	assert_string_equal(r.body.p, "{\"detail\":\"Too many requests\"}");
	assert_true(strtol(r.retry_after, NULL, 10) > 0);
	simrun_done(&r);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, rest_stop)
	const struct CMUnitTest tests[] = {
		T(test_a_bad_request_is_told_what_is_wrong_with_it),
		T(test_no_credits_and_no_room_are_told_apart),
		T(test_only_the_key_is_served),
		T(test_a_session_is_begun_and_refreshed),
		T(test_a_session_ends),
		T(test_a_session_is_of_an_organization),
		T(test_what_the_clients_ask_about_the_account),
		T(test_faults_are_told_in_lyceums_words),
		T(test_an_effect_may_be_without_its_answer),
		T(test_a_list_may_lack_machines),
		T(test_too_many_requests_are_refused),
	};

#undef T
	return cmocka_run_group_tests_name("simcloud_lyceum_refuse", tests, NULL, NULL);
}
