#include "agent/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/opt.h"

enum agent_key_type { KEY_URL, KEY_ORIGIN, KEY_TEXT, KEY_NODE, KEY_PROVIDER, KEY_NUMBER, KEY_TIME };

struct agent_key {
	const char *name;
	enum agent_key_type type;
	const char *initial; /* NULL: must be given; "": nothing */
	size_t offset;
	int64_t min, max;
	const char *help;
};

enum { HELP_TEXT_MAX = 1024, HELP_COLUMN = 21 }; /* --help: text of one key, and its column */

#define AT(member)  offsetof(struct agent_conf, member)
#define SECONDS_(n) ((n)*INT64_C(1000))
#define HOURS_(n)   ((n)*INT64_C(3600000))

static const struct agent_key keys[] = {
	{"url", KEY_URL, NULL, 0, 0, 0, "burstd's listener for nodes, https://HOST:PORT; up to 8"},
	{"ca", KEY_TEXT, NULL, AT(ca), 0, 0, "CA that signs burstd's certificate"},
	{"cert", KEY_TEXT, NULL, AT(cert), 0, 0, "the node's certificate; renewed in place"},
	{"key", KEY_TEXT, NULL, AT(key), 0, 0, "its key, mode 0600"},
	{"node", KEY_NODE, NULL, AT(node), 0, 0, "name of the node in Slurm"},
	{"generation", KEY_NUMBER, NULL, AT(generation), 1, INT64_MAX, "generation of the node"},
	{"provider", KEY_PROVIDER, "none", 0, 0, 0,
	 "cloud: aws, gcp and azure have a metadata service with notices; oci has none"},
	{"metadata", KEY_ORIGIN, "http://169.254.169.254", AT(metadata), 0, 0,
	 "URL of the metadata service"},
	{"poll", KEY_TIME, "5s", AT(poll), 1000, SECONDS_(60), "time between two polls of it"},
	{"key_version_file", KEY_TEXT, "", AT(key_version_file), 0, 0,
	 "file whose first word is the version of munged's key"},
	{"keys_command", KEY_TEXT, "", AT(keys_command), 0, 0,
	 "command that fetches new keys; %k: \"stage\", or \"switch\" to use munge's"},
	{"hosts_file", KEY_TEXT, "/etc/hosts", AT(hosts_file), 0, 0,
	 "hosts file that gets the cluster's nodes, between two marks; empty: none"},
	{"heartbeat", KEY_TIME, "30s", AT(heartbeat), 1000, SECONDS_(300),
	 "time between two heartbeats"},
	{"deadman", KEY_TIME, "10m", AT(deadman), 0, HOURS_(24),
	 "power off after so long without an answered heartbeat; 0s: never"},
	{"deadman_job", KEY_TIME, "12h", AT(deadman_job), 0, HOURS_(24 * 30),
	 "additional time while a job runs"},
	{"poweroff", KEY_TEXT, "systemctl poweroff -i", AT(poweroff), 0, 0,
	 "command that powers the machine off"},
	{"local_command", KEY_TEXT, "scancel --signal=USR1 --full %j", AT(local_command), 0, 0,
	 "command for a preemption that burstd did not accept; %j: jobs here, %n: node"},
	{"local_after", KEY_TIME, "3s", AT(local_after), 0, SECONDS_(60),
	 "how long burstd has before local_command is run"},
	{"unmount_command", KEY_TEXT, "", AT(unmount_command), 0, 0,
	 "command that stops slurmd and unmounts file systems, once the machine will be taken away "
	 "and no job runs here"},
	{"unmount_before", KEY_TIME, "8s", AT(unmount_before), 0, SECONDS_(300),
	 "run it so long before the machine goes, even if a job still runs"},
	{"notice_file", KEY_TEXT, "", AT(notice_file), 0, 0,
	 "file that announces the end of the node; it may hold TYPE [UNIX TIME]"},
	{"notice_command", KEY_TEXT, "", AT(notice_command), 0, 0,
	 "command that prints such a notice"},
	{"state_command", KEY_TEXT, "systemctl is-system-running", AT(state_command), 0, 0,
	 "command that prints \"stopping\" while the machine shuts down"},
	{"health", KEY_TIME, "60s", AT(health), 1000, HOURS_(24),
	 "time between two checks of the hardware"},
	{"gpus", KEY_NUMBER, "0", AT(gpus), 0, 1024, "how many GPUs there must be; 0: not checked"},
	{"gpu_command", KEY_TEXT, "", AT(gpu_command), 0, 0,
	 "command that prints a line for each GPU; empty: the NVIDIA driver's list"},
	{"health_command", KEY_TEXT, "", AT(health_command), 0, 0,
	 "command that fails if the node is faulty (dcgmi)"},
	{"error_command", KEY_TEXT, "", AT(error_command), 0, 0,
	 "command that prints something if the node is faulty (ECC, Xid)"},
	{"command_timeout", KEY_TIME, "30s", AT(command_timeout), 1000, SECONDS_(600),
	 "timeout of each command"},
	{"proc", KEY_TEXT, "/proc", AT(proc), 0, 0, "mount point of the proc file system"},
};

enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };

static void *member(struct agent_conf *c, const struct agent_key *k)
{
	return (char *)c + k->offset;
}

static int take_text(char *to, size_t size, const char *value, struct err *e)
{
	if (strlen(value) >= size)
		return err_set(e, ERR_INVALID, "longer than %zu bytes", size - 1);
	memcpy(to, value, strlen(value) + 1);
	return 0;
}

/* The name goes unescaped into JSON, a certificate and the arguments of commands. */
static int take_node(struct agent_conf *c, const char *value, struct err *e)
{
	static const char ok[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	if (value[0] == '\0' || value[0] == '-' || value[strspn(value, ok)] != '\0')
		return err_set(e, ERR_INVALID, "not a node name");
	return take_text(c->node, sizeof(c->node), value, e);
}

static int take_provider(struct agent_conf *c, const char *value, struct err *e)
{
	static const struct {
		const char *name;
		enum agent_cloud cloud;
	} clouds[] = {
		{"aws", AGENT_AWS}, {"gcp", AGENT_GCP}, {"azure", AGENT_AZURE}, {"oci", AGENT_OCI}};

	c->cloud = AGENT_NO_CLOUD;
	for (size_t i = 0; i < sizeof(clouds) / sizeof(clouds[0]); i++)
		if (strcmp(value, clouds[i].name) == 0)
			c->cloud = clouds[i].cloud;
	return take_text(c->provider, sizeof(c->provider), value, e);
}

static int take_number(int64_t *to, const struct agent_key *k, const char *value, struct err *e)
{
	size_t n = strspn(value, "0123456789");

	errno = 0;
	*to = strtoll(value, NULL, 10);
	if (n == 0 || value[n] != '\0' || errno != 0 || *to < k->min || *to > k->max)
		return err_set(e, ERR_INVALID, "want a number from %lld to %lld", (long long)k->min,
			       (long long)k->max);
	return 0;
}

static int take_time(int64_t *to, const struct agent_key *k, const char *value, struct err *e)
{
	char least[FMT_DUR_SIZE], most[FMT_DUR_SIZE];

	if (fmt_duration_parse(value, to, e) != 0)
		return -1;
	if (*to < k->min || *to > k->max)
		return err_set(e, ERR_INVALID, "want %s to %s", fmt_duration(least, k->min),
			       fmt_duration(most, k->max));
	return 0;
}

static int take_url(struct agent_conf *c, const char *value, struct err *e)
{
	struct origin *p = &c->urls[c->nurls];

	if (c->nurls == AGENT_URLS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d URLs", AGENT_URLS_MAX);
	if (origin_parse(p, value, e) != 0)
		return -1;
	if (!p->tls)
		return err_set(e, ERR_INVALID, "want https://HOST[:PORT]");
	c->nurls++;
	return 0;
}

static int take_value(struct agent_conf *c, const struct agent_key *k, const char *value,
		      struct err *e)
{
	switch (k->type) {
	case KEY_URL:
		return take_url(c, value, e);
	case KEY_ORIGIN:
		return origin_parse(member(c, k), value, e);
	case KEY_TEXT:
		return take_text(member(c, k), AGENT_TEXT_MAX, value, e);
	case KEY_NODE:
		return take_node(c, value, e);
	case KEY_PROVIDER:
		return take_provider(c, value, e);
	case KEY_NUMBER:
		return take_number(member(c, k), k, value, e);
	case KEY_TIME:
		return take_time(member(c, k), k, value, e);
	}
	return -1;
}

static size_t find(const char *name)
{
	for (size_t i = 0; i < NKEYS; i++)
		if (strcmp(keys[i].name, name) == 0)
			return i;
	return NKEYS;
}

static int unknown(const char *name, struct err *e)
{
	const char *names[NKEYS], *near;

	for (size_t i = 0; i < NKEYS; i++)
		names[i] = keys[i].name;
	near = opt_nearest(name, names, NKEYS);
	if (near != NULL)
		return err_set(e, ERR_INVALID, "unknown key \"%.40s\"; did you mean \"%s\"?", name,
			       near);
	return err_set(e, ERR_INVALID, "unknown key \"%.40s\"", name);
}

static char *trim(char *p)
{
	size_t n;

	p += strspn(p, " \t\r");
	n = strlen(p);
	while (n > 0 && strchr(" \t\r", p[n - 1]) != NULL)
		p[--n] = '\0';
	return p;
}

static int take_line(struct agent_conf *c, char *line, bool *given, struct err *e)
{
	char *equals, *name, *value;
	size_t i;

	line = trim(line);
	if (line[0] == '\0' || line[0] == '#')
		return 0;
	for (const char *p = line; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' && *p != '\t')
			return err_set(e, ERR_INVALID, "contains a control character");
	equals = strchr(line, '=');
	if (equals == NULL)
		return err_set(e, ERR_INVALID, "want key = value");
	*equals = '\0';
	name = trim(line);
	value = trim(equals + 1);
	i = find(name);
	if (i == NKEYS)
		return unknown(name, e);
	if (given[i] && keys[i].type != KEY_URL)
		return err_set(e, ERR_INVALID, "%s is defined twice", name);
	given[i] = true;
	return take_value(c, &keys[i], value, e) != 0 ? err_wrap(e, "%s", name) : 0;
}

static int set_defaults(struct agent_conf *c, const bool *given, const char *name, struct err *e)
{
	for (size_t i = 0; i < NKEYS; i++) {
		if (given[i])
			continue;
		if (keys[i].initial == NULL)
			return err_set(e, ERR_INVALID, "%s: %s must be given", name, keys[i].name);
		if (take_value(c, &keys[i], keys[i].initial, e) != 0)
			return -1;
	}
	return 0;
}

int agent_conf_parse(struct agent_conf *c, const char *name, const char *text, struct err *e)
{
	char *copy = mem_strdup(text), *at = copy, *line;
	bool given[NKEYS] = {false};
	int number = 0, rc = 0;

	memset(c, 0, sizeof(*c));
	while (rc == 0 && (line = strsep(&at, "\n")) != NULL) {
		number++;
		rc = take_line(c, line, given, e);
		if (rc != 0)
			(void)err_wrap(e, "%s:%d", name, number);
	}
	if (rc == 0)
		rc = set_defaults(c, given, name, e);
	free(copy);
	return rc;
}

int agent_conf_load(struct agent_conf *c, const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), rc = -1;
	char *text = mem_zalloc(AGENT_CONF_MAX + 1);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) != 0) {
		(void)err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()) ||
		   (st.st_mode & 077) != 0) {
		(void)err_set(e, ERR_AUTH,
			      "%s: must be a regular file owned by root or this user, mode 0600",
			      path);
	} else {
		n = read(fd, text, AGENT_CONF_MAX);
		if (n < 0 || n == AGENT_CONF_MAX || strlen(text) != (size_t)n)
			(void)err_set(e, ERR_INVALID, "%s: unreadable, too long or not text", path);
		else
			rc = agent_conf_parse(c, path, text, e);
	}
	if (fd >= 0)
		(void)close(fd);
	free(text);
	return rc;
}

void agent_conf_help(struct str *out)
{
	for (size_t i = 0; i < NKEYS; i++) {
		const char *initial = keys[i].initial;

		struct str text;

		str_init(&text, HELP_TEXT_MAX);
		str_adds(&text, keys[i].help);
		if (initial == NULL)
			str_adds(&text, " (must be given)");
		else if (initial[0] != '\0')
			str_addf(&text, " (default %s)", initial);
		str_addf(out, "  %-18s ", keys[i].name);
		opt_wrap(out, text.p, HELP_COLUMN, HELP_COLUMN);
		str_fini(&text);
	}
}
