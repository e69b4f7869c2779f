/* standin.c - in place of scontrol and squeue, with a slurmctld that is a file.
 *
 * Ten thousand nodes that are up cannot run on one machine, so burstd is pointed (slurm { bin_dir
 *}) at links to this program.  It prints `scontrol -o show nodes` byte for byte as Slurm 22.05
 *does, applies `scontrol update`, and writes down when each was called.  A node whose address was
 *set registers by itself BOOT milliseconds later; one that powers down is down after DOWN_MS.
 *
 *	standin init NODES BOOT    all powered down; nodes c1 ... cNODES
 *	standin up FIRST LAST      slurmctld wants them: POWERING_UP
 *	standin down FIRST LAST    it does not any more: POWERING_DOWN
 *	standin count              nodes in each state */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIR     "/run/bench"
#define DOWN_MS 1000

enum state { POWERED_DOWN, POWERING_UP, UP, POWERING_DOWN, NSTATES };

struct node {
	int64_t since_ms; /* of the state; POWERING_UP: when its address was set, 0: not yet */
	enum state state;
	bool down;
	char addr[48], host[48], reason[120];
};

struct cluster {
	int64_t boot_ms;
	int32_t n;
	struct node node[];
};

static const char *const words[NSTATES] = {
	[POWERED_DOWN] = "IDLE+CLOUD+POWERED_DOWN",
	[POWERING_UP] = "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP",
	[UP] = "ALLOCATED+CLOUD",
	[POWERING_DOWN] = "IDLE+CLOUD+POWERING_DOWN",
};

static int64_t now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* "MICROSECONDS WHAT COUNT", one write, so that lines of several callers stay whole. */
static void record(int64_t at, const char *what, long count)
{
	int fd = open(DIR "/log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	char line[96];
	int n = snprintf(line, sizeof(line), "%lld %s %ld\n", (long long)at, what, count);

	if (fd < 0 || write(fd, line, (size_t)n) != n)
		_exit(fail(DIR "/log"));
	(void)close(fd);
}

static struct cluster *map(size_t make)
{
	int fd = open(DIR "/nodes", O_RDWR | O_CLOEXEC | (make > 0 ? O_CREAT | O_TRUNC : 0), 0600);
	struct stat st;
	void *p;

	if (fd < 0 || flock(fd, LOCK_EX) != 0 || (make > 0 && ftruncate(fd, (off_t)make) != 0) ||
	    fstat(fd, &st) != 0)
		exit(fail(DIR "/nodes"));
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		exit(fail("mmap"));
	return p; /* and the lock, until we end */
}

static void advance(const struct cluster *c, struct node *n, int64_t now_ms)
{
	if (n->state == POWERING_UP && n->since_ms != 0 && now_ms >= n->since_ms + c->boot_ms)
		n->state = UP;
	else if (n->state == POWERING_DOWN && now_ms >= n->since_ms + DOWN_MS)
		n->state = POWERED_DOWN;
}

static void print_node(int i, const struct node *n)
{
	bool up = n->state == UP;

	(void)printf(
		"NodeName=c%d %sCoresPerSocket=1  CPUAlloc=%d CPUEfctv=8 CPUTot=8 CPULoad=%s "
		"AvailableFeatures=cloud ActiveFeatures=cloud Gres=gpu:h100:8 NodeAddr=%s "
		"NodeHostName=%s %s RealMemory=1000 AllocMem=0 FreeMem=%s Sockets=8 Boards=1 "
		"State=%s%s ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A "
		"Partitions=cloud  BootTime=%s SlurmdStartTime=%s LastBusyTime=%s "
		"CfgTRES=cpu=8,mem=1000M,billing=8,gres/gpu=8,gres/gpu:h100=8 AllocTRES=%s "
		"CapWatts=n/a CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 "
		"ExtSensorsTemp=n/s%s%s\n",
		i, up ? "Arch=x86_64 " : "", up ? 8 : 0, up ? "0.83" : "N/A", n->addr, n->host,
		up ? "Version=22.05.8 OS=Linux 6.1.0-13-amd64 #1 SMP Debian 6.1.55-1 " : "",
		up ? "22851" : "N/A", n->down ? "DOWN+" : "", words[n->state],
		up ? "2026-01-31T10:02:48" : "None", up ? "2026-01-31T10:02:48" : "None",
		up ? "2026-01-31T10:02:48" : "Unknown",
		up ? "cpu=8,gres/gpu=8,gres/gpu:h100=8" : "", n->reason[0] ? " Reason=" : "",
		n->reason);
}

static int show(void)
{
	int64_t at = now_us();
	struct cluster *c = map(0);

	for (int i = 0; i < c->n; i++) {
		advance(c, &c->node[i], at / 1000);
		print_node(i + 1, &c->node[i]);
	}
	record(at, "show", c->n);
	return fflush(stdout) != 0;
}

static void put(char *to, size_t size, const char *from, size_t len)
{
	(void)snprintf(to, size, "%.*s", (int)len, from);
}

/* The next word of a list with commas; its length, and *p behind it. */
static const char *word(const char **p, size_t *len)
{
	const char *at = *p;

	*len = at != NULL ? strcspn(at, ",") : 0;
	*p = at != NULL && at[*len] == ',' ? at + *len + 1 : NULL;
	return at;
}

struct update { /* what the arguments say */
	const char *nodes, *addrs, *hosts, *state, *reason;
};

static void apply(struct node *n, const struct update *u, int64_t now_ms)
{
	if (u->reason != NULL)
		put(n->reason, sizeof(n->reason), u->reason, strlen(u->reason));
	if (u->state == NULL)
		return;
	if (strcmp(u->state, "DOWN") == 0) {
		n->down = true;
	} else if (strcmp(u->state, "RESUME") == 0) {
		n->down = false;
	} else if (strcmp(u->state, "POWER_DOWN_FORCE") == 0) {
		n->state = POWERING_DOWN;
		n->since_ms = now_ms;
	}
}

static int update(const struct update *u)
{
	const char *p = u->nodes, *addrs = u->addrs, *hosts = u->hosts, *name;
	int64_t at = now_us();
	struct cluster *c = map(0);
	size_t len, n;
	long count = 0;

	while ((name = word(&p, &len)) != NULL && len > 0) {
		long i = strtol(name + 1, NULL, 10);
		struct node *node;

		if (name[0] != 'c' || i < 1 || i > c->n)
			return fprintf(stderr, "scontrol: no node %.*s\n", (int)len, name) > 0;
		node = &c->node[i - 1];
		apply(node, u, at / 1000);
		if (addrs != NULL) {
			const char *addr = word(&addrs, &n);

			put(node->addr, sizeof(node->addr), addr, n);
			addr = word(&hosts, &n);
			put(node->host, sizeof(node->host), addr, n);
			node->since_ms = at / 1000;
		}
		count++;
	}
	record(at, u->addrs != NULL ? "addr" : u->state != NULL ? u->state : "other", count);
	return 0;
}

static const char *after(const char *arg, const char *key)
{
	return strncmp(arg, key, strlen(key)) == 0 ? arg + strlen(key) : NULL;
}

static int scontrol(int argc, char **argv)
{
	struct update u = {0};

	if (argc > 3 && strcmp(argv[3], "nodes") == 0)
		return show();
	if (argc > 2 && strncmp(argv[2], "jobid=", 6) == 0)
		return 0; /* what is told to jobs */
	if (argc > 1 && strcmp(argv[1], "update") != 0)
		return 0; /* settings, partitions, jobs: nothing to say */
	for (int i = 2; i < argc; i++) {
		const char *v;

		if ((v = after(argv[i], "nodename=")) != NULL)
			u.nodes = v;
		else if ((v = after(argv[i], "nodeaddr=")) != NULL)
			u.addrs = v;
		else if ((v = after(argv[i], "nodehostname=")) != NULL)
			u.hosts = v;
		else if ((v = after(argv[i], "state=")) != NULL)
			u.state = v;
		else if ((v = after(argv[i], "reason=")) != NULL)
			u.reason = v;
		else
			return fprintf(stderr, "scontrol: %s?\n", argv[i]) > 0;
	}
	return u.nodes != NULL ? update(&u) : 1;
}

/* Of a file of "ID|NODES" lines, if the benchmark left one. */
static int print_jobs(const char *path, const char *state)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;

	while (f != NULL && getline(&line, &cap, f) > 0) {
		const char *bar = strchr(line, '|');
		int n = bar != NULL ? (int)(bar - line) : 0;

		if (bar != NULL &&
		    printf("%.*s|%.*s|%s|cloud|None%s", n, line, n, line, state, bar) < 0)
			return 1;
	}
	free(line);
	if (f != NULL)
		(void)fclose(f);
	return fflush(stdout) != 0;
}

/* The jobs that wait, and those that run. */
static int squeue(void)
{
	record(now_us(), "squeue", 0);
	return print_jobs(DIR "/jobs", "CONFIGURING") + print_jobs(DIR "/running", "RUNNING");
}

static int init(int n, int boot_ms)
{
	struct cluster *c = map(sizeof(*c) + (size_t)n * sizeof(c->node[0]));

	c->n = n;
	c->boot_ms = boot_ms;
	for (int i = 0; i < n; i++) {
		(void)snprintf(c->node[i].addr, sizeof(c->node[i].addr), "c%d", i + 1);
		(void)snprintf(c->node[i].host, sizeof(c->node[i].host), "c%d", i + 1);
	}
	return 0;
}

static int set(int first, int last, enum state to)
{
	struct cluster *c = map(0);

	for (int i = first; i <= last && i <= c->n; i++)
		c->node[i - 1] = (struct node){.state = to,
					       .since_ms = to == POWERING_UP ? 0 : now_us() / 1000};
	for (int i = first; i <= last && i <= c->n; i++) {
		(void)snprintf(c->node[i - 1].addr, sizeof(c->node[i - 1].addr), "c%d", i);
		(void)snprintf(c->node[i - 1].host, sizeof(c->node[i - 1].host), "c%d", i);
	}
	return 0;
}

static int count(void)
{
	struct cluster *c = map(0);
	int n[NSTATES] = {0};

	for (int i = 0; i < c->n; i++) {
		advance(c, &c->node[i], now_us() / 1000);
		n[c->node[i].state]++;
	}
	return printf("%d %d %d %d\n", n[POWERED_DOWN], n[POWERING_UP], n[UP], n[POWERING_DOWN]) <
	       0;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');

	name = name != NULL ? name + 1 : argv[0];
	if (strcmp(name, "scontrol") == 0)
		return scontrol(argc, argv);
	if (strcmp(name, "squeue") == 0)
		return squeue();
	if (argc == 4 && strcmp(argv[1], "init") == 0)
		return init(atoi(argv[2]), atoi(argv[3]));
	if (argc == 4 && strcmp(argv[1], "up") == 0)
		return set(atoi(argv[2]), atoi(argv[3]), POWERING_UP);
	if (argc == 4 && strcmp(argv[1], "down") == 0)
		return set(atoi(argv[2]), atoi(argv[3]), POWERING_DOWN);
	if (argc == 2 && strcmp(argv[1], "count") == 0)
		return count();
	(void)fprintf(stderr, "usage: standin init NODES BOOT_MS | up A B | down A B | count\n");
	return 2;
}
