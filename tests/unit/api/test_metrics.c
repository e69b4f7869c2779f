/* /metrics, read by a strict parser of Prometheus' text format 0.0.4 and of its naming rules.
 *
 * https://prometheus.io/docs/instrumenting/exposition_formats/ and .../practices/naming/ are the
 * rules; the parser refuses everything they do not allow and some things that they only advise
 * against. */
#include "metrics_text.h"

enum { SAMPLES_MAX = 20000, FAMILIES_MAX = 100, NAME_SIZE = 128, LINE_SIZE = 1024 };

struct parse {
	char family[NAME_SIZE]; /* the one whose samples may come now */
	bool counter, histogram;
	char families[FAMILIES_MAX][NAME_SIZE];
	size_t nfamilies;
	char (*samples)[LINE_SIZE]; /* name and labels of each, as written */
	char (*values)[64];
	size_t n;
	char why[200];
};

static bool bad(struct parse *p, const char *why, const char *line)
{
	(void)snprintf(p->why, sizeof(p->why), "%s: %.120s", why, line);
	return false;
}

/* Length of the name at s; labels may not have a colon, and ours have none in metrics either. */
static size_t name_length(const char *s)
{
	size_t n = 0;

	if (!isalpha((unsigned char)s[0]) && s[0] != '_')
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

static bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), t = strlen(tail);

	return n >= t && strcmp(s + n - t, tail) == 0;
}

/* "# HELP name text", then at once "# TYPE name counter|gauge|histogram". */
static bool parse_help(struct parse *p, const char *line)
{
	const char *name = line + strlen("# HELP ");
	size_t n = name_length(name);

	if (n == 0 || n >= NAME_SIZE || name[n] != ' ' || name[n + 1] == '\0')
		return bad(p, "HELP without name or text", line);
	(void)snprintf(p->family, NAME_SIZE, "%.*s", (int)n, name);
	if (strncmp(p->family, "burstd_", 7) != 0)
		return bad(p, "no prefix", line);
	if (strchr(name, '\\') != NULL)
		return bad(p, "escape in HELP", line);
	for (size_t i = 0; i < p->nfamilies; i++)
		if (strcmp(p->families[i], p->family) == 0)
			return bad(p, "family twice", line);
	if (p->nfamilies == FAMILIES_MAX)
		return bad(p, "too many families", line);
	memcpy(p->families[p->nfamilies++], p->family, NAME_SIZE);
	return true;
}

static bool parse_type(struct parse *p, const char *line)
{
	char want[NAME_SIZE + 32];

	(void)snprintf(want, sizeof(want), "# TYPE %s counter", p->family);
	p->counter = strcmp(line, want) == 0;
	(void)snprintf(want, sizeof(want), "# TYPE %s histogram", p->family);
	p->histogram = strcmp(line, want) == 0;
	(void)snprintf(want, sizeof(want), "# TYPE %s gauge", p->family);
	if (!p->counter && !p->histogram && strcmp(line, want) != 0)
		return bad(p, "TYPE does not follow its HELP", line);
	if (p->counter != ends_with(p->family, "_total"))
		return bad(p, "counters end in _total, nothing else does", line);
	if (strstr(p->family, "_ms") != NULL || strstr(p->family, "_minutes") != NULL)
		return bad(p, "not a base unit", line);
	if (strstr(p->family, "timestamp") != NULL && !ends_with(p->family, "_seconds"))
		return bad(p, "unit missing", line);
	return true;
}

/* {a="b",c="d"}; returns what follows, or NULL. */
static const char *parse_labels(const char *s)
{
	while (*s != '}') {
		size_t n = name_length(++s); /* past '{' or ',' */

		if (n == 0 || strncmp(s, "__", 2) == 0 || s[n] != '=' || s[n + 1] != '"')
			return NULL;
		for (s += n + 2; *s != '"'; s++) {
			if (*s == '\0')
				return NULL;
			if (*s == '\\' && strchr("\\\"n", *++s) == NULL)
				return NULL;
		}
		s++;
		if (*s != ',' && *s != '}')
			return NULL;
	}
	return s + 1;
}

static bool parse_value(const char *s)
{
	char *end;

	if (!isdigit((unsigned char)s[0]) && s[0] != '-')
		return false;
	(void)strtod(s, &end);
	return *end == '\0' && end != s;
}

/* Is it the name of a sample of the family? */
static bool is_of_family(const struct parse *p, const char *line, size_t n)
{
	size_t family = strlen(p->family);

	if (n < family || strncmp(line, p->family, family) != 0)
		return false;
	if (!p->histogram)
		return n == family;
	return (n == family + 7 && strncmp(line + family, "_bucket", 7) == 0) ||
	       (n == family + 4 && strncmp(line + family, "_sum", 4) == 0) ||
	       (n == family + 6 && strncmp(line + family, "_count", 6) == 0);
}

static bool parse_sample(struct parse *p, const char *line)
{
	size_t n = name_length(line);
	const char *rest = line + n;

	if (!is_of_family(p, line, n))
		return bad(p, "sample outside of its family", line);
	if (*rest == '{')
		rest = parse_labels(rest);
	if (rest == NULL || *rest != ' ')
		return bad(p, "labels", line);
	if (!parse_value(rest + 1))
		return bad(p, "value", line);
	if ((p->counter || p->histogram) && rest[1] == '-')
		return bad(p, "negative counter", line);
	(void)snprintf(p->samples[p->n], LINE_SIZE, "%.*s", (int)(rest - line), line);
	(void)snprintf(p->values[p->n], sizeof(p->values[0]), "%s", rest + 1);
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->samples[i], p->samples[p->n]) == 0)
			return bad(p, "sample twice", line);
	p->n++;
	return true;
}

static bool parse(struct parse *p, const char *text)
{
	bool want_type = false;

	*p = (struct parse){.samples = mem_zalloc(SAMPLES_MAX * LINE_SIZE),
			    .values = mem_zalloc((size_t)SAMPLES_MAX * 64)};
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");
		char line[LINE_SIZE];

		if (text[n] != '\n')
			return bad(p, "no newline at the end", text);
		if (n == 0 || n >= sizeof(line))
			return bad(p, "empty or too long a line", text);
		(void)snprintf(line, sizeof(line), "%.*s", (int)n, text);
		text += n + 1;
		if (want_type) {
			want_type = false;
			if (!parse_type(p, line))
				return false;
		} else if (strncmp(line, "# HELP ", 7) == 0) {
			want_type = true;
			if (!parse_help(p, line))
				return false;
		} else if (!parse_sample(p, line)) {
			return false;
		}
	}
	return !want_type || bad(p, "HELP without TYPE", "");
}

static void parse_fini(struct parse *p)
{
	free(p->samples);
	free(p->values);
}

static const char *value(const struct parse *p, const char *sample)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->samples[i], sample) == 0)
			return p->values[i];
	return "(absent)";
}

/* The parser itself must refuse what is wrong, else it proves nothing. */
static void test_parser(void **state)
{
#define HEAD "# HELP burstd_a x\n# TYPE burstd_a gauge\n"
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{HEAD "burstd_a 1\n", true},
		{HEAD "burstd_a{p=\"a\\\"b\\\\c\\nd\",q=\"\"} 1.5\n", true},
		{HEAD "burstd_a 1", false},
		{HEAD "burstd_a\n", false},
		{HEAD "burstd_a x\n", false},
		{HEAD "burstd_a 1 2 3\n", false},
		{HEAD "burstd_b 1\n", false},
		{HEAD "burstd_a 1\nburstd_a 2\n", false},
		{HEAD "burstd_a{p=\"x\"} 1\nburstd_a{p=\"x\"} 2\n", false},
		{HEAD "burstd_a{p=\"x} 1\n", false},
		{HEAD "burstd_a{p=\"\\x\"} 1\n", false},
		{HEAD "burstd_a{p=\"x\"q=\"y\"} 1\n", false},
		{HEAD "burstd_a{9=\"x\"} 1\n", false},
		{HEAD "burstd_a 1\n" HEAD "burstd_a{p=\"x\"} 1\n", false},
		{"burstd_a 1\n", false},
		{"# HELP burstd_a x\nburstd_a 1\n", false},
		{"# HELP burstd_a\n# TYPE burstd_a gauge\n", false},
		{"# HELP burstd_a x\n# TYPE burstd_a counter\nburstd_a 1\n", false},
		{"# HELP burstd_a_total x\n# TYPE burstd_a_total gauge\n", false},
		{"# HELP a x\n# TYPE a gauge\na 1\n", false},
		{"# HELP burstd_h x\n# TYPE burstd_h histogram\nburstd_h_bucket{le=\"1\"} 1\n"
		 "burstd_h_sum 1\nburstd_h_count 1\n",
		 true},
		{"# HELP burstd_h x\n# TYPE burstd_h histogram\nburstd_h 1\n", false},
		{"# HELP burstd_h x\n# TYPE burstd_h histogram\nburstd_h_max 1\n", false},
	};
#undef HEAD

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct parse p;

		print_message("# row %zu\n", i);
		assert_int_equal(parse(&p, rows[i].text), rows[i].good);
		parse_fini(&p);
	}
}

static void scrape(struct engine *e, struct parse *p)
{
	struct api api = {.engine = e};
	struct str s;

	str_init(&s, METRICS_MAX);
	metrics_write(&api, &s);
	assert_false(s.full);
	if (!parse(p, s.p))
		print_error("%s\n", p->why);
	assert_string_equal(p->why, "");
	str_fini(&s);
}

static const struct {
	const char *sample, *value;
} values[] = {
	{"burstd_start_time_seconds", "996400.00"},
	{"burstd_nodes{pool=\"pool0\",state=\"ready\"}", "2"},
	{"burstd_nodes{pool=\"pool0\",state=\"quarantined\"}", "1"},
	{"burstd_nodes{pool=\"pool0\",state=\"wanted\"}", "0"},
	{"burstd_nodes{pool=\"pool0\",state=\"gone\"}", "(absent)"}, /* history, not stock */
	{"burstd_nodes{pool=\"pool1\",state=\"ready\"}", "0"},
	{"burstd_pool_names{pool=\"pool0\"}", "9"},
	{"burstd_pool_max_nodes{pool=\"pool1\"}", "4"},
	{"burstd_pool_rate{pool=\"pool0\",currency=\"USD\"}", "88.56"},
	{"burstd_pool_max_rate{pool=\"pool0\",currency=\"USD\"}", "100.00"},
	{"burstd_spent_total{pool=\"pool0\",currency=\"USD\"}", "5.000000007"},
	{"burstd_node_stage_seconds_bucket{pool=\"pool1\",offer=\"o\",stage=\"boot\",le=\"60\"}",
	 "0"},
	{"burstd_node_stage_seconds_bucket{pool=\"pool1\",offer=\"o\",stage=\"boot\",le=\"120\"}",
	 "1"},
	{"burstd_node_stage_seconds_bucket{pool=\"pool1\",offer=\"o\",stage=\"boot\",le=\"+Inf\"}",
	 "2"},
	{"burstd_node_stage_seconds_sum{pool=\"pool1\",offer=\"o\",stage=\"boot\"}", "4090.00"},
	{"burstd_node_stage_seconds_count{pool=\"pool1\",offer=\"o\",stage=\"boot\"}", "2"},
	{"burstd_node_stage_seconds_count{pool=\"pool1\",offer=\"o\",stage=\"wait\"}", "(absent)"},
	{"burstd_nodes_refused{pool=\"pool0\",reason=\"capacity\"}", "2"},
	{"burstd_nodes_refused{pool=\"pool1\",reason=\"capacity\"}", "(absent)"},
	{"burstd_price_age_seconds{pool=\"pool1\",offer=\"\"}", "61.50"},
	{"burstd_unpriced_offers", "0"},
	{"burstd_nodes_placed{pool=\"pool0\"}", "1"},
	{"burstd_nodes_placed{pool=\"pool1\"}", "0"},
	{"burstd_fabrics_apart{pool=\"pool0\"}", "0"},
	{"burstd_fabrics_apart{pool=\"pool1\"}", "2"},
	{"burstd_pool_warm_wanted{pool=\"pool0\"}", "0"},
	{"burstd_pool_warm_wanted{pool=\"pool1\"}", "3"},
	{"burstd_pool_warm{pool=\"pool1\"}", "2"},
	{"burstd_pool_paid{pool=\"pool1\"}", "4"},
	{"burstd_pool_image_offers{pool=\"pool0\",stage=\"settled\"}", "0"}, /* no images there */
	{"burstd_pool_image_offers{pool=\"pool1\",stage=\"stopped\"}", "1"},
	{"burstd_pool_image_offers{pool=\"pool1\",stage=\"canary\"}", "0"},
	{"burstd_pool_paused{pool=\"pool0\"}", "0"},
	{"burstd_pool_paused{pool=\"pool1\"}", "1"},
	{"burstd_pool_blocked{pool=\"pool0\"}", "1"},
	{"burstd_pool_blocked{pool=\"pool1\"}", "0"}, /* paused, that is all */
	{"burstd_slurm_conf_problems{severity=\"error\"}", "2"},
	{"burstd_slurm_conf_problems{severity=\"warning\"}", "0"},
	{"burstd_slurm_conf_problems{severity=\"advice\"}", "1"},
	{"burstd_disk_free_bytes", "12345678901"},
	{"burstd_buying_stopped", "1"},
	{"burstd_slurm_up", "1"},
	{"burstd_slurm_last_success_timestamp_seconds", "999999.00"},
	{"burstd_provider_up{provider=\"sim\"}", "1"},
	{"burstd_provider_away{provider=\"sim\"}", "0"},
	{"burstd_provider_clock_ahead_seconds{provider=\"sim\"}", "-61.50"},
	{"burstd_provider_last_success_timestamp_seconds{provider=\"sim\"}", "999988.00"},
	{"burstd_calls_total{kind=\"resume\"}", "1"},
	{"burstd_calls_total{kind=\"suspend\"}", "2"},
	{"burstd_calls_total{kind=\"resume-fail\"}", "3"},
	{"burstd_calls_bad_total", "36"},
	{"burstd_calls_refused_total", "4"},
	{"burstd_provider_requests_total{provider=\"sim\",operation=\"create\"}", "5"},
	{"burstd_provider_requests_total{provider=\"sim\",operation=\"list\"}", "70"},
	{"burstd_provider_requests_total{provider=\"sim\",operation=\"step\"}", "0"},
	{"burstd_provider_requests_allowed_per_second{provider=\"sim\",operation=\"create\"}",
	 "0.016667"},
	{"burstd_provider_requests_allowed_per_second{provider=\"sim\",operation=\"list\"}",
	 "20.00"},
	{"burstd_provider_requests_allowed_per_second{provider=\"sim\",operation=\"delete\"}",
	 "(absent)"}, /* any number */
	{"burstd_provider_instances_allowed_per_second{provider=\"sim\",operation=\"create\"}",
	 "2.00"},
	{"burstd_provider_instances_allowed_per_second{provider=\"sim\",operation=\"list\"}",
	 "(absent)"},
	{"burstd_provider_requests_queued{provider=\"sim\",operation=\"create\"}", "812"},
	{"burstd_provider_requests_queued{provider=\"sim\",operation=\"list\"}", "0"},
	{"burstd_provider_requests_waiting_seconds{provider=\"sim\",operation=\"create\"}",
	 "250.00"},
	{"burstd_provider_requests_waiting_seconds{provider=\"sim\",operation=\"list\"}", "0.00"},
	{"burstd_notices_unreadable_total", "23"},
	{"burstd_notices_foreign_total", "24"},
	{"burstd_instances_created_total", "9"},
	{"burstd_instances_refused_total", "10"},
	{"burstd_instances_lost_total", "11"},
	{"burstd_slurm_requests_total{kind=\"poll\"}", "12"},
	{"burstd_slurm_requests_total{kind=\"update\"}", "13"},
	{"burstd_strays_total", "14"},
	{"burstd_instances_foreign", "15"},
	{"burstd_instances_unreadable", "21"},
	{"burstd_journal_commits_total", "16"},
	{"burstd_gates_waiting", "17"},
	{"burstd_gates_total{end=\"up\"}", "18"},
	{"burstd_jobs_signalled_total", "31"},
	{"burstd_jobs_lifted_total", "32"},
	{"burstd_jobs_notified_total", "34"},
	{"burstd_notice_fences_total", "33"},
	{"burstd_notice_fence_seconds_total", "4.50"},
	{"burstd_notice_fence_seconds_max", "0.25"},
	{"burstd_notices_total{provider=\"sim\",kind=\"reclaim\"}", "0"},
	{"burstd_notices_total{provider=\"sim\",kind=\"faulty\"}", "3"},
	{"burstd_gates_total{end=\"gone\"}", "19"},
	{"burstd_gate_seconds_total", "20.50"},
	{"burstd_jobs_waiting{reason=\"budget\"}", "2"},
	{"burstd_jobs_waiting{reason=\"capacity\"}", "0"},
	{"burstd_jobs_waiting{reason=\"unknown\"}", "0"},
	{"burstd_places_cooling{provider=\"sim\",reason=\"capacity\"}", "1"},
	{"burstd_places_cooling{provider=\"sim\",reason=\"quota\"}", "1"},
	{"burstd_places_cooling{provider=\"sim\",reason=\"failing\"}", "1"},
	{"burstd_provider_off{provider=\"sim\"}", "1"},
	{"burstd_nodes_unsold_total{provider=\"sim\",reason=\"quota\"}", "7"},
	{"burstd_nodes_unsold_total{provider=\"sim\",reason=\"capacity\"}", "0"},
	{"burstd_provider_throttled_total{provider=\"sim\",operation=\"list\"}", "12"},
	{"burstd_provider_throttled_total{provider=\"sim\",operation=\"fabric-drop\"}", "0"},
};

static void test_values(void **state)
{
	static struct slurm_report report = {
		.n = 3, .by_severity = {[SLURM_ERROR] = 2, [SLURM_ADVICE] = 1}};
	const struct node bought = {.pool = 1, .offer = "o"};
	struct engine e;
	struct parse p;

	(void)state;
	fill(&e);
	stages_add(&e.stages, &bought, STAGE_BOOT, 90000);
	stages_add(&e.stages, &bought, STAGE_BOOT, 4000000);
	e.prereq = &report;
	e.room = (struct journal_room){.free_bytes = INT64_C(12345678901), .low = true};
	e.closed[0] = "its nodes come up wrong";
	e.paused[1] = true;
	e.roll = (struct roll){.stage = ROLL_STOPPED, .next = "ami-2"};
	e.warm[1] = (struct engine_warm){.wanted = 3, .up = 2, .coming = 1, .paid = 4};
	e.why = "closed";
	e.npostponed = 2;
	e.ahead_ms = -61500;
	e.flow[PROVIDER_CREATE] = (struct engine_flow){
		.sent = 5,
		.throttled = 1,
		.queued = 812,
		.oldest_ms = FAKE_NOW - 250000,
		.limit = {.by = LIMIT_BY_ANSWERS, .allowed = 16667, .instances = 2000000}};
	e.flow[PROVIDER_LIST] = (struct engine_flow){
		.sent = 70, .throttled = 12, .limit = {.by = LIMIT_BY_KIND, .allowed = 20000000}};
	scrape(&e, &p);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		print_message("# %s\n", values[i].sample);
		assert_string_equal(value(&p, values[i].sample), values[i].value);
	}
	assert_memory_equal(p.samples[0], "burstd_build_info{version=\"", 27);
	assert_non_null(strstr(p.samples[0], "\",cluster=\"falcon\"}"));
	assert_string_equal(p.values[0], "1");
	parse_fini(&p);
	stages_fini(&e.stages);
	fake_fini(&e);
}

/* F57: Prometheus compares them with its own clock. */
static void test_timestamps_are_by_the_wall_clock(void **state)
{
	static const char *const rows[][2] = {
		{"burstd_start_time_seconds", "996398.00"},
		{"burstd_slurm_last_success_timestamp_seconds", "999997.00"},
		{"burstd_provider_last_success_timestamp_seconds{provider=\"sim\"}", "999986.00"},
		{"burstd_secrets_last_success_timestamp_seconds", "999993.00"},
	};
	struct engine e;
	struct parse p;

	(void)state;
	fill(&e);
	e.secrets =
		(struct engine_secrets){.driver = "vault", .source = {.ok_ms = FAKE_NOW - 5000}};
	e.of_wall_ms = 2000;
	scrape(&e, &p);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(value(&p, rows[i][0]), rows[i][1]);
	parse_fini(&p);
	fake_fini(&e);
}

/* Up means: the last attempt was answered.  Never asked is not up. */
static void test_down(void **state)
{
	struct engine e;
	struct parse p;

	(void)state;
	fill(&e);
	e.slurm.error = "timed out";
	e.provider.ok_ms = 0;
	scrape(&e, &p);
	assert_string_equal(value(&p, "burstd_buying_stopped"), "0");
	assert_string_equal(value(&p, "burstd_slurm_conf_problems{severity=\"error\"}"),
			    "(absent)"); /* not known */
	assert_string_equal(value(&p, "burstd_slurm_up"), "0");
	assert_string_equal(value(&p, "burstd_provider_up{provider=\"sim\"}"), "0");
	assert_string_equal(
		value(&p, "burstd_provider_last_success_timestamp_seconds{provider=\"sim\"}"),
		"0.00");
	parse_fini(&p);
	fake_fini(&e);
}

/* Each provider by itself. */
static void test_one_of_two_providers_is_away(void **state)
{
	struct conf_provider *both = mem_zalloc(2 * sizeof(*both));
	struct engine e;
	struct parse p;

	(void)state;
	fill(&e);
	both[0] = e.conf->providers[0];
	both[1] = (struct conf_provider){.name = mem_strdup("far"),
					 .driver = mem_strdup("sim"),
					 .url = mem_strdup("http://127.0.0.1:2")};
	free(e.conf->providers);
	e.conf->providers = both;
	e.conf->nproviders = 2;
	for (int i = 0; i < 2; i++) {
		e.away_ms[i] = FAKE_NOW;
		e.away_ms[1 - i] = 0;
		scrape(&e, &p);
		assert_string_equal(value(&p, "burstd_provider_away{provider=\"sim\"}"),
				    i == 0 ? "1" : "0");
		assert_string_equal(value(&p, "burstd_provider_away{provider=\"far\"}"),
				    i == 1 ? "1" : "0");
		parse_fini(&p);
	}
	fake_fini(&e);
}

/* Not offered, not in a currency that is known, or not told yet. */
static void test_offers_without_a_price(void **state)
{
	static const int64_t prices[] = {0, -1, LADDER_UNPRICED};
	struct engine e;
	struct parse p;

	(void)state;
	fill(&e);
	for (size_t i = 0; i < sizeof(prices) / sizeof(prices[0]); i++) {
		e.price = prices[i];
		scrape(&e, &p);
		assert_string_equal(value(&p, "burstd_unpriced_offers"), "2");
		parse_fini(&p);
	}
	fake_fini(&e);
}

/* One whose credential is missing counts as off, though it denied nothing. */
static void test_a_provider_that_is_off(void **state)
{
	struct engine e;
	struct parse p;

	(void)state;
	fill(&e);
	scrape(&e, &p);
	assert_string_equal(value(&p, "burstd_provider_off{provider=\"sim\"}"), "0");
	parse_fini(&p);
	e.off = "no key";
	scrape(&e, &p);
	assert_string_equal(value(&p, "burstd_provider_off{provider=\"sim\"}"), "1");
	parse_fini(&p);
	fake_fini(&e);
}

/* Names from the configuration cannot break a line, whatever is in them. */
static void test_escapes(void **state)
{
	struct engine e;
	struct parse p;

	(void)state;
	fill(&e);
	free(e.conf->pools[0].name);
	e.conf->pools[0].name = mem_strdup("a\"b\\c\nd");
	scrape(&e, &p);
	assert_string_equal(value(&p, "burstd_pool_max_nodes{pool=\"a\\\"b\\\\c\\nd\"}"), "4");
	parse_fini(&p);
	fake_fini(&e);
}

/* The largest configuration there may be fits the answer. */
static void test_many_pools(void **state)
{
	char lists[CONF_POOLS_MAX][16];
	const char *pointers[CONF_POOLS_MAX];
	struct engine e;
	struct parse p;

	(void)state;
	for (int i = 0; i < CONF_POOLS_MAX; i++) {
		(void)snprintf(lists[i], sizeof(lists[i]), "p%d-1", i);
		pointers[i] = lists[i];
	}
	fake_init(&e, pointers, CONF_POOLS_MAX);
	scrape(&e, &p);
	assert_string_equal(value(&p, "burstd_pool_names{pool=\"pool255\"}"), "1");
	parse_fini(&p);
	fake_fini(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parser),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_timestamps_are_by_the_wall_clock),
		cmocka_unit_test(test_down),
		cmocka_unit_test(test_a_provider_that_is_off),
		cmocka_unit_test(test_one_of_two_providers_is_away),
		cmocka_unit_test(test_offers_without_a_price),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_many_pools),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
