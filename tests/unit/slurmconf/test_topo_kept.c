/* Dynamic nodes whose place slurmctld keeps: which of them a new topology.conf would end it with,
 * as measured with 25.05.8 and 25.11.7 (ADR 67). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "slurmconf/topo_kept.h"
#include "world.h"

#define DYNAMIC(n, rest)                                                                           \
	"NodeName=" n                                                                              \
	" CoresPerSocket=1 State=IDLE+CLOUD+DYNAMIC_NORM+POWERED_DOWN Weight=1 " rest "\n"
#define STATIC(n, rest) "NodeName=" n " State=IDLE+CLOUD+POWERED_DOWN Weight=1 " rest "\n"

static const struct row {
	const char *release, *plugin, *nodes;
	const char *says; /* NULL: nothing; else how the only finding goes on */
} rows[] = {
	/* The site's leaf, burstd's leaf, and one that is made anew below a switch. */
	{"25.11.7", "tree",
	 DYNAMIC("x1", "Topology=default:rack1") DYNAMIC("x2", "Topology=default:burst-c")
		 DYNAMIC("x3", "Topology=default:burst:new") DYNAMIC("x4", ""),
	 NULL},
	{"25.11.7", "tree", DYNAMIC("x1", "Topology=default:gone"),
	 "node x1, and 0 others, in Topology=default:gone, which this file will not have: it "
	 "ends "},
	{"25.05.8", "tree", DYNAMIC("x1", "Topology=default:gone"), "node x1, and 0 others, in"},
	{"25.11.7", "tree",
	 DYNAMIC("x1", "Topology=default:rack1") DYNAMIC("x2", "Topology=default:gone")
		 DYNAMIC("x3", "Topology=default:gone"),
	 "node x2, and 1 others, in Topology=default:gone, "},
	{"25.11.7", "tree", DYNAMIC("x1", "Topology=default:gone:burst-c"),
	 "node x1, and 0 others, in Topology=default:gone:burst-c, "},
	/* A leaf that has become a switch above others. */
	{"25.11.7", "tree", DYNAMIC("x1", "Topology=default:root"),
	 "node x1, and 0 others, in Topology=default:root, "},
	{"25.11.7", "tree", DYNAMIC("x1", "Topology=default:burst"),
	 "node x1, and 0 others, in Topology=default:burst, "},
	{"25.11.7", "tree", DYNAMIC("x1", "Topology=default:rack1,default:gone"),
	 "node x1, and 0 others, in Topology=default:gone, "},
	/* Names differ by case, and by a letter more. */
	{"25.11.7", "tree", DYNAMIC("x1", "Topology=default:burst-C"), "node x1, and 0 others, in"},
	{"25.11.7", "tree", DYNAMIC("x1", "Topology=default:rack"), "node x1, and 0 others, in"},
	/* Free text comes before, and says nothing. */
	{"25.11.7", "tree", DYNAMIC("x1", "Reason=a Topology=default:gone Topology=default:rack1"),
	 NULL},
	{"25.11.7", "tree", DYNAMIC("x1", "Extra=Topology=default:gone"), NULL},
	/* A node of slurm.conf loses it at the reconfigure. */
	{"25.11.7", "tree", STATIC("c1", "Topology=default:gone"), NULL},
	/* Blocks: 25.05 goes on. */
	{"25.11.7", "block", DYNAMIC("x1", "Topology=default:gone"), "node x1, and 0 others, in"},
	{"25.11.7", "block",
	 DYNAMIC("x1", "Topology=default:rack1") DYNAMIC("x2", "Topology=default:burst-c"), NULL},
	{"25.05.8", "block", DYNAMIC("x1", "Topology=default:gone"), NULL},
	/* Releases that know no such place, and no topology at all. */
	{"24.11.5", "tree", DYNAMIC("x1", "Topology=default:gone"), NULL},
	{"25.11.7", "flat", DYNAMIC("x1", "Topology=default:gone"), NULL},
	/* What slurmctld never prints. */
	{"25.11.7", "tree",
	 DYNAMIC("x1", "Topology=") DYNAMIC("x2", "Topology=:") DYNAMIC(
		 "x3",
		 "Topology=gone") "NodeName= State=+DYNAMIC_ Topology=,,\nState=\n\n NodeName",
	 NULL},
};

static const char tree[] = "SwitchName=rack1 Nodes=own1\nSwitchName=root Switches=rack1\n";

static void look(struct world *w, const struct row *r)
{
	char slurm[256];

	world_init(w);
	(void)snprintf(slurm, sizeof(slurm),
		       "ClusterName=falcon\nTopologyPlugin=topology/%s\nNodeName=own1 CPUs=2\n",
		       r->plugin);
	w->slurm = slurm;
	w->release = r->release;
	w->topology = strcmp(r->plugin, "block") == 0 ? "BlockName=rack1 Nodes=own1\n" : tree;
	add_pool(w, "c", "c[1-4]", H100, "")->fabric = mem_strdup("job");
	world_run(w);
	slurmconf_findings_fini(&w->findings);
	if (slurmconf_topo_keeps(&w->topo))
		slurmconf_topo_kept(&w->topo, w->topo_body,
				    (struct slurm_text){r->nodes, strlen(r->nodes)},
				    (struct slurmconf_place){"/s/topology.conf", 7});
}

static void test_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[300];
		struct world w;

		print_message("# %zu\n", i);
		look(&w, &rows[i]);
		assert_int_equal(w.findings.n, rows[i].says != NULL);
		(void)snprintf(want, sizeof(want), "/s/topology.conf:7: slurmctld keeps %s",
			       rows[i].says != NULL ? rows[i].says : "");
		if (rows[i].says != NULL)
			assert_true(world_says(&w, SLURM_ERROR, want));
		world_fini(&w);
	}
}

/* Each place once, and no more than a page of them. */
static void test_many_places(void **state)
{
	struct row r = {"25.11.7", "tree", NULL, NULL};
	struct world w;
	struct str s;

	(void)state;
	str_init(&s, 1 << 20);
	for (int i = 0; i < 1000; i++)
		str_addf(&s, DYNAMIC("x%d", "Topology=default:gone%d"), i, i % 100);
	r.nodes = s.p;
	look(&w, &r);
	assert_int_equal(w.findings.n, 32);
	assert_true(world_says(&w, SLURM_ERROR,
			       "/s/topology.conf:7: slurmctld keeps node x31, and 9 others, in "
			       "Topology=default:gone31, "));
	world_fini(&w);
	str_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_many_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
