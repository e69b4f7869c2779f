/* test_release.c - burstd learns slurmctld's release from its settings, and asks squeue for the
 * columns that this release has. */
#include "loaded_engine.h"

#include <sys/stat.h>

/* The columns that squeue is asked for now. */
static void asked(struct fix *f, char *out, size_t size)
{
	char path[96];
	FILE *file;

	assert_true(slurm_ask_wishes(f->e->slurm, SLURM_JOBS, WISH_NOTHING, true));
	loop_run(f->loop);
	(void)snprintf(path, sizeof(path), "%s/asked", f->dir);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(out, (int)size, file));
	(void)fclose(file);
}

static void test_squeue_is_asked_for_what_the_release_has(void **state)
{
	static const struct {
		const char *version;
		bool own; /* a column says whether the job's nodes are its own */
	} rows[] = {{"22.05.8", false}, {"26.05.5", true}, {"25.11.7", false}};
	struct fix *f = *state;
	char path[96], columns[1000];
	FILE *file;

	assert_int_equal(load_conf(f, make_conf(), NULL), 0);
	(void)snprintf(path, sizeof(path), "%s/squeue", f->dir);
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fprintf(file, "#!/bin/sh\necho \"$*\" >%s/asked\n", f->dir);
	(void)fclose(file);
	assert_int_equal(chmod(path, 0700), 0);
	slurm_configure(f->e->slurm, f->dir, NULL);
	asked(f, columns, sizeof(columns));
	assert_non_null(strstr(columns, "," SLURM_SHARES ","));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		learn_release(f, rows[i].version);
		asked(f, columns, sizeof(columns));
		assert_non_null(strstr(
			columns, rows[i].own ? ",NumCPUs:0|," SLURM_SHARES_OR_OWNS ",tres-alloc"
					     : ",NumCPUs:0|," SLURM_SHARES ",tres-alloc"));
		assert_int_equal(strncmp(columns, "-h -a -O JobID:0|", 17), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_squeue_is_asked_for_what_the_release_has,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
