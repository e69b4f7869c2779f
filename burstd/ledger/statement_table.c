/* The tables of who: accounts, partitions, users, wckeys, jobs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ledger/cents.h"
#include "ledger/statement_private.h"

#define NO_JOB "(caused by no job: idle time, ends of machines, ...)"

enum { ROWS_MAX = 500 }; /* more do not help a reader; the rest is one row, and in the CSV */

/* A table in columns, as these are rounded: row i of n is a group, row n the machines' own time,
 * if it has some. */
struct columns {
	int64_t *nano, *hours, *other;      /* exact */
	int64_t *units, *tenths, *overhead; /* rounded, to be printed */
	size_t n;
};

static void columns_init(struct columns *c, size_t n)
{
	int64_t *all = mem_zalloc((n + 1) * 6 * sizeof(*all));

	*c = (struct columns){
		.nano = all,
		.hours = all + (n + 1),
		.other = all + 2 * (n + 1),
		.units = all + 3 * (n + 1),
		.tenths = all + 4 * (n + 1),
		.overhead = all + 5 * (n + 1),
		.n = n,
	};
}

static void columns_fini(struct columns *c)
{
	free(c->nano);
}

static int64_t sum_of(const int64_t *v, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

static void hours_cell(struct statement_page *p, int64_t tenths)
{
	str_adds(&p->s, "<td>");
	statement_hours(p, tenths);
	str_adds(&p->s, "</td>");
}

/* Groups beyond the first ROWS_MAX, as one. */
static void group_sums(const struct tally_groups *g, struct columns *c, size_t shown)
{
	for (size_t i = 0; i < g->n; i++) {
		const size_t row = i < shown ? i : shown;

		c->nano[row] += g->v[i]->sum.nano;
		c->hours[row] += g->v[i]->sum.run_gpu_s;
		c->other[row] += g->v[i]->overhead;
	}
}

struct kind { /* a table of groups */
	const char *id, *title, *caption, *head;
	const struct tally_groups *groups;
	bool whole; /* the groups are all there is: no row for what no job caused */
};

static void group_cells(struct statement_page *p, const struct columns *c, size_t i)
{
	statement_units_cell(p, c->units[i]);
	statement_percent_cell(p, c->units[i], p->total);
	hours_cell(p, c->tenths[i]);
	statement_per_hour_cell(p, c->nano[i], c->hours[i]);
}

static void group_row(struct statement_page *p, const struct kind *k, const struct columns *c,
		      size_t i, size_t shown)
{
	if (i < shown)
		statement_row(p, k->groups->v[i]->name);
	else
		statement_own_row(p, i == c->n - 1 && !k->whole ? NO_JOB : "(all others)");
	group_cells(p, c, i);
	statement_row_end(p);
}

static void group_table(struct statement_page *p, const struct kind *k)
{
	const struct tally_groups *g = k->groups;
	const size_t shown = g->n > ROWS_MAX ? ROWS_MAX : g->n;
	struct columns c;
	int64_t hours = 0;

	columns_init(&c, shown + (g->n > shown) + !k->whole);
	group_sums(g, &c, shown);
	if (!k->whole)
		c.nano[c.n - 1] = p->t->overhead;
	cents_split(c.nano, c.n, p->unit, p->total, c.units);
	hours = cents_of(sum_of(c.hours, c.n), STATEMENT_HOUR_UNIT);
	cents_split(c.hours, c.n, STATEMENT_HOUR_UNIT, hours, c.tenths);
	statement_section(p, k->id, k->title);
	statement_table(p, k->caption, k->head);
	for (size_t i = 0; i < c.n; i++)
		group_row(p, k, &c, i, shown);
	statement_sum_row(p);
	statement_units_cell(p, p->total);
	statement_percent_cell(p, 1, 1);
	hours_cell(p, hours);
	statement_per_hour_cell(p, p->t->all.nano, p->t->all.run_gpu_s);
	statement_row_end(p);
	statement_table_end(p);
	statement_section_end(p);
	columns_fini(&c);
}

/* Direct and overhead have columns of their own, each of which adds up, and so does each row. */
static void account_rows(struct statement_page *p, struct columns *c, size_t shown)
{
	const struct tally_groups *g = &p->t->accounts;

	for (size_t i = 0; i < c->n; i++) {
		if (i < shown)
			statement_row(p, g->v[i]->name);
		else
			statement_own_row(p, i == c->n - 1 && !p->t->distributed ? NO_JOB
										 : "(all others)");
		statement_units_cell(p, c->units[i]);
		statement_units_cell(p, c->overhead[i]);
		statement_units_cell(p, c->units[i] + c->overhead[i]);
		statement_percent_cell(p, c->units[i] + c->overhead[i], p->total);
		hours_cell(p, c->tenths[i]);
		statement_per_hour_cell(p, c->nano[i] + c->other[i], c->hours[i]);
		statement_row_end(p);
	}
}

static void account_sum(struct statement_page *p, const int64_t both[2], int64_t hours)
{
	statement_sum_row(p);
	statement_units_cell(p, both[0]);
	statement_units_cell(p, both[1]);
	statement_units_cell(p, p->total);
	statement_percent_cell(p, 1, 1);
	hours_cell(p, hours);
	statement_per_hour_cell(p, p->t->all.nano, p->t->all.run_gpu_s);
	statement_row_end(p);
}

void statement_accounts(struct statement_page *p)
{
	const struct tally_groups *g = &p->t->accounts;
	const size_t shown = g->n > ROWS_MAX ? ROWS_MAX : g->n;
	const int64_t exact[2] = {p->t->all.direct, p->t->overhead};
	const int64_t hours = cents_of(p->t->all.run_gpu_s, STATEMENT_HOUR_UNIT);
	int64_t both[2];
	struct columns c;

	columns_init(&c, shown + (g->n > shown) + 1);
	group_sums(g, &c, shown);
	if (!p->t->distributed)
		c.other[c.n - 1] = p->t->overhead - p->t->assigned;
	cents_split(exact, 2, p->unit, p->total, both);
	cents_split(c.nano, c.n, p->unit, both[0], c.units);
	cents_split(c.other, c.n, p->unit, both[1], c.overhead);
	cents_split(c.hours, c.n, STATEMENT_HOUR_UNIT, hours, c.tenths);
	c.n -= p->t->distributed; /* then that row is empty */
	statement_section(p, "accounts", "By account");
	str_adds(&p->s,
		 p->t->distributed
			 ? "<p>Overhead is what no job caused, shared out by direct cost.</p>\n"
		 : p->t->assigned != 0
			 ? "<p>Overhead is what no job caused. An account has its part of what the "
			   "provider's invoice has for no machine; the rest is shown by itself."
			   "</p>\n"
			 : "<p>Overhead is what no job caused. It is shown by itself and not "
			   "shared out.</p>\n");
	statement_table(p, "Cost by account of the jobs",
			"Account|Direct|Overhead|Total|Share|GPU hours|Per GPU hour");
	account_rows(p, &c, shown);
	account_sum(p, both, hours);
	statement_table_end(p);
	statement_section_end(p);
	columns_fini(&c);
}

#define HEADS "|Cost|Share|GPU hours|Per GPU hour"

void statement_partitions(struct statement_page *p)
{
	const struct kind k = {"partitions",
			       "By partition",
			       "All cost by the part of the cluster that it is for",
			       "Partition" HEADS,
			       &p->t->partitions,
			       true};

	group_table(p, &k);
}

void statement_users(struct statement_page *p)
{
	const struct kind k = {"users",      "By user",    "Direct cost by who submitted the jobs",
			       "User" HEADS, &p->t->users, false};

	group_table(p, &k);
}

void statement_wckeys(struct statement_page *p)
{
	const struct kind k = {"projects",
			       "By project (wckey)",
			       "Direct cost by the key that users give their jobs for a project",
			       "Wckey" HEADS,
			       &p->t->wckeys,
			       false};

	/* Most sites have none. */
	if (p->t->wckeys.n > 1 || (p->t->wckeys.n == 1 && p->t->wckeys.v[0]->name[0] != '\0'))
		group_table(p, &k);
}

static void job_row(struct statement_page *p, const struct tally_top *top, int64_t nano)
{
	const struct charge *c = &top->about.c;

	str_adds(&p->s, "<tr><th scope=\"row\">");
	html_bdi(&p->s, c->job_id);
	str_adds(&p->s, "</th>");
	statement_text_cell(p, c->job_name);
	statement_text_cell(p, c->user);
	statement_text_cell(p, c->account);
	str_addf(&p->s, "<td>%llu</td>", (unsigned long long)top->sum.attempts);
	hours_cell(p, cents_of(top->sum.gpu_s, STATEMENT_HOUR_UNIT));
	statement_money_cell(p, nano);
	statement_percent_cell(p, nano, p->t->all.nano);
	statement_row_end(p);
}

#define JOB_HEADS "Job|<Name|<User|<Account|Runs|GPU hours|"

void statement_jobs(struct statement_page *p)
{
	statement_section(p, "jobs", "The most expensive jobs");
	if (p->t->ntop == 0) {
		str_adds(&p->s, "<p>No job had a cost.</p>\n");
	} else {
		statement_table(p, "Direct cost of these jobs, each rounded by itself",
				JOB_HEADS "Cost|Share of all");
		for (size_t i = 0; i < p->t->ntop; i++)
			job_row(p, &p->t->top[i], p->t->top[i].sum.nano);
		statement_table_end(p);
	}
	statement_section_end(p);
}

void statement_waste(struct statement_page *p)
{
	const struct tally_sum *s = &p->t->all;
	const int64_t waste = s->classes[ALLOCATE_LOST] + s->classes[ALLOCATE_BOOT_FAILED] +
			      s->classes[ALLOCATE_ORPHAN];

	statement_section(p, "waste", "Waste");
	str_adds(&p->s, "<p>Paid for, and of no use to anybody: work that was lost, machines that "
			"never became usable, machines that the cluster did not know of: ");
	statement_money(p, waste);
	str_adds(&p->s, ", ");
	statement_percent(p, waste, s->nano);
	str_adds(&p->s, " of all.");
	if (s->credit != 0) {
		str_adds(&p->s, " The provider gave back ");
		statement_money(p, -s->credit);
		str_adds(&p->s, ".");
	}
	str_adds(&p->s, "</p>\n");
	if (p->t->nlost > 0) {
		statement_table(p, "Jobs that lost the most, less what was given back",
				JOB_HEADS "Lost|Share of all");
		for (size_t i = 0; i < p->t->nlost; i++)
			job_row(p, &p->t->lost[i], p->t->lost[i].sum.lost);
		statement_table_end(p);
	}
	statement_section_end(p);
}
