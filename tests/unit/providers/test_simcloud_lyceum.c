/* test_simcloud_lyceum.c - Lyceum's face of simcloud, over HTTP: the life of a machine, offers, and
 * that each answer has the shape of the one that was recorded. */
#include "simrun_lyceum.h"

#define FIXTURES "../shared/specs/lyceum_fixtures"
#define OURS     "b0b1c2d3e0000-c-h100-7" /* generation 12 */

static void test_a_machine_is_pending_then_ready_then_terminated(void **state)
{
	char id[64];
	json_t *vm;

	(void)state;
	vm = ask("POST", "vms/create", VM(GPUS(8) ",\"display_name\":\"" OURS "\""), 200);
	assert_string_equal(text_at(vm, "status"), "pending");
	assert_true(json_is_null(at(vm, "ip_address")));
	assert_true(json_is_null(at(vm, "hardware_profile")));
	assert_string_equal(text_at(vm, "instance_specs.gpu_type"), "h100");
	assert_int_equal(json_integer_value(at(vm, "instance_specs.gpu_count")), 8);
	assert_string_equal(text_at(vm, "instance_type"), "on-demand");
	assert_null(strchr(text_at(vm, "created_at"), 'Z'));
	(void)snprintf(id, sizeof(id), "%s", text_at(vm, "vm_id"));
	json_decref(vm);
	vm = await(id, "ready");
	assert_string_equal(text_at(vm, "display_name"), OURS);
	assert_string_equal(text_at(vm, "hardware_profile"), "h100");
	assert_non_null(strchr(text_at(vm, "created_at"), 'Z'));
	json_decref(vm);
	delete (id, 200);
	vm = await(id, "terminated");
	json_decref(vm);
	delete (id, 200);
}

static void test_the_meter_learns_the_node_from_the_display_name(void **state)
{
	json_t *meter;

	(void)state;
	(void)create(OURS);
	(void)create("somebody");
	json_decref(ask("POST", "vms/create", VM(GPUS(8)), 200));
	meter = simrun_ask(&S, "GET", "/admin/meter", NULL, 200);
	assert_string_equal(text_at(meter, "rows.0.name"), "h100-7");
	assert_string_equal(text_at(meter, "rows.0.cluster"), "0b1c2d3e0000");
	assert_int_equal(json_integer_value(at(meter, "rows.0.generation")), 12);
	assert_string_equal(text_at(meter, "rows.1.name"), "somebody");
	assert_string_equal(text_at(meter, "rows.2.name"), "");
	json_decref(meter);
}

static void test_a_name_is_no_token(void **state)
{
	(void)state;
	(void)create(OURS);
	(void)create(OURS);
	assert_int_equal(bought("h100-7"), 2);
}

/* Who asks for none pays for one. */
static void test_a_count_of_0_is_1_and_so_is_one_in_the_wrong_place(void **state)
{
	static const char *const bodies[] = {VM(GPUS(0)), VM(",\"gpu_count\":8"), VM("")};
	json_t *vm;

	(void)state;
	for (size_t i = 0; i < COUNT(bodies); i++) {
		vm = ask("POST", "vms/create", bodies[i], 200);
		assert_int_equal(json_integer_value(at(vm, "instance_specs.gpu_count")), 1);
		json_decref(vm);
	}
	assert_int_equal(bought(""), 3);
}

static void test_a_ready_machine_may_have_no_address_yet(void **state)
{
	json_t *vm;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"address_after\":\"1h\"}");
	vm = await(create("c1"), "ready");
	assert_true(json_is_null(at(vm, "ip_address")));
	assert_true(json_is_null(at(vm, "billed")));
	json_decref(vm);
}

static void test_an_address_has_a_port_on_some_machines(void **state)
{
	json_t *a, *b;

	(void)state;
	a = await(create("c1"), "ready");
	b = await(create("c2"), "ready");
	assert_null(strchr(text_at(a, "ip_address"), ':'));
	assert_non_null(strstr(text_at(b, "ip_address"), ":22"));
	json_decref(a);
	json_decref(b);
}

static void test_a_list_has_the_dead_unless_told(void **state)
{
	char id[64];
	json_t *vms;

	(void)state;
	(void)create("c1");
	(void)snprintf(id, sizeof(id), "%s", create("c1"));
	json_decref(await(id, "ready"));
	delete (id, 200);
	json_decref(await(id, "terminated"));
	vms = ask("GET", "vms/list", NULL, 200);
	assert_int_equal(json_integer_value(at(vms, "total")), 2);
	assert_string_equal(text_at(vms, "vms.1.display_name"), "c1");
	json_decref(vms);
	vms = ask("GET", "vms/list?include_terminated=false&include_failed=False", NULL, 200);
	assert_int_equal(json_integer_value(at(vms, "total")), 1);
	assert_int_equal(json_array_size(at(vms, "vms")), 1);
	json_decref(vms);
	vms = ask("GET", "vms/list?include_ready=0&include_provisioning=off", NULL, 200);
	assert_int_equal(json_integer_value(at(vms, "total")), 1);
	assert_string_equal(text_at(vms, "vms.0.status"), "terminated");
	json_decref(vms);
}

static void test_a_reclaimed_machine_ends_without_a_word(void **state)
{
	json_t *vm;
	const char *id;

	(void)state;
	vm = ask("POST", "vms/create",
		 VM(GPUS(8) ",\"instance_type\":\"spot\",\"display_name\":\"s1\""), 200);
	id = text_at(vm, "vm_id");
	json_decref(await(id, "ready"));
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"s1\",\"notice_ms\":60000}");
	json_decref(await(id, "ready"));
	simrun_do(&S, "POST", "/admin/reclaim", "{\"node\":\"s1\",\"notice_ms\":0}");
	json_decref(await(id, "terminated"));
	json_decref(vm);
	vm = status_of(create("s2"));
	simrun_do(&S, "POST", "/admin/kill", "{\"node\":\"s2\"}");
	json_decref(await(text_at(vm, "vm_id"), "error"));
	delete (text_at(vm, "vm_id"), 200); /* else nobody would ever be rid of it */
	json_decref(await(text_at(vm, "vm_id"), "terminated"));
	json_decref(vm);
}

static void test_a_new_machine_may_not_be_known_yet(void **state)
{
	json_t *vms;

	(void)state;
	simrun_do(&S, "POST", "/admin/config", "{\"visible\":\"1h\"}");
	delete (create("c1"), 404);
	vms = ask("GET", "vms/list", NULL, 200);
	assert_int_equal(json_integer_value(at(vms, "total")), 0);
	json_decref(vms);
	assert_int_equal(bought("c1"), 1);
}

static void test_a_machine_gets_another_name(void **state)
{
	char path[96];
	json_t *vm;

	(void)state;
	(void)snprintf(path, sizeof(path), "vms/%s", create("c1"));
	vm = ask("PATCH", path, "{\"display_name\":\"c2\"}", 200);
	assert_string_equal(text_at(vm, "display_name"), "c2");
	json_decref(vm);
	vm = ask("PATCH", path, "{\"display_name\":\"\"}", 200);
	assert_true(json_is_null(at(vm, "display_name")));
	json_decref(vm);
	assert_int_equal(bought("c1"), 1);
}

/* --- offers ----------------------------------------------------------------------------------- */

#define OFFER(type, market, price, capacity)                                                       \
	"{\"type\":\"" type "\",\"region\":\"eu\",\"zone\":\"eu-a\",\"market\":\"" market          \
	"\",\"price\":\"" price "\",\"currency\":\"USD\",\"capacity\":" capacity "}"

static void test_spot_and_on_demand_are_told_apart(void **state)
{
	json_t *o;

	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"offers\":[" OFFER("gpu_1x_h100", "on-demand", "2.79", "null") "," OFFER(
			  "gpu_8x_h100", "on-demand", "22.32",
			  "0") "," OFFER("gpu_8x_h100", "spot", "8.80",
					 "1") "," OFFER("gpu_1x_l40s", "on-demand", "1.19",
							"0") "]}");
	o = ask("GET", "vms/availability", NULL, 200);
	assert_int_equal(json_array_size(at(o, "available_hardware_profiles")), 2);
	assert_int_equal(json_array_size(at(o, "available_instance_variants")), 3);
	assert_string_equal(text_at(o, "available_instance_variants.0.hardware_profile"), "h100");
	assert_int_equal(
		json_array_size(at(o, "available_instance_variants.0.available_gpus_per_instance")),
		1);
	assert_int_equal(
		json_array_size(at(o, "available_instance_variants.1.available_gpus_per_instance")),
		0);
	assert_string_equal(text_at(o, "available_instance_variants.2.instance_type"), "spot");
	assert_true(json_real_value(at(o, "available_instance_variants.2.price_per_hour")) > 1.099);
	json_decref(o);
	json_decref(ask("POST", "vms/create", VM(GPUS(8) ",\"instance_type\":\"spot\""), 200));
	json_decref(ask("POST", "vms/create", VM(GPUS(8) ",\"instance_type\":\"spot\""), 500));
	json_decref(ask("POST", "vms/create", VM(GPUS(8)), 500));
	json_decref(ask("POST", "vms/create", VM(GPUS(4)), 500));
}

static void test_prices_are_texts_by_the_second(void **state)
{
	json_t *o;

	(void)state;
	simrun_do(&S, "POST", "/admin/config",
		  "{\"offers\":[" OFFER("gpu_1x_h100", "on-demand", "2.79", "null") "," OFFER(
			  "gpu_1x_a100", "on-demand", "1.59", "null") "]}");
	o = ask("GET", "pricing", NULL, 200);
	assert_string_equal(text_at(o, "prices.0.applies_to.hardware_profile"),
			    "on-demand.a100.1x");
	assert_string_equal(text_at(o, "prices.0.unit_price"), "0.00044167");
	assert_string_equal(text_at(o, "prices.0.unit_price_per_hour"), "1.59001200");
	assert_string_equal(text_at(o, "prices.1.unit_price"), "0.000775");
	assert_string_equal(text_at(o, "prices.1.unit_price_per_hour"), "2.790000");
	assert_string_not_equal(text_at(o, "prices.2.meter_slug"), "vm_running");
	json_decref(o);
}

/* --- as it was recorded ----------------------------------------------------------------------- */

static bool has_recordings(void)
{
	json_t *any = recorded(FIXTURES, "vm_list_empty.json");

	json_decref(any);
	if (any == NULL)
		print_message("# skipped: there is no " FIXTURES "\n");
	return any != NULL;
}

static void same(const char *file, const char *method, const char *path, const char *body,
		 long status)
{
	json_t *ours = ask(method, path, body, status);

	assert_shape(FIXTURES, file, ours);
	json_decref(ours);
}

/* Errors are the same text, not only the same shape. */
static void same_text(const char *file, const char *method, const char *path, const char *body,
		      long status)
{
	json_t *want = recorded(FIXTURES, file), *ours = ask(method, path, body, status);

	assert_string_equal(text_at(ours, "detail"), text_at(want, "detail"));
	assert_shape(FIXTURES, file, ours);
	json_decref(ours);
	json_decref(want);
}

static void test_answers_have_the_recorded_shape(void **state)
{
	char path[128], a[64];

	(void)state;
	if (!has_recordings())
		skip();
	same("vm_list_empty.json", "GET", "vms/list", NULL, 200);
	same("user_status.json", "GET", "user/status", NULL, 200);
	same("vms_availability.json", "GET", "vms/availability", NULL, 200);
	same("vm_create_pending.json", "POST", "vms/create", VM(GPUS(8) ",\"display_name\":\"c1\""),
	     200);
	(void)snprintf(a, sizeof(a), "%s", create("c2"));
	json_decref(await(a, "ready"));
	(void)snprintf(path, sizeof(path), "vms/%s/status", a);
	same("vm_status_ready_host_port.json", "GET", path, NULL, 200);
	same("vm_status_ready_bare_ip.json", "GET", "vms/sim-00000000/status", NULL, 200);
	simrun_do(&S, "POST", "/admin/config", "{\"address_after\":\"1h\"}");
	(void)snprintf(a, sizeof(a), "%s", create("c3"));
	json_decref(await(a, "ready"));
	(void)snprintf(path, sizeof(path), "vms/%s/status", a);
	same("vm_status_ready_null_ip.json", "GET", path, NULL, 200);
	(void)snprintf(path, sizeof(path), "vms/sim-00000000");
	same("vm_terminate_ok.json", "DELETE", path, NULL, 200);
	same("vm_list_mixed.json", "GET", "vms/list", NULL, 200);
}

static void test_prices_have_the_recorded_shape(void **state)
{
	json_t *ours;
	size_t n;

	(void)state;
	if (!has_recordings())
		skip();
	ours = ask("GET", "pricing", NULL, 200);
	n = json_array_size(at(ours, "prices"));
	assert_int_equal(json_array_remove(json_object_get(ours, "prices"), n - 1),
			 0); /* storage */
	assert_shape(FIXTURES, "pricing_vm_running.json", ours);
	json_decref(ours);
}

static void test_errors_are_the_recorded_ones(void **state)
{
	(void)state;
	if (!has_recordings())
		skip();
	same_text("error_400_invalid_request.json", "POST", "vms/create", VM(GPUS(3)), 400);
	same_text("error_400_unknown_profile.json", "POST", "vms/create",
		  "{\"user_public_key\":\"k\",\"hardware_profile\":\"nonexistent-xyz\"}", 400);
	same_text("error_404_vm_not_found.json", "GET", "vms/0123/status", NULL, 404);
	same_text("error_404_vm_not_found.json", "DELETE", "vms/0123", NULL, 404);
	simrun_do(&S, "POST", "/admin/capacity", "{\"type\":\"gpu_8x_h100\",\"capacity\":0}");
	same_text("error_500_capacity.json", "POST", "vms/create", VM(GPUS(8)), 500);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, rest_stop)
	const struct CMUnitTest tests[] = {
		T(test_a_machine_is_pending_then_ready_then_terminated),
		T(test_the_meter_learns_the_node_from_the_display_name),
		T(test_a_name_is_no_token),
		T(test_a_count_of_0_is_1_and_so_is_one_in_the_wrong_place),
		T(test_a_ready_machine_may_have_no_address_yet),
		T(test_an_address_has_a_port_on_some_machines),
		T(test_a_list_has_the_dead_unless_told),
		T(test_a_reclaimed_machine_ends_without_a_word),
		T(test_a_new_machine_may_not_be_known_yet),
		T(test_a_machine_gets_another_name),
		T(test_spot_and_on_demand_are_told_apart),
		T(test_prices_are_texts_by_the_second),
		T(test_answers_have_the_recorded_shape),
		T(test_prices_have_the_recorded_shape),
		T(test_errors_are_the_recorded_ones),
	};

#undef T
	return cmocka_run_group_tests_name("simcloud_lyceum", tests, NULL, NULL);
}
