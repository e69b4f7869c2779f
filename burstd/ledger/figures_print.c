#include "ledger/figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/number.h"

enum { CELL = 40 };

struct line { /* what, how much, what that is of what */
	const char *name;
	char value[CELL], note[CELL];
	const char *of;
};

static int64_t waste_of(const struct figure *f)
{
	return f->classes[ALLOCATE_LOST] + f->classes[ALLOCATE_BOOT_FAILED] +
	       f->classes[ALLOCATE_ORPHAN];
}

/* --- cells ------------------------------------------------------------------------------------
 */

static void put_hours(char out[CELL], int64_t seconds)
{
	if (seconds == FIGURES_UNKNOWN)
		(void)snprintf(out, CELL, "-");
	else
		(void)number_hours(out, seconds);
}

static void put_money(char out[CELL], int64_t nano)
{
	if (nano == FIGURES_UNKNOWN)
		(void)snprintf(out, CELL, "-");
	else
		(void)number_money_round(out, nano, 2);
}

/* "82.4", "-0.3"; false: not known. */
static bool percent(char out[CELL], int64_t part, int64_t whole)
{
	const int64_t tenths = figures_tenths(part, whole);
	int64_t size;

	if (tenths == FIGURES_UNKNOWN)
		return false;
	size = tenths < 0 ? -tenths : tenths;
	(void)snprintf(out, CELL, "%s%" PRId64 ".%" PRId64, tenths < 0 ? "-" : "", size / 10,
		       size % 10);
	return true;
}

static void print_line(const struct line *l, struct str *out)
{
	str_addf(out, "  %-20s %12s", l->name, l->value);
	if (l->note[0] != '\0')
		str_addf(out, "  %6s %%", l->note);
	if (l->of != NULL)
		str_addf(out, "%s%s", l->note[0] != '\0' ? " " : "  ", l->of);
	str_adds(out, "\n");
}

/* --- lines ------------------------------------------------------------------------------------
 */

static void print_gpus(const struct figures *all, const struct figure *f, struct str *out)
{
	struct line l = {.name = "GPU-hours ready"};

	if (!all->of_user) {
		put_hours(l.value, f->ready_s);
		print_line(&l, out);
	}
	l = (struct line){.name = "GPU-hours held"};
	put_hours(l.value, f->held_s);
	if (!all->of_user && percent(l.note, f->held_s, f->ready_s))
		l.of = "of those ready (utilisation)";
	print_line(&l, out);
	l = (struct line){.name = "GPU-hours asked for"};
	put_hours(l.value, f->asked_s);
	print_line(&l, out);
	l = (struct line){.name = "GPU-hours used", .value = "-", .of = "nobody measures it"};
	print_line(&l, out);
}

static void print_parts(const struct figures *all, const struct figure *f, struct str *out)
{
	struct line l = {.name = "idle"};

	if (!all->of_user) {
		put_money(l.value, f->classes[ALLOCATE_IDLE]);
		if (percent(l.note, f->classes[ALLOCATE_IDLE], f->nano))
			l.of = "of cost";
		print_line(&l, out);
	}
	l = (struct line){.name = "waste"};
	put_money(l.value, waste_of(f));
	if (percent(l.note, waste_of(f), f->nano))
		l.of = all->of_user ? "of cost: lost" : "of cost: lost, boot_failed, orphan";
	print_line(&l, out);
	l = (struct line){.name = "a useful GPU-hour"};
	put_money(l.value, figures_useful_hour(f));
	print_line(&l, out);
	if (f->spot_list == 0 && f->spot_nano == 0)
		return;
	l = (struct line){.name = "saved by spot"};
	put_money(l.value, f->spot_list - f->spot_nano);
	if (percent(l.note, f->spot_list - f->spot_nano, f->spot_list))
		l.of = f->spot_unlisted == 0 ? "of the list price"
					     : "of the list price, where known";
	print_line(&l, out);
}

void figures_table(const struct figures *f, struct str *out)
{
	for (size_t i = 0; i < f->n; i++) {
		str_addf(out, "\nin %.20s\n", f->v[i].currency[0] != '\0' ? f->v[i].currency : "-");
		print_gpus(f, &f->v[i], out);
		print_parts(f, &f->v[i], out);
	}
}

/* --- for programs -----------------------------------------------------------------------------
 */

static void json_percent(struct jsonw *w, const char *key, int64_t part, int64_t whole)
{
	char text[CELL];

	if (percent(text, part, whole))
		jsonw_text(w, key, text);
}

static void json_figure(const struct figures *all, const struct figure *f, struct jsonw *w)
{
	jsonw_text(w, "currency", f->currency);
	jsonw_money(w, "cost", f->nano);
	if (!all->of_user) {
		jsonw_int(w, "gpu_seconds_ready", f->ready_s);
		json_percent(w, "utilisation_percent", f->held_s, f->ready_s);
		jsonw_money(w, "idle", f->classes[ALLOCATE_IDLE]);
		json_percent(w, "idle_percent", f->classes[ALLOCATE_IDLE], f->nano);
	}
	jsonw_int(w, "gpu_seconds_held", f->held_s);
	jsonw_int(w, "gpu_seconds_lost", f->lost_s);
	if (f->asked_s != FIGURES_UNKNOWN)
		jsonw_int(w, "gpu_seconds_asked", f->asked_s);
	jsonw_money(w, "waste", waste_of(f));
	json_percent(w, "waste_percent", waste_of(f), f->nano);
	if (figures_useful_hour(f) != FIGURES_UNKNOWN)
		jsonw_money(w, "useful_gpu_hour", figures_useful_hour(f));
	jsonw_money(w, "spot_list", f->spot_list);
	jsonw_money(w, "spot_saving", f->spot_list - f->spot_nano);
	json_percent(w, "spot_saving_percent", f->spot_list - f->spot_nano, f->spot_list);
	jsonw_money(w, "spot_unlisted", f->spot_unlisted);
}

void figures_json_put(const struct figures *f, struct jsonw *w)
{
	jsonw_open(w, "figures", '[');
	for (size_t i = 0; i < f->n; i++) {
		jsonw_open(w, NULL, '{');
		json_figure(f, &f->v[i], w);
		jsonw_close(w, '}');
	}
	jsonw_close(w, ']');
}
