#include "io/ctl_role.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/ctl_server.h"

enum {
	GROUPS_FIRST = 32,    /* more than most have */
	GROUPS_MAX = 1 << 16, /* NGROUPS_MAX of Linux */
};

struct groups {
	gid_t *v;
	size_t n;
};

/* --- the kernel's word ------------------------------------------------------------------------
 */

/* What cannot be had is no group: nobody gets a role by it. */
static void read_groups(struct groups *g, int fd)
{
	socklen_t len = GROUPS_FIRST * sizeof(gid_t);

	*g = (struct groups){.v = mem_zalloc(len)};
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, g->v, &len) != 0) {
		if (errno != ERANGE || len > GROUPS_MAX * sizeof(gid_t))
			return;
		g->v = mem_realloc(g->v, len); /* len is what they need */
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, g->v, &len) != 0)
			return;
	}
	g->n = len / sizeof(gid_t);
}

static bool has(const struct conf_ids *ids, uint32_t id)
{
	for (size_t i = 0; i < ids->n; i++)
		if (ids->v[i] == id)
			return true;
	return false;
}

static unsigned roles_of_group(const struct conf_people *p, uint32_t gid)
{
	return (has(&p->admin_groups, gid) ? CTL_ADMIN : 0U) |
	       (has(&p->operator_groups, gid) ? CTL_OPERATOR : 0U) |
	       (has(&p->finance_groups, gid) ? CTL_FINANCE : 0U);
}

int ctl_role_find(struct ctl_caller *who, int fd, const struct conf_people *people)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct groups g;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return -1;
	*who = (struct ctl_caller){.uid = peer.uid, .gid = peer.gid, .pid = peer.pid};
	if (peer.uid == 0 || peer.uid == geteuid())
		who->roles = CTL_OWN;
	if (has(&people->admins, peer.uid))
		who->roles |= CTL_ADMIN;
	who->roles |= roles_of_group(people, peer.gid);
	read_groups(&g, fd);
	for (size_t i = 0; i < g.n; i++)
		who->roles |= roles_of_group(people, g.v[i]);
	free(g.v);
	return 0;
}

bool ctl_is(const struct ctl_caller *who, unsigned roles)
{
	const unsigned all = roles == CTL_OWN ? 0 : CTL_ADMIN | CTL_OWN;

	return (who->roles & (roles | all)) != 0;
}

/* --- words ------------------------------------------------------------------------------------
 */

static const struct {
	enum ctl_role role;
	const char *one, *all;
} words[] = {
	{CTL_ADMIN, "admin", "admins"},
	{CTL_OPERATOR, "operator", "operators"},
	{CTL_FINANCE, "finance", "finance"},
};

enum { NWORDS = sizeof(words) / sizeof(words[0]) };

const char *ctl_roles_str(char out[CTL_ROLES_SIZE], unsigned roles)
{
	size_t n = 0;

	if ((roles & CTL_OWN) != 0) /* root, or our own user: which, the uid says */
		roles = CTL_ADMIN;
	(void)snprintf(out, CTL_ROLES_SIZE, "user");
	for (size_t i = 0; i < NWORDS; i++)
		if ((roles & (unsigned)words[i].role) != 0)
			n += (size_t)snprintf(out + n, CTL_ROLES_SIZE - n, "%s%s", n > 0 ? "," : "",
					      words[i].one);
	return out;
}

void ctl_roles_name(struct str *out, unsigned roles)
{
	const char *last = NULL;

	if (roles == CTL_OWN) {
		str_adds(out, "root and burstd's own user");
		return;
	}
	roles |= CTL_ADMIN;
	for (size_t i = 0; i < NWORDS; i++) {
		if ((roles & (unsigned)words[i].role) == 0)
			continue;
		if (last != NULL)
			str_addf(out, "%s%s", out->len > 0 ? ", " : "", last);
		last = words[i].all;
	}
	str_addf(out, "%s%s", out->len > 0 ? " and " : "", last);
}

/* --- copies -----------------------------------------------------------------------------------
 */

static void dup_ids(struct conf_ids *to, const struct conf_ids *from)
{
	*to = (struct conf_ids){.v = mem_zalloc(from->n * sizeof(*from->v) + 1), .n = from->n};
	if (from->n > 0)
		memcpy(to->v, from->v, from->n * sizeof(*from->v));
}

void ctl_people_dup(struct conf_people *to, const struct conf_people *from)
{
	dup_ids(&to->admins, &from->admins);
	dup_ids(&to->admin_groups, &from->admin_groups);
	dup_ids(&to->operator_groups, &from->operator_groups);
	dup_ids(&to->finance_groups, &from->finance_groups);
}

void ctl_people_fini(struct conf_people *p)
{
	free(p->admins.v);
	free(p->admin_groups.v);
	free(p->operator_groups.v);
	free(p->finance_groups.v);
	*p = (struct conf_people){0};
}
