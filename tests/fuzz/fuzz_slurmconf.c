/* fuzz_slurmconf.c - a foreign slurm.conf, gres.conf, topology.conf and cgroup.conf, between them a
 * NUL: what is
 * read leaves every line of the site's as it is, and what is written again is the same. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/conf.h"
#include "slurmconf/cgroup.h"
#include "slurmconf/live.h"
#include "slurmconf/money.h"
#include "slurmconf/topo.h"
#include "slurmconf/topo_kept.h"
#include "slurmconf/trial.h"
#include "slurmconf/want.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 4 };

static const char *const paths[FILES] = {"/s/slurm.conf", "/s/gres.conf", "/s/topology.conf",
					 "/s/cgroup.conf"};

struct input {
	const char *text[FILES];
	size_t len[FILES];
};

static int read_input(void *ctx, const char *path, char **text, size_t *len, struct err *e)
{
	const struct input *in = ctx;
	size_t i = 0;

	while (i < FILES && strcmp(path, paths[i]) != 0)
		i++;
	if (i == FILES)
		return err_set(e, ERR_IO, "%.100s: none", path);
	*len = in->len[i];
	*text = mem_zalloc(*len + 1);
	memcpy(*text, in->text[i], *len);
	return 0;
}

static struct conf *pools(void)
{
	struct conf *c = conf_new("burstd.conf");

	c->cluster = mem_strdup("falcon");
	c->providers = mem_zalloc(sizeof(*c->providers));
	c->nproviders = 1;
	c->providers[0].name = mem_strdup("sim");
	c->providers[0].driver = mem_strdup("sim");
	c->pools = mem_zalloc(sizeof(*c->pools));
	c->npools = 1;
	c->billing_unit_nano_h = 10000000;
	c->pools[0] = (struct conf_pool){.name = mem_strdup("c"),
					 .nodes_text = mem_strdup("c[1-4]"),
					 .provider = mem_strdup("sim"),
					 .type = mem_strdup("t"),
					 .region = mem_strdup("r"),
					 .zone = mem_strdup(""),
					 .max_nodes = 4,
					 .price_nano_h = INT64_C(98320000000),
					 .node = mem_strdup("CPUs=4 RealMemory=9"),
					 .gres = mem_strdup("gpu:h100:2")};
	assert(conf_finish(c, NULL) == 0);
	return c;
}

/* Without its block the file is as it was, but for a line break at its end. */
static void check_block(const struct slurmconf_source *x, const char *body)
{
	struct slurmconf_file f;
	struct slurmconf_block b;
	struct str one, two;

	str_init(&one, 1 << 20);
	str_init(&two, 1 << 20);
	slurmconf_block_put(&one, &x->file, &x->block, body);
	assert(!one.full);
	assert(slurmconf_file_init(&f, "/s/x", mem_strdup(one.p), one.len, NULL) == 0);
	assert(slurmconf_block_find(&b, &f, NULL) == 0 && b.state == SLURMCONF_BLOCK_OURS);
	assert(memcmp(f.text, x->file.text, x->block.at) == 0);
	assert(f.len - b.end == x->file.len - x->block.end);
	assert(memcmp(f.text + b.end, x->file.text + x->block.end, f.len - b.end) == 0);
	slurmconf_block_put(&two, &f, &b, body);
	assert(two.len == one.len && memcmp(one.p, two.p, one.len) == 0);
	slurmconf_file_fini(&f);
	str_fini(&one);
	str_fini(&two);
}

static size_t count_lines(const char *p, size_t n)
{
	size_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	return lines;
}

/* As it is tried every line has its number. */
static void check_trial(const struct slurmconf_sources *s)
{
	const struct slurmconf_trial t = {.sources = s, .tree = "slurm", .dir = "/t"};
	struct str out;

	str_init(&out, 1 << 20);
	assert(slurmconf_trial_text(&t, &s->v[0].file, &out, NULL) == 0);
	assert(count_lines(out.p, out.len) == count_lines(s->v[0].file.text, s->v[0].file.len));
	str_fini(&out);
}

/* Whatever TopologyPlugin is, and whichever release reads it. */
static void check_topology(const struct slurmconf_site *site, const struct slurmconf_sources *files,
			   const char *release, struct slurm_text said)
{
	struct slurm_version version;
	const struct slurmconf_topo_in in = {site, files, &version, NULL};
	struct slurmconf_topo topo;
	struct err e = {0};
	struct str s;

	assert(slurm_version_parse(&version, release, strlen(release), NULL) == 0);
	if (slurmconf_topo_init(&topo, &in, &e) != 0) {
		assert(e.msg[0] == '/');
		return;
	}
	for (size_t i = 0; i < topo.nunits; i++) {
		const struct slurmconf_unit *u = &topo.units[i];

		assert(u->nodes != NULL ? u->count <= u->nodes->n : u->count == 0);
		assert(site->findings->by_severity[SLURM_ERROR] > 0 || u->resolved ||
		       topo.form == SLURMCONF_BLOCK);
	}
	str_init(&s, SLURMCONF_BODY_MAX);
	slurmconf_want_topo(&topo, &s);
	assert(!s.full && (s.len == 0 || s.p[s.len - 1] == '\n'));
	check_block(&files->v[files->ours], s.p);
	if (slurmconf_topo_keeps(&topo)) /* of what scontrol said */
		slurmconf_topo_kept(&topo, s.p, said, (struct slurmconf_place){"/s/t", 0});
	str_fini(&s);
	slurmconf_topo_fini(&topo);
}

/* The last file as what a slurmctld said, too, as in check_topology(). */
static void check_live(const struct slurmconf_want *w, const struct slurmconf_trees *t)
{
	static const char head[] = "Configuration data as of x\nSLURM_VERSION = 22.05.8\n";
	const struct slurmconf_file *f = &t->cgroup->v[0].file;
	struct slurmconf_findings live = {.n = 0};
	struct err e = {0};
	struct str s;

	str_init(&s, sizeof(head) + f->len);
	str_adds(&s, head);
	str_add(&s, f->text, f->len);
	if (slurmconf_live(w, t->slurm,
			   &(struct slurmconf_live_said){
				   {s.p, s.len}, {f->text, f->len}, {f->text, f->len}},
			   &live, &e) != 0)
		assert(e.msg[0] == '/');
	str_fini(&s);
	slurmconf_findings_fini(&live);
}

static void check_want(const struct conf *c, const struct slurmconf_trees *t)
{
	struct slurmconf_findings findings = {.n = 0};
	struct slurm_version version;
	struct slurmconf_site site;
	struct slurm_text said;
	struct slurmconf_want w = {.conf = c,
				   .site = &site,
				   .version = &version,
				   .programs = "/p",
				   .findings = &findings};
	struct err e = {0};
	struct str s;

	assert(slurm_version_parse(&version, "22.05.8", 7, NULL) == 0);
	if (slurmconf_site_init(&site, c, t, &findings, &e) != 0) {
		assert(e.msg[0] == '/');
		slurmconf_findings_fini(&findings);
		return;
	}
	str_init(&s, SLURMCONF_BODY_MAX);
	slurmconf_want_slurm(&w, &s);
	assert(!s.full && (s.len == 0 || s.p[s.len - 1] == '\n'));
	check_block(&t->slurm->v[t->slurm->ours], s.p);
	str_clear(&s);
	slurmconf_want_gres(&w, &s);
	check_block(&t->gres->v[t->gres->ours], s.p);
	str_clear(&s);
	if (slurmconf_want_cgroup(&w, t->cgroup, &s, &e) == 0)
		check_block(&t->cgroup->v[t->cgroup->ours], s.p);
	else
		assert(e.msg[0] == '/');
	check_live(&w, t);
	slurmconf_dangers(&w);
	slurmconf_money(&w);
	said = (struct slurm_text){t->cgroup->v[0].file.text, t->cgroup->v[0].file.len};
	check_topology(&site, t->topology, "22.05.8", said);
	check_topology(&site, t->topology, "25.11.0", said);
	str_fini(&s);
	slurmconf_site_fini(&site);
	slurmconf_findings_fini(&findings);
}

static struct input split(const char *text, size_t size)
{
	struct input in = {.text = {"", "", "", ""}};

	for (size_t i = 0; i < FILES; i++) {
		const char *cut = i + 1 < FILES && size > 0 ? memchr(text, '\0', size) : NULL;

		in.text[i] = text;
		in.len[i] = cut != NULL ? (size_t)(cut - text) : size;
		text += in.len[i] + (cut != NULL);
		size -= in.len[i] + (cut != NULL);
	}
	return in;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = split((const char *)data, size);
	struct slurmconf_sources s[FILES];
	struct conf *c = pools();
	struct err e = {0};
	size_t n = 0;

	while (n < FILES && slurmconf_sources_load(&s[n], paths[n], read_input, &in, &e) == 0)
		n++;
	if (n > 0)
		check_trial(&s[0]);
	if (n == FILES)
		check_want(c, &(struct slurmconf_trees){&s[0], &s[1], &s[2], &s[3]});
	while (n > 0)
		slurmconf_sources_fini(&s[--n]);
	assert(e.code == 0 || e.msg[0] == '/');
	conf_free(c);
	return 0;
}
