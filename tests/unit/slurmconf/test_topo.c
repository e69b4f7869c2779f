/* A site's topology.conf: what slurmctld would end with is an error with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "world.h"

#define TREE  "TopologyPlugin=topology/tree\n"
#define BLOCK "TopologyPlugin=topology/block\n"
#define OWN   "NodeName=own[1-8] CPUs=2\n"

/* A world with a pool c[1-4] and the site's nodes own[1-8]. */
static void read_topology(struct world *w, const char *release, const char *plugin,
			  const char *topology)
{
	char slurm[512];

	world_init(w);
	(void)snprintf(slurm, sizeof(slurm), "ClusterName=falcon\n%s" OWN, plugin);
	w->slurm = slurm;
	w->release = release;
	w->topology = topology;
	add_pool(w, "c", "c[1-4]", H100, "")->fabric = mem_strdup("job");
	world_run(w);
}

struct row {
	const char *release, *plugin, *topology;
	enum slurm_severity severity;
	const char *says; /* NULL: nothing at all */
};

static const struct row rows[] = {
	/* Good ones. */
	{"22.05.8", TREE,
	 "SwitchName=a Nodes=own[1-4]\nSwitchName=b Nodes=own[5-8]\n"
	 "SwitchName=root Switches=a,b LinkSpeed=100\n",
	 0, NULL},
	{"22.05.8", TREE, "SwitchName=root Switches=a\nSwitchName=a Nodes=own1,own1,c[1-4]\n", 0,
	 NULL},
	{"22.05.8", TREE, "SwitchName=root Switches=a,burst\nSwitchName=a Nodes=own1\n", 0, NULL},
	{"22.05.8", TREE, "SwitchName=a Nodes=own1\nSwitchName=r Switches=a,a\n", 0, NULL},
	{"25.05.0", TREE, "SwitchName=a\n", 0, NULL},
	{"24.11.5", BLOCK,
	 "BlockName=a Nodes=own[1-4]\nBlockName=b Nodes=own[5-8]\n"
	 "BlockSizes=4,8,16\n",
	 0, NULL},
	{"25.05.0", BLOCK, "BlockSizes=4\nBlockName=a Nodes=own[1-3]\nBlockName=b\n", 0, NULL},
	{"24.11.5", "", "SwitchName=a Switches=nowhere\n", 0, NULL},
	{"24.11.5", "TopologyPlugin=topology/default\n", "SwitchName=a Switches=a\n", 0, NULL},
	{"24.11.5", BLOCK, "BlockSizes=4\nBlockSizes=2\nBlockName=a Nodes=own[1-2]\n", 0, NULL},
	/* What slurmctld ends with. */
	{"22.05.8", TREE, "SwitchName=a Nodes=own1\n\nSwitchName=r Switches=a,zz\n", SLURM_ERROR,
	 "/s/topology.conf:3: there is no switch zz"},
	{"22.05.8", TREE, "SwitchName=A Nodes=own1\nSwitchName=r Switches=a\n", SLURM_ERROR,
	 "/s/topology.conf:2: there is no switch a"},
	{"22.05.8", TREE, "SwitchName=r Switches=burst-d\n", SLURM_ERROR,
	 "/s/topology.conf:1: there is no switch burst-d"},
	{"22.05.8", TREE, "SwitchName=r Switches=burst2\n", SLURM_ERROR,
	 "/s/topology.conf:1: there is no switch burst2"},
	{"22.05.8", TREE, "SwitchName=a Switches=a\n", SLURM_ERROR,
	 "/s/topology.conf:1: switch a is below itself"},
	{"22.05.8", TREE,
	 "SwitchName=b Switches=l,c\n"
	 "SwitchName=c Switches=b\nSwitchName=l Nodes=own1\n",
	 SLURM_ERROR, "/s/topology.conf:"},
	{"22.05.8", TREE, "SwitchName=a Nodes=own1 Switches=b\nSwitchName=b Nodes=own2\n",
	 SLURM_ERROR, "/s/topology.conf:1: switch a has both"},
	{"24.11.5", TREE, "SwitchName=b Nodes=own1\nSwitchName=a LinkSpeed=1\n", SLURM_ERROR,
	 "/s/topology.conf:2: a has nothing in it"},
	{"24.11.5", TREE, "SwitchName=a Nodes=own1\nSwitchName=a Nodes=own2\n", SLURM_ERROR,
	 "/s/topology.conf:2: a is there already, in line 1"},
	{"24.11.5", TREE, "BlockName=a Nodes=own1\n", SLURM_ERROR,
	 "/s/topology.conf:1: BlockName with TopologyPlugin=topology/tree"},
	{"24.11.5", TREE, "BlockSizes=4\n", SLURM_ERROR, "/s/topology.conf:1: BlockSizes with"},
	{"24.11.5", BLOCK, "SwitchName=a Nodes=own1\n", SLURM_ERROR,
	 "/s/topology.conf:1: SwitchName with TopologyPlugin=topology/block"},
	{"24.11.5", BLOCK, "BlockName=a Nodes=own[1-4]\nBlockName=b Nodes=own[5-7]\nBlockSizes=4\n",
	 SLURM_ERROR, "/s/topology.conf:2: block b has 3 nodes, and each must have 4"},
	{"24.11.5", BLOCK, "BlockName=a Nodes=own[1-4]\nBlockName=b Nodes=own[5-7]\n", SLURM_ERROR,
	 "/s/topology.conf:2: block b has 3 nodes, and each must have 4"},
	{"24.11.5", BLOCK, "BlockName=a\n", SLURM_ERROR, "/s/topology.conf:1: a has nothing in it"},
	{"24.11.5", BLOCK, "BlockSizes=4,12\n", SLURM_ERROR, "/s/topology.conf:1: BlockSizes are"},
	{"24.11.5", BLOCK, "BlockSizes=4,6\n", SLURM_ERROR, "/s/topology.conf:1: BlockSizes are"},
	{"24.11.5", BLOCK, "BlockSizes=4,2\n", SLURM_ERROR, "/s/topology.conf:1: BlockSizes are"},
	{"24.11.5", BLOCK, "BlockSizes=0\n", SLURM_ERROR, "/s/topology.conf:1: BlockSizes are"},
	{"24.11.5", BLOCK, "BlockSizes=1,65536\n", SLURM_ERROR,
	 "/s/topology.conf:1: BlockSizes are"},
	{"24.11.5", BLOCK, "BlockSizes=four\n", SLURM_ERROR, "/s/topology.conf:1: BlockSizes are"},
	/* What it only logs, measured with 22.05. */
	{"22.05.8", TREE, "SwitchName=a Nodes=own[1-4]\nSwitchName=b Nodes=own[3-5]\n",
	 SLURM_WARNING, "/s/topology.conf:2: node own3, and 1 others, are in a of line 1 too"},
	{"24.11.5", BLOCK, "BlockName=a Nodes=own[1-4]\nBlockName=b Nodes=own[4-7]\n",
	 SLURM_WARNING, "/s/topology.conf:2: node own4, and 0 others, are in a of line 1 too"},
	{"22.05.8", TREE,
	 "SwitchName=a Nodes=own1\nSwitchName=q Switches=a\nSwitchName=r Switches=a\n",
	 SLURM_WARNING, "/s/topology.conf:3: switch a is below q of line 2 too"},
	{"22.05.8", TREE, "SwitchName=a Nodes=own1,c[1-5],own9\n", SLURM_WARNING,
	 "/s/topology.conf:1: slurm.conf has no node c5, and 1 others of this line"},
	/* What is not read. */
	{"22.05.8", TREE, "SwitchName=a Nodes=own[1-2][1-2]\n", SLURM_ADVICE,
	 "/s/topology.conf:1: Nodes=\"own[1-2][1-2]\" is not checked"},
};

/* How much is said, but for nodes that are left out. */
static size_t said(const struct world *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->findings.n; i++)
		n += strstr(w->findings.v[i].text, "are in no switch") == NULL;
	return n;
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct world w;
		size_t all;

		print_message("# row %zu: %s\n", i, r->topology);
		read_topology(&w, r->release, r->plugin, r->topology);
		all = said(&w);
		if (r->says != NULL)
			assert_true(world_says(&w, r->severity, r->says));
		else if (all > 0)
			assert_false(world_says(&w, SLURM_ERROR, "-"));
		assert_int_equal(all, r->says != NULL);
		world_fini(&w);
	}
}

/* What a cycle is told of is in it, not above it. */
static void test_a_cycle_is_named_where_it_is(void **state)
{
	struct world w;

	(void)state;
	read_topology(
		&w, "22.05.8", TREE,
		"SwitchName=x Switches=y\nSwitchName=y Switches=z\nSwitchName=z Switches=z\n");
	assert_true(world_says(&w, SLURM_ERROR, "/s/topology.conf:3: switch z is below itself"));
	world_fini(&w);
}

/* slurmctld looks at all switches 21 times, and gives up: written from the root down a tree may
 * have 21 levels above its leaves, from the leaves up any number. */
static void test_depth(void **state)
{
	(void)state;
	for (size_t levels = 20; levels <= 22; levels++)
		for (size_t up = 0; up <= 1; up++) {
			struct world w;
			struct str s;

			str_init(&s, 1 << 16);
			if (up == 1)
				str_addf(&s, "SwitchName=s%zu Nodes=own1\n", levels);
			for (size_t i = 0; i < levels; i++) {
				size_t at = up == 1 ? levels - 1 - i : i;

				str_addf(&s, "SwitchName=s%zu Switches=s%zu\n", at, at + 1);
			}
			if (up == 0)
				str_addf(&s, "SwitchName=s%zu Nodes=own1\n", levels);
			read_topology(&w, "22.05.8", TREE, s.p);
			assert_int_equal(w.findings.by_severity[SLURM_ERROR],
					 up == 0 && levels + 1 > SLURMCONF_TREE_PASSES);
			world_fini(&w);
			str_fini(&s);
		}
}

/* A list of slurm.conf that is not read may have any node. */
static void test_a_node_of_an_unread_list(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	w.slurm = "ClusterName=falcon\n" TREE "NodeName=r[1-2]n[1-4] CPUs=1\n";
	w.topology = "SwitchName=a Nodes=r1n1\n";
	add_pool(&w, "c", "c[1-4]", H100, "");
	world_run(&w);
	assert_int_equal(w.findings.by_severity[SLURM_WARNING], 0);
	world_fini(&w);
}

/* A node in no switch gets no job; without a tree of the site's, burstd's lines would do that to
 * all of its nodes. */
static void test_nodes_in_no_switch(void **state)
{
	struct world w;

	(void)state;
	read_topology(&w, "22.05.8", TREE, "\nSwitchName=a Nodes=own[1-5],own8\n");
	assert_true(world_says(&w, SLURM_WARNING,
			       "/s/topology.conf:1: node own6, and 1 others, are in no switch"));
	assert_int_equal(w.findings.n, 1);
	world_fini(&w);
	read_topology(&w, "22.05.8", TREE, "# nothing yet\n");
	assert_true(world_says(&w, SLURM_ERROR,
			       "/s/topology.conf:1: node own1, and 7 others, are in no switch"));
	world_fini(&w);
	read_topology(&w, "22.05.8", TREE, "SwitchName=a Nodes=own[1-8]\n");
	assert_int_equal(w.findings.n, 0);
	world_fini(&w);
	read_topology(&w, "24.11.5", BLOCK, "BlockName=a Nodes=own[1-4]\n");
	assert_int_equal(w.findings.n, 0);
	world_fini(&w);
}

static void test_pools_and_joins(void **state)
{
	struct world w;

	(void)state;
	read_topology(
		&w, "22.05.8", "TopologyPlugin=Topology/Tree\n",
		"SwitchName=a Nodes=own1\nSwitchName=b Nodes=c[1-3]\nSwitchName=r Switches=a,b\n");
	assert_int_equal(w.topo.form, SLURMCONF_TREE);
	assert_int_equal(w.topo.nunits, 3);
	assert_int_equal(w.topo.pools[0].nodes.n, 3);
	assert_int_equal(w.topo.pools[0].nodes.at.line, 2);
	assert_null(w.topo.joined);
	assert_null(w.topo.pools[0].placed);
	world_fini(&w);
	read_topology(&w, "22.05.8", TREE, "SwitchName=r Switches=burst\n");
	assert_ptr_equal(w.topo.joined, &w.topo.units[0]);
	assert_null(w.topo.pools[0].placed);
	world_fini(&w);
	read_topology(&w, "22.05.8", TREE, "SwitchName=r Switches=burst-c\n");
	assert_null(w.topo.joined);
	assert_ptr_equal(w.topo.pools[0].placed, &w.topo.units[0]);
	world_fini(&w);
}

/* burstd's own lines are not the site's. */
static void test_burstds_lines_are_left_out(void **state)
{
	struct world w;

	(void)state;
	read_topology(&w, "22.05.8", TREE,
		      "SwitchName=a Nodes=own[1-8]\n# BEGIN burstd\n"
		      "SwitchName=burst-c Switches=nowhere\n# END burstd\n");
	assert_int_equal(w.topo.nunits, 1);
	assert_int_equal(w.findings.by_severity[SLURM_ERROR], 0);
	world_fini(&w);
}

/* slurmctld ignores topology.conf where there is a topology.yaml. */
static void test_a_yaml_beside_it(void **state)
{
	static const struct {
		const char *release, *topology;
		enum slurm_severity severity;
		const char *says;
		enum slurmconf_form form;
	} cases[] = {
		{"25.05.0", "\nSwitchName=a Nodes=own1\n", SLURM_ERROR,
		 "/s/topology.conf:2: slurmctld ignores this file, because there is "
		 "/s/topology.yaml",
		 SLURMCONF_FLAT},
		{"25.05.0", "# nothing\n", SLURM_ADVICE, "/s/topology.yaml:1: burstd writes",
		 SLURMCONF_FLAT},
		{"24.11.5", "SwitchName=a Nodes=own1\n", SLURM_ERROR, NULL, SLURMCONF_TREE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;

		world_init(&w);
		w.slurm = "ClusterName=falcon\n" TREE OWN;
		w.release = cases[i].release;
		w.topology = cases[i].topology;
		w.yaml = "/s/topology.yaml";
		add_pool(&w, "c", "c[1-4]", H100, "");
		world_run(&w);
		if (cases[i].says != NULL)
			assert_true(world_says(&w, cases[i].severity, cases[i].says));
		else
			assert_int_equal(said(&w), 0);
		assert_int_equal(w.topo.form, cases[i].form);
		world_fini(&w);
	}
}

/* --- burstd's lines ------------------------------------------------------------------------------
 */

struct lines {
	const char *plugin, *topology, *fabric, *body;
	const char *says; /* the one error; NULL: none */
};

#define LEAVES "SwitchName=burst-c Nodes=c[1-4]\nSwitchName=burst-d Nodes=d[1-2]\n"
#define BLOCKS "BlockName=burst-c Nodes=c[1-4]\nBlockName=burst-d Nodes=d[1-2]\n"

#define UNITS                                                                                      \
	"SwitchName=burst-c-1 Nodes=c[1-2]\nSwitchName=burst-c-2 Nodes=c[3-4]\n"                   \
	"SwitchName=burst-c Switches=burst-c-[1-2]\n"                                              \
	"SwitchName=burst-d-1 Nodes=d[1-2]\nSwitchName=burst-d Switches=burst-d-1\n"
#define UNIT_BLOCKS                                                                                \
	"BlockName=burst-c-1 Nodes=c[1-2]\nBlockName=burst-c-2 Nodes=c[3-4]\n"                     \
	"BlockName=burst-d-1 Nodes=d[1-2]\n"

/* With pools c[1-4] and d[1-2], on 24.11. */
static const struct lines lines[] = {
	{"", "", "job", "", NULL},
	{TREE, "", "", LEAVES "SwitchName=burst Switches=burst-c,burst-d\n",
	 "/s/topology.conf:1: node own1, and 7 others, are in no switch"},
	{TREE, "SwitchName=r Switches=burst\n", "",
	 LEAVES "SwitchName=burst Switches=burst-c,burst-d\n", NULL},
	{TREE, "SwitchName=r Switches=burst-c\n", "", LEAVES "SwitchName=burst Switches=burst-d\n",
	 NULL},
	{TREE, "SwitchName=r Switches=burst-c,burst-d\n", "", LEAVES, NULL},
	{TREE, "SwitchName=x Nodes=c[1-4]\n", "",
	 "SwitchName=burst-d Nodes=d[1-2]\nSwitchName=burst Switches=burst-d\n", NULL},
	{TREE, "SwitchName=x Nodes=c[1-2]\nSwitchName=y Nodes=c[3-4]\nSwitchName=z Nodes=d[1-2]\n",
	 "", "", NULL},
	{TREE, "SwitchName=x Nodes=c[1-3]\n", "",
	 "SwitchName=burst-d Nodes=d[1-2]\n"
	 "SwitchName=burst Switches=burst-d\n",
	 "/s/topology.conf:1: topology.conf has 3 of the 4 nodes of pool \"c\": all, or none"},
	{TREE, "SwitchName=burst Nodes=own1\n", "", LEAVES,
	 "/s/topology.conf:1: burst is the name of a line of burstd's"},
	{TREE, "SwitchName=burst-c Nodes=own1\n", "",
	 "SwitchName=burst-d Nodes=d[1-2]\nSwitchName=burst Switches=burst-d\n",
	 "/s/topology.conf:1: burst-c is the name of a line of burstd's"},
	{TREE, "SwitchName=x Nodes=c[1-4],d[1-2]\nSwitchName=r Switches=x,burst\n", "", "",
	 "/s/topology.conf:2: there is no switch burst, since"},
	{TREE, "SwitchName=x Nodes=c[1-4]\nSwitchName=r Switches=x,burst-c\n", "",
	 "SwitchName=burst-d Nodes=d[1-2]\nSwitchName=burst Switches=burst-d\n",
	 "/s/topology.conf:2: there is no switch burst-c, since nodes of its pool are in line 1"},
	{BLOCK, "BlockSizes=2\n", "job", BLOCKS, NULL},
	{BLOCK, "BlockName=a Nodes=own[1-2]\n", "rack-7", BLOCKS, NULL},
	{BLOCK, "BlockSizes=2\n", "", "", NULL},
	{BLOCK, "BlockSizes=4\n", "job", "BlockName=burst-c Nodes=c[1-4]\n",
	 "burstd.conf:20: pool \"d\" has 2 nodes, and each block must have 4: write BlockSizes=2"},
	{BLOCK, "", "job", "BlockName=burst-c Nodes=c[1-4]\n",
	 "burstd.conf:20: pool \"d\" has 2 nodes, and each block must have 4: write BlockSizes=2"},
	{BLOCK, "BlockName=a Nodes=c[1-4]\nBlockSizes=2\n", "job",
	 "BlockName=burst-d Nodes=d[1-2]\n", NULL},
	/* Units. */
	{TREE, "SwitchName=r Switches=burst\n", "unit",
	 UNITS "SwitchName=burst Switches=burst-c,burst-d\n", NULL},
	{TREE, "SwitchName=r Switches=burst-c,burst-d\n", "unit", UNITS, NULL},
	{TREE, "SwitchName=burst-c-2 Nodes=own1\n", "unit",
	 "SwitchName=burst-c-1 Nodes=c[1-2]\nSwitchName=burst-c Switches=burst-c-[1-2]\n"
	 "SwitchName=burst-d-1 Nodes=d[1-2]\nSwitchName=burst-d Switches=burst-d-1\n"
	 "SwitchName=burst Switches=burst-c,burst-d\n",
	 "/s/topology.conf:1: burst-c-2 is the name of a line of burstd's"},
	{BLOCK, "", "unit", UNIT_BLOCKS, NULL},
	{BLOCK, "BlockSizes=2,4\n", "unit", UNIT_BLOCKS, NULL},
	{BLOCK, "BlockName=a Nodes=own[1-2]\n", "unit", UNIT_BLOCKS, NULL},
	{BLOCK, "BlockName=a Nodes=c[1-4]\nBlockSizes=2\n", "unit",
	 "BlockName=burst-d-1 Nodes=d[1-2]\n", NULL},
};

static void test_the_lines_of_pools(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const struct lines *l = &lines[i];
		char slurm[512];
		struct world w;

		print_message("# lines %zu: %s\n", i, l->topology);
		world_init(&w);
		(void)snprintf(slurm, sizeof(slurm), "ClusterName=falcon\n%s" OWN, l->plugin);
		w.slurm = slurm;
		w.topology = l->topology;
		add_pool(&w, "c", "c[1-4]", H100, "")->fabric = mem_strdup(l->fabric);
		add_pool(&w, "d", "d[1-2]", H100, "")->fabric = mem_strdup(l->fabric);
		w.conf->pools[0].unit = w.conf->pools[1].unit =
			strcmp(l->fabric, CONF_FABRIC_UNIT) == 0 ? 2 : 0;
		world_run(&w);
		assert_string_equal(w.topo_body, l->body);
		assert_int_equal(w.findings.by_severity[SLURM_ERROR], l->says != NULL);
		if (l->says != NULL)
			assert_true(world_says(&w, SLURM_ERROR, l->says));
		world_fini(&w);
	}
}

/* From 25.05 on a block may be smaller. */
static void test_a_small_block(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	w.slurm = "ClusterName=falcon\n" BLOCK;
	w.topology = "BlockSizes=4\n";
	w.release = "25.05.0";
	add_pool(&w, "d", "d[1-2]", H100, "")->fabric = mem_strdup("job");
	world_run(&w);
	assert_string_equal(w.topo_body, "BlockName=burst-d Nodes=d[1-2]\n");
	assert_int_equal(w.findings.by_severity[SLURM_ERROR], 0);
	world_fini(&w);
}

static struct conf_pool *add_units(struct world *w, const char *name, const char *nodes,
				   uint32_t unit)
{
	struct conf_pool *p = add_pool(w, name, nodes, H100, "");

	p->fabric = mem_strdup("unit");
	p->unit = unit;
	return p;
}

/* The first says how many nodes a block has, and that is of a unit. */
static void test_units_of_several_sizes(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	w.slurm = "ClusterName=falcon\n" BLOCK;
	(void)add_units(&w, "c", "c[1-8]", 4);
	(void)add_units(&w, "d", "d[1-4]", 2);
	(void)add_units(&w, "e", "e[1-8]", 8);
	world_run(&w);
	assert_string_equal(w.topo_body, "BlockName=burst-c-1 Nodes=c[1-4]\n"
					 "BlockName=burst-c-2 Nodes=c[5-8]\n"
					 "BlockName=burst-e-1 Nodes=e[1-8]\n");
	assert_int_equal(w.findings.by_severity[SLURM_ERROR], 1);
	assert_true(
		world_says(&w, SLURM_ERROR,
			   "burstd.conf:20: pool \"d\" has 2 nodes in each unit, and each block "
			   "must have 4: write BlockSizes=2"));
	world_fini(&w);
}

/* slurmctld takes the second of two lines of one name for a mistake, and ends. */
static void test_a_unit_named_as_another_pool(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	w.slurm = "ClusterName=falcon\n" TREE;
	(void)add_units(&w, "c", "c[1-4]", 2);
	add_pool(&w, "c-2", "x[1-2]", H100, "")->fabric = mem_strdup("job");
	world_run(&w);
	assert_int_equal(w.findings.by_severity[SLURM_ERROR], 1);
	assert_true(world_says(&w, SLURM_ERROR,
			       "burstd.conf:10: burst-c-2 would be the line of a unit of pool "
			       "\"c\" and of pool \"c-2\""));
	world_fini(&w);
}

/* A block promises that its nodes are in one domain, wherever they were bought. */
static void test_a_unit_with_an_offer_elsewhere_is_no_block(void **state)
{
	static const char *const plugins[] = {BLOCK, TREE};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct conf_pool *p;
		char slurm[200];
		struct world w;

		world_init(&w);
		(void)snprintf(slurm, sizeof(slurm), "ClusterName=falcon\n%s", plugins[i]);
		w.slurm = slurm;
		p = add_units(&w, "d", "d[1-4]", 2);
		free(p->provider);
		free(p->type);
		free(p->region);
		p->provider = mem_strdup("");
		p->type = mem_strdup("");
		p->region = mem_strdup("");
		p->offers = mem_zalloc(2 * sizeof(*p->offers));
		p->noffers = 2;
		for (size_t k = 0; k < 2; k++)
			p->offers[k] =
				(struct conf_offer){.name = mem_strdup(k == 0 ? "near" : "any"),
						    .provider = mem_strdup("sim"),
						    .type = mem_strdup("t"),
						    .region = mem_strdup("r"),
						    .zone = mem_strdup("1"),
						    .line = 14 + (int)k,
						    .fabric = mem_strdup(k == 0 ? "" : "none")};
		world_run(&w);
		assert_string_equal(w.topo_body,
				    i == 0 ? ""
					   : "SwitchName=burst-d-1 Nodes=d[1-2]\n"
					     "SwitchName=burst-d-2 Nodes=d[3-4]\n"
					     "SwitchName=burst-d Switches=burst-d-[1-2]\n"
					     "SwitchName=burst Switches=burst-d\n");
		assert_int_equal(w.findings.by_severity[SLURM_ERROR], i == 0);
		if (i == 0)
			assert_true(world_says(&w, SLURM_ERROR,
					       "burstd.conf:15: pool \"d\": offer \"any\" buys "
					       "outside of the fabric of a unit"));
		world_fini(&w);
	}
}

/* Names are in one block, and stay there: so all that a pool may buy is of one fabric. */
static void test_a_pool_of_several_fabrics_is_no_block(void **state)
{
	static const char *const fabrics[][2] = {
		{"job", "job"}, {"a", "a"}, {"a", "b"}, {"a", "none"}, {"none", "job"}};

	(void)state;
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(fabrics[0]); i++) {
		struct conf_pool *p;
		struct world w;

		world_init(&w);
		w.slurm = "ClusterName=falcon\n" BLOCK;
		p = add_pool(&w, "d", "d[1-2]", H100, "");
		free(p->provider);
		free(p->type);
		free(p->region);
		p->provider = mem_strdup("");
		p->type = mem_strdup("");
		p->region = mem_strdup("");
		p->offers = mem_zalloc(2 * sizeof(*p->offers));
		p->noffers = 2;
		for (size_t k = 0; k < 2; k++)
			p->offers[k] = (struct conf_offer){.name = mem_strdup(k == 0 ? "x" : "y"),
							   .provider = mem_strdup("sim"),
							   .type = mem_strdup("t"),
							   .region = mem_strdup("r"),
							   .zone = mem_strdup(k == 0 ? "1" : "2"),
							   .fabric = mem_strdup(fabrics[i][k])};
		world_run(&w);
		assert_string_equal(w.topo_body, i < 2 ? "BlockName=burst-d Nodes=d[1-2]\n" : "");
		if (i >= 2)
			assert_true(world_says(&w, SLURM_ADVICE,
					       "burstd.conf:10: pool \"d\" is no block"));
		world_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_a_cycle_is_named_where_it_is),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_a_node_of_an_unread_list),
		cmocka_unit_test(test_nodes_in_no_switch),
		cmocka_unit_test(test_pools_and_joins),
		cmocka_unit_test(test_burstds_lines_are_left_out),
		cmocka_unit_test(test_a_yaml_beside_it),
		cmocka_unit_test(test_the_lines_of_pools),
		cmocka_unit_test(test_a_small_block),
		cmocka_unit_test(test_units_of_several_sizes),
		cmocka_unit_test(test_a_unit_named_as_another_pool),
		cmocka_unit_test(test_a_unit_with_an_offer_elsewhere_is_no_block),
		cmocka_unit_test(test_a_pool_of_several_fabrics_is_no_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
