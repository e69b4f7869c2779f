/* The "sometimes" table: which fault met a node in which state, over all seeds.  A cell that is
 * possible and stays empty is a test that was never made. */
#include <inttypes.h>
#include <stdio.h>

#include "world.h"

static bool missed(const struct sim_totals *t, int f, int s)
{
	return t->met[f][s] == 0 && (sim_faults[f].never & (1u << s)) == 0;
}

unsigned sim_cells_missed(const struct sim_totals *t)
{
	unsigned n = 0;

	for (int f = 0; f < SIM_NFAULTS; f++)
		for (int s = 0; s <= NODE_NSTATES; s++)
			n += missed(t, f, s);
	return n;
}

/* '!' where it should have been and was not, '-' where it cannot be, for the reason at the end. */
static void print_cell(const struct sim_totals *t, int f, int s)
{
	if (missed(t, f, s))
		(void)printf(" %8s", "!");
	else if (t->met[f][s] == 0)
		(void)printf(" %8s", "-");
	else
		(void)printf(" %8" PRIu64, t->met[f][s]);
}

void sim_cells_print(const struct sim_totals *t)
{
	(void)printf("# %-27s", "sometimes");
	for (int s = 0; s < NODE_NSTATES; s++)
		(void)printf(" %8.8s", node_state_str((enum node_state)s));
	(void)printf(" %8s\n", "no row");
	for (int f = 0; f < SIM_NFAULTS; f++) {
		(void)printf("# %-27s", sim_faults[f].name);
		for (int s = 0; s <= NODE_NSTATES; s++)
			print_cell(t, f, s);
		(void)printf("  %s\n", sim_faults[f].why);
	}
}
