#include "cli/slurm_proof.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/own_file.h"
#include "cli/slurm_files.h"
#include "slurmconf/trial.h"

enum {
	DEADLINE_MS = 60000, /* 22.05 takes 0.1 s, and seconds with 10,000 nodes */
	SAID_MAX = 1 << 20,  /* more of its log is dropped */
	OTHERS_MAX = 1024,   /* files beside slurm.conf */
	HOST_SIZE = 256,
	NO_NAMESPACE = 113, /* exit status of ours, which slurmctld does not have */
};

static const char in_charge[] = "Running as primary controller";

struct trial {
	const struct slurm_proof *p;
	char dir[64];
	bool auth; /* the site's, where this slurmctld has no auth/none */
};

/* --- its files -----------------------------------------------------------------------------------
 */

static int put_in(const struct trial *t, const char *name, const struct str *s, struct err *e)
{
	char path[PATH_MAX];

	if (s->full)
		return err_set(e, ERR_LIMIT, "%s is too large to be tried", name);
	(void)snprintf(path, sizeof(path), "%s/etc/%s", t->dir, name);
	return slurm_files_put(path, s->p, s->len, e);
}

static int put_source(const struct slurmconf_trial *how, size_t i, const char *text, struct err *e)
{
	struct slurmconf_file f;
	struct str s, path;
	int rc = slurmconf_file_init(&f, how->sources->v[i].file.path, mem_strdup(text),
				     strlen(text), e);

	if (rc != 0)
		return -1;
	str_init(&s, 2 * SLURMCONF_FILE_MAX);
	str_init(&path, PATH_MAX);
	slurmconf_trial_name(&path, how->dir, how->tree, i);
	rc = slurmconf_trial_text(how, &f, &s, e);
	if (rc == 0)
		rc = slurm_files_put(path.p, s.p, s.len, e);
	str_fini(&s);
	str_fini(&path);
	slurmconf_file_fini(&f);
	return rc;
}

static int put_tree(const struct trial *t, const struct slurmconf_sources *sources,
		    const char *tree, const char *text, struct err *e)
{
	const struct slurmconf_trial how = {sources, tree, t->dir, t->auth};
	char host[HOST_SIZE] = "localhost", name[32];
	struct str s;
	int rc = 0;

	for (size_t i = 0; i < sources->n && rc == 0; i++)
		rc = put_source(&how, i, i == sources->ours ? text : sources->v[i].file.text, e);
	(void)gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	str_init(&s, PATH_MAX + 2048);
	if (strcmp(tree, "slurm") == 0)
		slurmconf_trial_root(&how, host, &s);
	else
		str_addf(&s, "Include %s/etc/%s-0\n", t->dir, tree);
	(void)snprintf(name, sizeof(name), "%s.conf", tree);
	if (rc == 0)
		rc = put_in(t, name, &s, e);
	str_fini(&s);
	return rc;
}

static bool is_put(const char *name)
{
	static const char *const names[] = {"slurm.conf", "gres.conf", "topology.conf"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* What else Slurm reads beside slurm.conf: cgroup.conf, topology.yaml ... */
static int link_others(const struct trial *t, struct err *e)
{
	const char *name;
	char *dir = own_file_split(t->p->files.slurm->v[0].file.path, &name),
	     *real = realpath(dir, NULL);
	DIR *d = real != NULL ? opendir(real) : NULL;
	const struct dirent *x;
	int n = 0;

	while (d != NULL && n < OTHERS_MAX && (x = readdir(d)) != NULL) {
		char from[PATH_MAX], to[PATH_MAX];

		if (x->d_name[0] == '.' || strcmp(x->d_name, name) == 0 || is_put(x->d_name))
			continue;
		(void)snprintf(from, sizeof(from), "%.2000s/%s", real, x->d_name);
		(void)snprintf(to, sizeof(to), "%s/etc/%s", t->dir, x->d_name);
		n += symlink(from, to) == 0;
	}
	if (d == NULL)
		(void)err_set(e, ERR_IO, "%.200s: %s", dir, strerror(errno));
	else
		(void)closedir(d);
	free(real);
	free(dir);
	return d != NULL ? 0 : -1;
}

static int make_files(struct trial *t, struct err *e)
{
	static const char *const dirs[] = {"etc", "state"};
	char path[128];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", t->dir, dirs[i]);
		if (mkdir(path, 0700) != 0)
			return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	}
	if (link_others(t, e) != 0)
		return -1;
	if (put_tree(t, t->p->files.slurm, "slurm", t->p->slurm_text, e) != 0 ||
	    put_tree(t, t->p->files.gres, "gres", t->p->gres_text, e) != 0)
		return -1;
	if (t->p->topology_text[0] == '\0')
		return 0; /* there is none, and none is needed */
	return put_tree(t, t->p->files.topology, "topology", t->p->topology_text, e);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

/* --- the process ---------------------------------------------------------------------------------
 */

static _Noreturn void become_slurmctld(const struct trial *t, int out)
{
	char conf[128], setting[160],
		*argv[] = {(char *)(uintptr_t) "slurmctld", (char *)(uintptr_t) "-D",
			   (char *)(uintptr_t) "-f", conf, NULL},
		*env[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin", setting, NULL};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setsid();
	(void)dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
	(void)dup2(out, STDOUT_FILENO);
	(void)dup2(out, STDERR_FILENO);
	(void)snprintf(conf, sizeof(conf), "%s/etc/slurm.conf", t->dir);
	(void)snprintf(setting, sizeof(setting), "SLURM_CONF=%s", conf);
	(void)execve(t->p->slurmctld, argv, env);
	(void)dprintf(out, "fatal: %s: %s\n", t->p->slurmctld, strerror(errno));
	_exit(1);
}

/* From 25.05 on slurmctld opens its ports only on a machine that has an address other than
 * 127.0.0.1 (AI_ADDRCONFIG).  This one is for documentation (RFC 5737), and so nobody's; its host
 * is not reached by it, since nothing else is in the namespace. */
static void give_address(void)
{
	const struct sockaddr_in own = {.sin_family = AF_INET,
					.sin_addr.s_addr = htonl(0xc0000201)}; /* 192.0.2.1 */
	struct ifreq lo = {.ifr_name = "lo"}, alias = {.ifr_name = "lo:1"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	lo.ifr_flags = IFF_UP | IFF_RUNNING;
	memcpy(&alias.ifr_addr, &own, sizeof(own));
	if (fd < 0)
		return; /* slurmctld will say what it lacks */
	if (ioctl(fd, SIOCSIFFLAGS, &lo) == 0)
		(void)ioctl(fd, SIOCSIFADDR, &alias);
	(void)close(fd);
}

/* The first process of a namespace ends all others with it, and this one, its parent, ends it. */
static _Noreturn void watch(const struct trial *t, int out)
{
	int status;
	pid_t pid;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC) != 0)
		_exit(NO_NAMESPACE);
	give_address();
	pid = fork();
	if (pid == 0)
		become_slurmctld(t, out);
	(void)close(out);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* Read what it says, until it is in charge, has ended, or the time is over. */
static bool listen_to(int fd, int64_t until, struct str *said)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char chunk[4096];
	bool up = false;

	while (!up && clock_boot_ms() < until) {
		ssize_t n = poll(&p, 1, 100) > 0 ? read(fd, chunk, sizeof(chunk)) : -1;

		if (n == 0)
			break;
		if (n > 0)
			str_add(said, chunk, (size_t)n);
		up = strstr(said->p, in_charge) != NULL;
	}
	return up;
}

/* Its end is the end of all who have the pipe. */
static int stop(pid_t pid, int fd)
{
	char chunk[4096];
	int status = 0;
	ssize_t n;

	(void)kill(pid, SIGKILL);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR))
		;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* 1: it was in charge; 0: it was not, and *said has its words; -1: *e. */
static int run_slurmctld(const struct trial *t, struct str *said, struct err *e)
{
	int64_t until = clock_boot_ms() + DEADLINE_MS;
	int ends[2], status;
	pid_t pid;
	bool up;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_set(e, ERR_IO, "pipe: %s", strerror(errno));
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		watch(t, ends[1]);
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return err_set(e, ERR_IO, "fork: %s", strerror(errno));
	}
	up = listen_to(ends[0], until, said);
	status = stop(pid, ends[0]);
	(void)close(ends[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_NAMESPACE)
		return err_set(e, ERR_AUTH,
			       "no namespace for a slurmctld to try it: run it as root");
	if (!up && clock_boot_ms() >= until)
		return err_set(e, ERR_NET, "%s was not in charge after %d s", t->p->slurmctld,
			       DEADLINE_MS / 1000);
	return up;
}

static int try_once(const struct slurm_proof *p, bool auth, struct str *said, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	struct trial t = {.p = p, .auth = auth};
	struct str raw;
	int rc = -1;

	(void)snprintf(t.dir, sizeof(t.dir), "%.30s/burstctl-XXXXXX",
		       tmp != NULL && tmp[0] == '/' && strlen(tmp) <= 30 ? tmp : "/tmp");
	if (mkdtemp(t.dir) == NULL)
		return err_set(e, ERR_IO, "%s: %s", t.dir, strerror(errno));
	str_init(&raw, SAID_MAX);
	if (make_files(&t, e) == 0)
		rc = run_slurmctld(&t, &raw, e);
	if (rc == 0)
		slurmconf_trial_why(&p->files, t.dir, raw.p, SLURM_PROOF_LINES, said);
	str_fini(&raw);
	(void)nftw(t.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return rc;
}

enum slurm_proved slurm_proof_run(const struct slurm_proof *p, struct str *said, struct err *e)
{
	int rc = try_once(p, false, said, e);

	if (rc == 0 && strstr(said->p, "auth/none") != NULL) {
		str_clear(said);
		rc = try_once(p, true, said, e);
	}
	return rc < 0 ? SLURM_UNTRIED : rc > 0 ? SLURM_PROVED : SLURM_REFUTED;
}
