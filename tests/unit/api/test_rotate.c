/* test_rotate.c - what the control socket says of a rotation of keys, and who may order one. */
#include "ctl_ask.h"
#include "keys/keys_api.h"

#include <malloc.h>

/* What is said of it where people look for the store. */
static void store_says(struct fixture *f, const char *rotation, const char *error)
{
	json_t *r, *s;

	f->e.secrets = (struct engine_secrets){.driver = "vault",
					       .phase = "ready",
					       .version = "7",
					       .source = {"v", 0, 0, ""},
					       .enrolled = ""};
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"secrets\"}");
	s = json_object_get(r, "secrets");
	if (rotation == NULL) {
		assert_null(json_object_get(s, "rotation"));
	} else {
		assert_string_equal(text(s, "rotation"), rotation);
		assert_string_equal(text(s, "rotation_error"), error);
	}
	json_decref(r);
}

static void test_the_rotation_is_shown_to_all(void **state)
{
	static const struct {
		const char *name;
		int n;
	} counts[] = {{"have", 3},    {"lack", 1},   {"unheard", 2},
		      {"drained", 4}, {"others", 5}, {"fixed", 6}};
	struct fixture *f = start("n1");
	json_t *r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"secrets-rotation\"}"), *s;

	(void)state;
	assert_null(json_object_get(r, "rotation"));
	json_decref(r);
	f->e.rotation = (struct engine_rotation){
		.there = true,
		.r = {.kind = ROTATION_MUNGE, .phase = ROTATION_WINDOW, .switch_ms = FAKE_NOW},
		.version = 8,
		.nodes =
			{.have = 3, .lack = 1, .unheard = 2, .drained = 4, .others = 5, .fixed = 6},
		.error = "write: the server is sealed"};
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"secrets-rotation\"}");
	s = json_object_get(r, "rotation");
	assert_string_equal(text(s, "kind"), "munge");
	assert_string_equal(text(s, "phase"), "window");
	assert_string_equal(text(s, "error"), "write: the server is sealed");
	assert_true(json_is_true(json_object_get(s, "runs")));
	assert_int_equal(json_integer_value(json_object_get(s, "switch_ms")), FAKE_NOW);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		assert_int_equal(json_integer_value(json_object_get(json_object_get(s, "nodes"),
								    counts[i].name)),
				 counts[i].n);
	assert_string_equal(json_string_value(json_array_get(json_object_get(s, "lacking"), 0)),
			    "n7");
	json_decref(r);
	store_says(f, "munge: window", "write: the server is sealed");
	f->e.rotation.error = "";
	store_says(f, "munge: window", "");
	f->e.rotation.needs_credential = true;
	store_says(f, "munge: window", "it needs a credential: burstctl secrets rotate --resume");
	f->e.rotation.error = "login: it is denied";
	store_says(f, "munge: window", "login: it is denied");
	f->e.rotation.error = "";
	f->e.rotation.r.phase = ROTATION_DONE;
	f->e.rotation.needs_credential = false;
	store_says(f, NULL, NULL);
	f->e.rotation.error = "scontrol: 1"; /* the old key is still to be forgotten */
	store_says(f, "munge: done", "scontrol: 1");
	stop(f);
}

static void test_one_that_stands_still_is_a_problem(void **state)
{
	struct fixture *f = start("n1");
	json_t *r, *list;

	(void)state;
	f->e.secrets = (struct engine_secrets){.driver = "vault",
					       .phase = "ready",
					       .version = "7",
					       .source = {"https://v1", 0, 0, ""},
					       .enrolled = ""};
	f->e.rotation =
		(struct engine_rotation){.there = true,
					 .r = {.kind = ROTATION_JWKS, .phase = ROTATION_SWITCHING},
					 .needs_credential = true};
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	list = json_object_get(r, "problems");
	assert_int_equal(json_array_size(list), 1);
	assert_non_null(strstr(json_string_value(json_array_get(list, 0)),
			       "the rotation of jwks's key is blocked (switching): it needs a"));
	json_decref(r);
	stop(f);
}

static void test_an_operator_rotates_and_others_do_not(void **state)
{
	static const char begin[] = "{\"v\":1,\"op\":\"secrets-rotate\",\"verb\":\"start\","
				    "\"kind\":\"jwks\",\"credential\":\"hvs.w\","
				    "\"token_life_ms\":60000}";
	struct fixture *f = start("n1");
	json_t *r = ask_as(f, &viewer, begin);

	(void)state;
	assert_true(json_is_false(json_object_get(r, "ok")));
	assert_string_equal(f->e.rotate_credential, "");
	json_decref(r);
	json_decref(ask(f, begin));
	assert_int_equal(f->e.rotate_ask.verb, ENGINE_ROTATE_START);
	assert_int_equal(f->e.rotate_ask.kind, ROTATION_JWKS);
	assert_int_equal(f->e.rotate_ask.life_ms, 60000);
	assert_string_equal(f->e.rotate_credential, "hvs.w");
	json_decref(ask(f, "{\"v\":1,\"op\":\"secrets-rotate\",\"verb\":\"switch\","
			   "\"in_ms\":90000}"));
	assert_int_equal(f->e.rotate_ask.verb, ENGINE_ROTATE_SWITCH);
	assert_int_equal(f->e.rotate_ask.in_ms, 90000);
	assert_null(f->e.rotate_ask.credential);
	stop(f);
}

static void test_what_makes_no_sense_is_refused(void **state)
{
	static const char *const bad[] = {
		"{\"v\":1,\"op\":\"secrets-rotate\"}",
		"{\"v\":1,\"op\":\"secrets-rotate\",\"verb\":\"turn\"}",
		"{\"v\":1,\"op\":\"secrets-rotate\",\"verb\":\"start\"}",
		"{\"v\":1,\"op\":\"secrets-rotate\",\"verb\":\"start\",\"kind\":\"none\"}",
		"{\"v\":1,\"op\":\"secrets-rotate\",\"verb\":\"switch\",\"in_ms\":-1}",
		"{\"v\":1,\"op\":\"secrets-rotate\",\"verb\":\"abort\"}",
	};
	struct fixture *f = start("n1");

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		json_t *r = ask_as(f, &admin, bad[i]);

		assert_true(json_is_false(json_object_get(r, "ok")));
		assert_string_equal(text(r, "code"), "invalid");
		json_decref(r);
	}
	stop(f);
}

/* --- what is left in memory --------------------------------------------------------------------
 */

#define CREDENTIAL "hvs.CAESIJ0rotate"

static unsigned left; /* texts that are the credential when jansson gives them back */

static void give_back(void *p)
{
	left += p != NULL && malloc_usable_size(p) >= sizeof(CREDENTIAL) &&
		memcmp(p, CREDENTIAL, sizeof(CREDENTIAL)) == 0;
	free(p);
}

static void test_a_credential_is_wiped_in_the_request(void **state)
{
	static const char *const asks[] = {
		"{\"v\":1,\"op\":\"secrets-rotate\",\"verb\":\"start\",\"kind\":\"munge\","
		"\"credential\":\"" CREDENTIAL "\"}",
		"{\"v\":1,\"op\":\"secrets-rotate\",\"verb\":\"start\",\"kind\":\"none\","
		"\"credential\":\"" CREDENTIAL "\"}", /* refused */
	};
	struct fixture *f = start("n1");

	(void)state;
	json_set_alloc_funcs(malloc, give_back);
	json_decref(json_string(CREDENTIAL));
	assert_int_equal(left, 1); /* it would be seen */
	left = 0;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		json_decref(ask_as(f, &admin, asks[i]));
		assert_int_equal(left, 0);
	}
	json_set_alloc_funcs(malloc, free);
	assert_string_equal(f->e.rotate_credential, CREDENTIAL);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_rotation_is_shown_to_all),
		cmocka_unit_test(test_one_that_stands_still_is_a_problem),
		cmocka_unit_test(test_an_operator_rotates_and_others_do_not),
		cmocka_unit_test(test_what_makes_no_sense_is_refused),
		cmocka_unit_test(test_a_credential_is_wiped_in_the_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
