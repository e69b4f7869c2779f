/* test_simcloud_boot.c - instances that are processes: started, named, killed, and never left over.
 */
#include "simrun.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/clock.h"

static struct simrun S;

static int setup(void **state)
{
	(void)state;
	S = (struct simrun){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (S.pid > 0)
		assert_int_equal(simrun_stop(&S, SIGTERM), 0);
	simrun_remove(S.dir);
	return 0;
}

static void settle(int ms)
{
	(void)usleep((useconds_t)ms * 1000);
}

/* --- instances that are processes
 * ------------------------------------------------------------------ */

static bool exists(const char *dir, const char *name)
{
	char path[SIMRUN_PATH];

	(void)simrun_path(path, dir, name);
	return access(path, F_OK) == 0;
}

static void wait_file(const char *dir, const char *name)
{
	for (int i = 0; i < 300 && !exists(dir, name); i++)
		settle(10);
	assert_true(exists(dir, name));
}

static pid_t read_pid(const char *dir, const char *name)
{
	char path[SIMRUN_PATH], text[32] = "";
	FILE *f;

	(void)simrun_path(path, dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	(void)fclose(f);
	return (pid_t)strtol(text, NULL, 10);
}

/* A zombie is dead: where process 1 is no init (some containers), nobody reaps an orphan. */
static bool is_dead(pid_t pid)
{
	char path[64], state;
	bool dead;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f == NULL)
		return kill(pid, 0) == -1;
	dead = fscanf(f, "%*d (%*[^)]) %c", &state) != 1 || state == 'Z';
	(void)fclose(f);
	return dead;
}

static void wait_dead(pid_t pid)
{
	for (int i = 0; i < 300 && !is_dead(pid); i++)
		settle(10);
	assert_true(is_dead(pid));
}

/* A script that tells its environment, leaves a grandchild in its group, and waits. */
static const char program[] = "#!/bin/sh\n"
			      "env | sort >env.new\n"
			      "if [ \"$SIMCLOUD_NODE\" = quits ]; then sleep 0.2; exit 3; fi\n"
			      "sleep 1000 & echo $! >child\n"
			      "echo $$ >pid\n"
			      "echo on the console\n"
			      "mv env.new env\n" /* the last: tests wait for it */
			      "wait\n";

static void begin(void)
{
	static char script[SIMRUN_PATH], run[SIMRUN_PATH];
	const char *args[] = {"--boot", script, "--run-dir", run, NULL};

	simrun_dir(&S);
	(void)simrun_path(script, S.dir, "boot.sh");
	(void)simrun_path(run, S.dir, "run");
	simrun_write(script, program);
	assert_int_equal(chmod(script, 0700), 0);
	simrun_start(&S, args);
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"20ms\"}");
}

/* Create the node, the first of this simcloud; its address is copied out. */
static void create(const char *node, char addr[32])
{
	char body[256];
	json_t *o, *i;

	(void)snprintf(body, sizeof(body),
		       "{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"instances\":[{"
		       "\"name\":\"%s\"}]}",
		       node);
	o = simrun_ask(&S, "POST", "/v1/instances", body, 200);
	i = json_array_get(json_object_get(o, "instances"), 0);
	assert_string_equal(json_string_value(json_object_get(i, "id")), "sim-00000000");
	(void)snprintf(addr, 32, "%s", json_string_value(json_object_get(i, "address")));
	json_decref(o);
}

static void assert_state(const char *state)
{
	json_t *o = simrun_ask(&S, "GET", "/v1/instances/sim-00000000", NULL, 200);

	assert_string_equal(json_string_value(json_object_get(o, "state")), state);
	json_decref(o);
}

static void inst_dir(char out[SIMRUN_PATH])
{
	(void)simrun_path(out, S.dir, "run/sim-00000000");
}

static void read_text(const char *dir, const char *name, char *out, size_t size)
{
	char path[SIMRUN_PATH];
	FILE *f;

	(void)simrun_path(path, dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	out[fread(out, 1, size - 1, f)] = '\0';
	(void)fclose(f);
}

static void test_boot_runs_the_program_and_delete_kills_its_group(void **state)
{
	char dir[SIMRUN_PATH], text[2048], want[2048], addr[32];
	json_t *console;
	pid_t pid, child;

	(void)state;
	begin();
	create("n1", addr);
	inst_dir(dir);
	wait_file(dir, "env");
	read_text(dir, "env", text, sizeof(text));
	(void)snprintf(want, sizeof(want),
		       "SIMCLOUD_ADDR=%s\nSIMCLOUD_DIR=%s\nSIMCLOUD_HOSTS=%s/run/hosts\n"
		       "SIMCLOUD_ID=sim-00000000\nSIMCLOUD_METADATA=\nSIMCLOUD_NODE=n1\n"
		       "SIMCLOUD_TYPE=gpu_8x_h100\nSIMCLOUD_USER_DATA=\n",
		       addr, dir, S.dir);
	assert_non_null(strstr(text, want));
	assert_null(strstr(text, "HOME=")); /* ours is not its environment */
	read_text(dir, "../hosts", text, sizeof(text));
	(void)snprintf(want, sizeof(want), "\n%s n1 ", addr);
	assert_non_null(strstr(text, want));
	pid = read_pid(dir, "pid");
	child = read_pid(dir, "child");
	assert_int_equal(getpgid(child), pid);
	assert_int_equal(getsid(pid), pid);
	simrun_do(&S, "DELETE", "/v1/instances/sim-00000000", NULL);
	wait_dead(pid);
	wait_dead(child);
	settle(50);
	assert_state("ended");
	read_text(dir, "../hosts", text, sizeof(text));
	assert_null(strstr(text, "n1"));
	read_text(dir, "console.log", text, sizeof(text));
	assert_string_equal(text, "on the console\n");
	console = simrun_ask(&S, "GET", "/v1/instances/sim-00000000/console", NULL, 200);
	assert_string_equal(json_string_value(json_object_get(console, "console")),
			    "on the console\n");
	json_decref(console);
}

static void test_reclaim_and_kill_end_the_process(void **state)
{
	static const char *const rows[][2] = {
		{"/admin/reclaim", "{\"node\":\"n1\",\"notice_ms\":50}"},
		{"/admin/kill", "{\"node\":\"n1\"}"},
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char dir[SIMRUN_PATH], addr[32];
		pid_t pid;

		begin();
		create("n1", addr);
		inst_dir(dir);
		wait_file(dir, "env");
		pid = read_pid(dir, "pid");
		simrun_do(&S, "POST", rows[i][0], rows[i][1]);
		wait_dead(pid);
		settle(50);
		assert_state("ended");
		assert_int_equal(simrun_stop(&S, SIGTERM), 0);
		if (i == 0)
			simrun_remove(S.dir);
	}
}

static void test_boot_exit_ends_the_instance(void **state)
{
	char addr[32];

	(void)state;
	begin();
	create("quits", addr);
	settle(100);
	assert_state("running");
	settle(500);
	assert_state("ended");
}

/* Told to stop, or killed without a word: no instance is left. */
static void test_instances_die_with_simcloud(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGKILL};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char dir[SIMRUN_PATH], addr[32];
		pid_t pid, child;

		if (i > 0)
			simrun_remove(S.dir);
		begin();
		create("n1", addr);
		inst_dir(dir);
		wait_file(dir, "env");
		pid = read_pid(dir, "pid");
		child = read_pid(dir, "child");
		assert_int_equal(simrun_stop(&S, signals[i]), signals[i] == SIGKILL ? -1 : 0);
		wait_dead(pid);
		/* Of a killed simcloud only the leaders die: the rest is the program's own care. */
		if (signals[i] == SIGKILL)
			(void)kill(child, SIGKILL);
		else
			wait_dead(child);
	}
}

/* --- user data, and the metadata service ------------------------------------------------------ */

/* A port that nobody has now. */
static unsigned free_port(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	union {
		struct sockaddr_in *in;
		struct sockaddr *any;
	} u = {.in = &sa};
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, u.any, len), 0);
	assert_int_equal(getsockname(fd, u.any, &len), 0);
	(void)close(fd);
	return ntohs(sa.sin_port);
}

static long metadata(unsigned port, const char *from, const char *path, char *out, size_t size)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Metadata-Flavor: Google");
	CURL *h = curl_easy_init();
	char url[256];
	struct str s;
	long status = 0;

	str_init(&s, size - 1);
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", port, path);
	(void)curl_easy_setopt(h, CURLOPT_URL, url);
	(void)curl_easy_setopt(h, CURLOPT_INTERFACE, from);
	(void)curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, 20000L);
	(void)curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, simrun_on_body);
	(void)curl_easy_setopt(h, CURLOPT_WRITEDATA, &s);
	assert_int_equal(curl_easy_perform(h), CURLE_OK);
	(void)curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(h);
	curl_slist_free_all(headers);
	(void)snprintf(out, size, "%s", s.p);
	str_fini(&s);
	return status;
}

static void test_user_data_are_a_file_for_root_and_each_instance_reads_its_own(void **state)
{
	static char script[SIMRUN_PATH], run[SIMRUN_PATH], at[32], cert[SIMRUN_PATH];
	const char *args[] = {"--boot",     script, "--run-dir",  run,  "--subnet", "127.64.0.0/16",
			      "--metadata", at,     "--identity", cert, NULL};
	unsigned port = free_port();
	char dir[SIMRUN_PATH], text[2048], want[SIMRUN_PATH + 32];
	struct stat st;

	(void)state;
	simrun_dir(&S);
	(void)simrun_path(script, S.dir, "boot.sh");
	(void)simrun_path(run, S.dir, "run");
	(void)simrun_path(cert, S.dir, "identity.pem");
	(void)snprintf(at, sizeof(at), "127.0.0.1:%u", port);
	simrun_write(script, program);
	assert_int_equal(chmod(script, 0700), 0);
	simrun_start(&S, args);
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"20ms\"}");
	simrun_do(&S, "POST", "/v1/instances",
		  "{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"instances\":[{"
		  "\"name\":\"n1\",\"user_data\":\"#!/bin/sh\\n: one\\n\"},{\"name\":\"n2\"},"
		  "{\"name\":\"n3\",\"user_data\":\"#!/bin/sh\\n: three\\n\"}]}");
	inst_dir(dir);
	wait_file(dir, "env");
	read_text(dir, "user-data", text, sizeof(text));
	assert_string_equal(text, "#!/bin/sh\n: one\n");
	assert_int_equal(stat(simrun_path(want, dir, "user-data"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	read_text(dir, "env", text, sizeof(text));
	(void)snprintf(want, sizeof(want), "SIMCLOUD_USER_DATA=%s/user-data\n", dir);
	assert_non_null(strstr(text, want));
	(void)snprintf(want, sizeof(want), "SIMCLOUD_METADATA=%s\n", at);
	assert_non_null(strstr(text, want));
	assert_int_equal(
		metadata(port, "127.64.0.10", "/metadata/v1/user-data", text, sizeof(text)), 200);
	assert_string_equal(text, "#!/bin/sh\n: one\n");
	assert_int_equal(
		metadata(port, "127.64.0.11", "/metadata/v1/user-data", text, sizeof(text)), 404);
	assert_int_equal(
		metadata(port, "127.64.0.12", "/metadata/v1/user-data", text, sizeof(text)), 200);
	assert_string_equal(text, "#!/bin/sh\n: three\n");
	assert_int_equal(metadata(port, "127.0.0.1", "/metadata/v1/id", text, sizeof(text)), 404);
	read_text(S.dir, "identity.pem", text, sizeof(text));
	assert_non_null(strstr(text, "BEGIN CERTIFICATE"));
	simrun_do(&S, "DELETE", "/v1/instances/sim-00000000", NULL);
	settle(300);
	assert_int_equal(metadata(port, "127.64.0.10", "/metadata/v1/id", text, sizeof(text)), 404);
	json_decref(
		simrun_ask(&S, "POST", "/v1/instances",
			   "{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"instances\":[{"
			   "\"name\":\"n4\",\"user_data\":7}]}",
			   400));
	/* Beside the list: for all that have none of their own. */
	simrun_do(&S, "POST", "/v1/instances",
		  "{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"user_data\":\"for all\","
		  "\"instances\":[{\"name\":\"n5\"},{\"name\":\"n6\",\"user_data\":\"own\"}]}");
	assert_int_equal(
		metadata(port, "127.64.0.13", "/metadata/v1/user-data", text, sizeof(text)), 200);
	assert_string_equal(text, "for all");
	assert_int_equal(
		metadata(port, "127.64.0.14", "/metadata/v1/user-data", text, sizeof(text)), 200);
	assert_string_equal(text, "own");
}

/* It is due whatever else happens, or does not. */
static void test_a_held_question_of_Googles_is_answered_over_HTTP(void **state)
{
	static const char hold[] = "/computeMetadata/v1/instance/preempted?wait_for_change=true";
	char at[32], path[128], text[64];
	const char *args[] = {"--subnet",      "127.64.0.0/16", "--metadata", at,
			      "--metadata-as", "gcp",           NULL};
	unsigned port = free_port();
	int64_t start;

	(void)state;
	simrun_dir(&S);
	(void)snprintf(at, sizeof(at), "127.0.0.1:%u", port);
	simrun_start(&S, args);
	simrun_do(&S, "POST", "/admin/config", "{\"boot\":\"1h\"}");
	simrun_do(&S, "POST", "/v1/instances",
		  "{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"instances\":[{"
		  "\"name\":\"n1\"}]}");
	start = clock_boot_ms();
	(void)snprintf(path, sizeof(path), "%s&timeout_sec=1", hold);
	assert_int_equal(metadata(port, "127.64.0.10", path, text, sizeof(text)), 200);
	assert_string_equal(text, "FALSE");
	assert_true(clock_boot_ms() - start >= 999);
	assert_true(clock_boot_ms() - start < 10000);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_boot_runs_the_program_and_delete_kills_its_group),
		T(test_reclaim_and_kill_end_the_process),
		T(test_boot_exit_ends_the_instance),
		T(test_instances_die_with_simcloud),
		T(test_user_data_are_a_file_for_root_and_each_instance_reads_its_own),
		T(test_a_held_question_of_Googles_is_answered_over_HTTP),
	};

	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
