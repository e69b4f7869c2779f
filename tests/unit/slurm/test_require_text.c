/* test_require_text.c - texts that are no configuration, or only a part of one, are refused. */
#include "slurm_config.h"

static void refuse(struct slurm_text config, struct slurm_text partitions, const char *words)
{
	struct slurm_report r;
	struct err e = {0};
	struct need n;

	need_init(&n);
	r.n = 77;
	assert_int_equal(slurm_require(config, partitions, &n.need, &r, &e), -1);
	assert_int_equal(r.n, 0);
	assert_int_equal(r.version.number, 0);
	assert_non_null(strstr(e.msg, "scontrol"));
	if (strstr(e.msg, words) == NULL)
		fail_msg("\"%s\" does not say %s", e.msg, words);
	need_fini(&n);
}

static void test_broken(void **state)
{
	static const struct {
		const char *config, *partitions, *words;
	} texts[] = {
		{"", "", "not a configuration"},
		{"slurm_load_ctl_conf error: Unable to contact slurm controller\n", "",
		 "not a configuration"},
		{"Configuration data as of ", "", "not a configuration"},
		{"Configuration data as of x\n", "", "cut short"},
		{"Configuration data as of x\n\n", "", "without SLURM_VERSION"},
		{"Configuration data as of x\nSLURM_VERSION = 24.11.5\n\n", "",
		 "without BOOT_TIME"},
		{"Configuration data as of x\nSLURM_VERSION = (null)\nBOOT_TIME = x\n\n", "",
		 "not a version"},
		{"Configuration data as of x\nSLURM_VERSION = 24.11.5\nBOOT_TIME = "
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n\n",
		 "", "without BOOT_TIME"},
		{"Configuration data as of x\nA = b\n\nSLURM_VERSION = 24.11.5\nBOOT_TIME = x\n",
		 "", "without SLURM_VERSION"},
		{"Configuration data as of x\nSLURM_VERSION = 24.11.5\nBOOT_TIME = x\n\n",
		 "slurm_load_partitions: Access/permission denied\n", "not a partition"},
		{"Configuration data as of x\nSLURM_VERSION = 24.11.5\nBOOT_TIME = x\n\n",
		 "PartitionName=a Nodes=c1", "cut short"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refuse(text_of(texts[i].config), text_of(texts[i].partitions), texts[i].words);
}

/* However much of it is missing: never taken for the whole. */
static void test_cut_short(void **state)
{
	char *config = fixture("24.11", "config"), *partitions = fixture("24.11", "own-partitions");
	size_t whole_config = (size_t)(strstr(config, "\n\n") - config) + 2;
	struct slurm_report r;
	struct need n;

	(void)state;
	need_init(&n);
	for (size_t i = 0; i < whole_config; i++)
		assert_int_equal(slurm_require((struct slurm_text){config, i}, text_of(partitions),
					       &n.need, &r, NULL),
				 -1);
	assert_int_equal(slurm_require((struct slurm_text){config, whole_config},
				       text_of(partitions), &n.need, &r, NULL),
			 0);
	for (size_t i = 1; i < strlen(partitions); i++)
		assert_int_equal(slurm_require(text_of(config), (struct slurm_text){partitions, i},
					       &n.need, &r, NULL),
				 partitions[i - 1] == '\n' ? 0 : -1);
	need_fini(&n);
	free(config);
	free(partitions);
}

static struct slurm_text repeat(const char *head, const char *piece, size_t size)
{
	char *text = mem_zalloc(size + 1);
	size_t n = strlen(head), step = strlen(piece);

	memcpy(text, head, n);
	for (; n + step <= size; n += step)
		memcpy(text + n, piece, step);
	return (struct slurm_text){text, n};
}

static void test_huge(void **state)
{
	char *config = fixture("24.11", "config");
	struct slurm_text big =
		repeat("Configuration data as of x\n", "A = b\n", SLURM_CONFIG_MAX + 10);
	struct slurm_text parts = repeat("", PART("a", "c1", ""), SLURM_PARTITIONS_MAX + 100);
	struct slurm_text wide =
		repeat("", PART("a", "d[1-60000]", " SuspendTime=3"), (size_t)40 * 64);
	char *value = mem_zalloc(600);

	(void)state;
	refuse(big, text_of(""), "a configuration of over");
	refuse(text_of(config), parts, "partitions of over");
	parts.n = (SLURM_NPARTITIONS_MAX + 1) * strlen(PART("a", "c1", ""));
	refuse(text_of(config), parts, "too many partitions");
	refuse(text_of(config), wide, "too many partitions");

	struct slurm_report r;
	struct need n;

	need_init(&n);
	memset(value, 'x', 380);
	edit(config, "ResumeProgram", value);
	assert_int_equal(slurm_require(text_of(config), text_of(""), &n.need, &r, NULL), 0);
	assert_int_equal(strlen(r.problems[0].found), sizeof(r.problems[0].found) - 1);
	assert_string_equal(r.problems[0].found + sizeof(r.problems[0].found) - 6, "xx...");
	need_fini(&n);
	free((void *)(uintptr_t)big.p);
	free((void *)(uintptr_t)parts.p);
	free((void *)(uintptr_t)wide.p);
	free(value);
	free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_huge),
	};

	return cmocka_run_group_tests_name("slurm require: texts that are none", tests, NULL, NULL);
}
