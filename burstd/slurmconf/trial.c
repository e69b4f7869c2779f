#include "slurmconf/trial.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "slurm/show.h"

/* Where the site's state, database, peers and programs are. */
static const char *const blanked[] = {
	"SlurmctldHost",
	"ControlMachine",
	"ControlAddr",
	"BackupController",
	"BackupAddr",
	"SlurmctldAddr",
	"SlurmctldPort",
	"StateSaveLocation",
	"SlurmctldPidFile",
	"SlurmctldLogFile",
	"SlurmctldDebug",
	"SlurmctldSyslogDebug",
	"SlurmSchedLogFile",
	"SlurmSchedLogLevel",
	"SlurmUser",
	"CredType",
	"AccountingStorageType",
	"AccountingStorageHost",
	"AccountingStorageBackupHost",
	"AccountingStoragePort",
	"AccountingStoragePass",
	"AccountingStorageUser",
	"AccountingStorageLoc",
	"AccountingStorageEnforce",
	"AccountingStorageTRES",
	"AccountingStoreFlags",
	"PriorityType",
	"PriorityWeightTRES",
	"JobCompType",
	"JobCompHost",
	"JobCompLoc",
	"JobCompPass",
	"JobCompPort",
	"JobCompUser",
	"JobCompParams",
	"ResumeProgram",
	"SuspendProgram",
	"ResumeFailProgram",
	"RebootProgram",
	"PrologSlurmctld",
	"EpilogSlurmctld",
	"SlurmctldPrimaryOnProg",
	"SlurmctldPrimaryOffProg",
	"MailProg",
	"HealthCheckProgram",
	"BurstBufferType",
	"JobSubmitPlugins",
	"TLSType",
	"TLSParameters",
	"FederationParameters",
};
static const char *const blanked_auth[] = {"AuthType", "AuthInfo", "AuthAltTypes",
					   "AuthAltParameters"};

static bool is_among(struct slurm_text key, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slurm_show_is(key, names[i]))
			return true;
	return false;
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Of a node's line only its State goes, unless that is CLOUD: the node is FUTURE then, so that
 * slurmctld looks up no address, which without a network takes it ten seconds for each. */
static bool is_blanked(const struct slurmconf_trial *t, const struct slurmconf_line *l, size_t i)
{
	struct slurm_text key = l->pairs[i].key, first = l->pairs[0].key;

	if (slurm_show_is(first, "NodeName"))
		return slurm_show_is(key, "State") && !slurm_show_is(l->pairs[i].value, "CLOUD");
	/* Without slurmdbd slurmctld counts no GRES, and ends with a weight for one. */
	if (slurm_show_is(first, "PartitionName"))
		return slurm_show_is(key, "TRESBillingWeights");
	if (slurm_show_is(first, "NodeSet"))
		return false;
	return is_among(key, blanked, COUNT(blanked)) ||
	       (!t->auth && is_among(key, blanked_auth, COUNT(blanked_auth)));
}

#undef COUNT

void slurmconf_trial_name(struct str *out, const char *dir, const char *tree, size_t i)
{
	str_addf(out, "%s/etc/%s-%zu", dir, tree, i);
}

static void add_include(const struct slurmconf_trial *t, const struct slurmconf_line *l,
			struct str *out)
{
	char *path =
		slurmconf_include_path(t->sources->v[0].file.path, t->sources->cluster, l->include);

	for (size_t i = 0; i < t->sources->n; i++)
		if (strcmp(t->sources->v[i].file.path, path) == 0) {
			str_adds(out, "Include ");
			slurmconf_trial_name(out, t->dir, t->tree, i);
		}
	free(path);
	for (size_t i = l->at; i < l->end; i++)
		if (l->file->text[i] == '\n') /* a line may go on */
			str_adds(out, "\n");
}

int slurmconf_trial_text(const struct slurmconf_trial *t, const struct slurmconf_file *f,
			 struct str *out, struct err *e)
{
	struct slurmconf_line l = {.number = 0};
	char *text = mem_strdup(f->text);
	size_t done = 0;
	int rc;

	while ((rc = slurmconf_line_next(&l, f, e)) == 1) {
		if (l.include.n > 0) {
			str_add(out, text + done, l.at - done);
			add_include(t, &l, out);
			done = l.end;
		}
		for (size_t i = 0; i < l.n && strcmp(t->tree, "slurm") == 0; i++)
			for (size_t k = l.pairs[i].at; is_blanked(t, &l, i) && k < l.pairs[i].end;
			     k++)
				if (f->flat[k] == f->text[k]) /* no line break */
					text[k] = ' ';
	}
	str_add(out, text + done, f->len - done);
	free(text);
	return rc;
}

void slurmconf_trial_root(const struct slurmconf_trial *t, const char *host, struct str *out)
{
	static const char *const programs[] = {"ResumeProgram", "SuspendProgram",
					       "ResumeFailProgram"};

	str_addf(out,
		 "SlurmctldHost=%s(127.0.0.1)\nStateSaveLocation=%s/state\n"
		 "SlurmctldPidFile=%s/slurmctld.pid\nSlurmctldDebug=info\n"
		 "SlurmctldSyslogDebug=quiet\nSlurmUser=root\n",
		 host, t->dir, t->dir);
	if (!t->auth)
		str_adds(out, "AuthType=auth/none\n");
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		str_addf(out, "%s=/bin/true\n", programs[i]);
	str_adds(out, "NodeName=DEFAULT State=FUTURE\nInclude ");
	slurmconf_trial_name(out, t->dir, "slurm", 0);
	str_adds(out, "\n");
}

/* --- what it said --------------------------------------------------------------------------------
 */

/* Errors of every trial: there is neither state nor mail nor a name server. */
static bool is_noise(const char *line)
{
	static const char *const words[] = {"MailProg",
					    "state file",
					    "NOTE: Trying",
					    "get_addr_info",
					    "mpi/pmix",
					    "MPI:",
					    "Couldn't load specified plugin name for mpi",
					    "http_parser",
					    "url_parser",
					    "High latency",
					    "default partition not set"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(line, words[i]) != NULL)
			return true;
	return strstr(line, "error:") == NULL && strstr(line, "fatal:") == NULL;
}

/* Is it about the file around the site's, which the site does not have? */
static bool names_root(const char *line, const char *dir)
{
	static const char root[] = "/etc/slurm.conf";
	const char *p = strstr(line, dir);

	return p != NULL && strncmp(p + strlen(dir), root, sizeof(root) - 1) == 0;
}

/* The source whose file of the trial p names; *len: of that name. */
static const char *name_at(const struct slurmconf_sources *s, const char *dir, const char *tree,
			   const char *p, size_t *len)
{
	const char *found = NULL;

	for (size_t i = s->n; i > 0 && found == NULL; i--) { /* slurm-10 before slurm-1 */
		struct str name;

		str_init(&name, 4096);
		slurmconf_trial_name(&name, dir, tree, i - 1);
		if (strncmp(p, name.p, name.len) == 0) {
			found = s->v[i - 1].file.path;
			*len = name.len;
		}
		str_fini(&name);
	}
	return found;
}

static void add_line(const struct slurmconf_trees *trees, const char *dir, const char *line,
		     struct str *out)
{
	const struct {
		const struct slurmconf_sources *files;
		const char *name;
	} all[] = {{trees->slurm, "slurm"},
		   {trees->gres, "gres"},
		   {trees->topology, "topology"},
		   {trees->cgroup, "cgroup"}};
	size_t n = strlen(dir), len = 0;

	while (*line != '\0') {
		const char *path = NULL;

		for (size_t i = 0;
		     strncmp(line, dir, n) == 0 && path == NULL && i < sizeof(all) / sizeof(all[0]);
		     i++)
			if (all[i].files != NULL)
				path = name_at(all[i].files, dir, all[i].name, line, &len);
		str_add(out, path != NULL ? path : line, path != NULL ? strlen(path) : 1);
		line += path != NULL ? len : 1;
	}
	str_adds(out, "\n");
}

void slurmconf_trial_why(const struct slurmconf_trees *trees, const char *dir, const char *said,
			 size_t most, struct str *out)
{
	char *text = mem_strdup(said), *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line != NULL && most > 0;
	     line = strtok_r(NULL, "\n", &save)) {
		static const char who[] = "slurmctld: ";

		if (is_noise(line) || names_root(line, dir))
			continue;
		if (strncmp(line, who, sizeof(who) - 1) == 0)
			line += sizeof(who) - 1;
		else if (line[0] == '[' && strstr(line, "] ") != NULL) /* a time, from 24.05 on */
			line = strstr(line, "] ") + 2;
		add_line(trees, dir, line, out);
		most--;
	}
	free(text);
}
