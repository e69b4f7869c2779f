/* burst-ledger export: what finance takes away. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "ledger/command.h"
#include "ledger/export.h"
#include "ledger/pseudonym.h"
#include "ledger/reading.h"

enum { PATH_MAX_BYTES = 4096, FD_PATH_SIZE = 40 };

static const char *const versions[] = {[FOCUS_1_2] = "1.2", [FOCUS_1_4] = "1.4"};
static const char *const views[] = {[FOCUS_PROVIDER] = "provider", [FOCUS_INTERNAL] = "internal"};

/* text NULL: not given, and *out is as it was. */
static bool is_one_of(const char *const *words, size_t n, const char *text, int *out)
{
	if (text == NULL)
		return true;
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], text) == 0) {
			*out = (int)i;
			return true;
		}
	return false;
}

#define ONE_OF(words, text, out) is_one_of(words, sizeof(words) / sizeof((words)[0]), text, out)

/* 0, or the exit status. */
static int take_options(struct export *x, const char *form, const struct settings *s)
{
	int version = FOCUS_1_2, view = FOCUS_PROVIDER;
	struct err e;

	if (export_parse_form(&x->form, form, &e) < 0)
		return complain_of_usage("%s", e.msg);
	if (s->period != NULL && (s->from != NULL || s->to != NULL))
		return complain_of_usage("export: want --period, or --from and --to");
	if (!ONE_OF(versions, s->focus, &version))
		return complain_of_usage("--focus: want 1.2 or 1.4");
	if (!ONE_OF(views, s->view, &view))
		return complain_of_usage("--view: want provider or internal");
	if (x->form == EXPORT_XLSX && s->output == NULL)
		return complain_of_usage("export xlsx: want --output FILE");
	x->version = (enum focus_version)version;
	x->view = (enum focus_view)view;
	x->currency = s->currency;
	x->distribute = s->distribute;
	x->spreadsheet = s->spreadsheet;
	x->cost_component = s->cost_component != NULL ? s->cost_component : "cost";
	x->gpu_component = s->gpu_component != NULL ? s->gpu_component : "gpu_hours";
	x->attribute = s->attribute;
	return 0;
}

static int write_to(struct export *x, struct reading *r, FILE *f, struct err *e)
{
	const struct sink to = sink_file(f);
	size_t left_out;

	if (export_write(x, r->ledger, &to, &left_out, e) < 0)
		return -1;
	if (left_out > 0)
		(void)fprintf(stderr,
			      "burst-ledger: %zu charges are not in %s, and were left out: see "
			      "--currency\n",
			      left_out, x->currency);
	return reading_warn(r, x->to_day, e);
}

/* A file takes the place of what was there, which must be no device: /dev/null is everybody's. */
static int check_place(const char *file, struct err *e)
{
	struct stat st;

	if (stat(file, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID,
			       "--output %.200s: it is no regular file; without --output the "
			       "export goes to standard output",
			       file);
	return 0;
}

/* The file is there as a whole, or as it was before. */
static int write_file(struct export *x, struct reading *r, const char *file, struct err *e)
{
	char open_file[FD_PATH_SIZE];
	struct str part;
	FILE *f;
	int rc;

	if (check_place(file, e) < 0)
		return -1;
	str_init(&part, PATH_MAX_BYTES);
	str_addf(&part, "%s.part", file);
	(void)unlink(part.p); /* of a run that was killed; and never through somebody's link */
	f = fopen(part.p, "wxe");
	if (f == NULL) {
		rc = err_set(e, err_of_errno(errno), "%s: %s", part.p, strerror(errno));
		str_fini(&part);
		return rc;
	}
	/* For who opens it once more: by its name it may be somebody's link by now, where the
	 * directory is theirs. */
	(void)snprintf(open_file, sizeof(open_file), "/proc/self/fd/%d", fileno(f));
	x->path = open_file;
	rc = write_to(x, r, f, e);
	if (rc < 0 && x->form == EXPORT_XLSX)
		(void)err_wrap(e, "%.200s", part.p);
	if (fclose(f) != 0 && rc == 0)
		rc = err_set(e, err_of_errno(errno), "%s: %s", part.p, strerror(errno));
	if (rc == 0 && rename(part.p, file) != 0)
		rc = err_set(e, err_of_errno(errno), "%s: %s", file, strerror(errno));
	if (rc < 0)
		(void)unlink(part.p);
	str_fini(&part);
	return rc;
}

static int take_key(struct export *x, const struct settings *s, struct secret **key, struct err *e)
{
	if (s->pseudonymise == NULL)
		return 0;
	if (pseudonym_load(key, s->pseudonymise, e) < 0)
		return -1;
	x->site_key = *key;
	return 0;
}

int command_export(const struct settings *s, const char *form)
{
	struct secret *key = NULL;
	struct export x = {.now_s = clock_wall_ms() / 1000};
	struct reading_days days;
	struct reading r;
	struct err e = {0};
	int rc = take_options(&x, form, s);

	if (rc != 0)
		return rc;
	rc = reading_begin(&r, s, &e);
	if (rc == 0)
		rc = take_key(&x, s, &key, &e);
	if (rc == 0)
		rc = reading_find_days(&r, s, &days, &e);
	if (rc == 0) {
		x.zone = r.calendar.zone;
		x.from_day = days.from_day;
		x.to_day = days.to_day;
		x.period = days.name;
		if (x.currency == NULL)
			x.currency = r.currency;
		rc = s->output != NULL ? write_file(&x, &r, s->output, &e)
				       : write_to(&x, &r, stdout, &e);
	}
	secret_free(key);
	return reading_end(&r, rc, &e);
}
