/* ctl_role.h - what somebody who connects to a socket of ours may do, by the kernel's word.
 *
 * The kernel says which user connected (SO_PEERCRED) and in which groups that process was
 * (SO_PEERGROUPS), and burstd.conf which users and groups have which role.  No name is looked up
 * here, so nobody waits for a network.  A process has the groups of its login: who leaves a group
 * has the role until the last of these processes has ended. */
#ifndef BURSTD_CTL_ROLE_H
#define BURSTD_CTL_ROLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "core/conf.h"

struct ctl_caller;

/* Bits: somebody may have several, and then may do what any of them may.  docs/roles.md says what
 * each is for. */
enum ctl_role {
	CTL_VIEWER = 0,   /* any local user: sees what is everybody's, and what is their own */
	CTL_FINANCE = 1,  /* sees all costs and budgets */
	CTL_OPERATOR = 2, /* gives orders to nodes and pools */
	CTL_ADMIN = 4,    /* may do whatever a role may, and change whom and what burstd serves */
	CTL_OWN = 8,      /* root or our own user, for so slurmctld runs: an admin, and more */
};

/* Who is at the other end of the connected socket fd.  Without SO_PEERGROUPS (Linux before 4.13)
 * the primary group alone counts.  -1: the kernel does not say. */
int ctl_role_find(struct ctl_caller *who, int fd, const struct conf_people *people);
/* Does the caller have one of these roles?  Admins and our own have all, but for CTL_OWN alone. */
bool ctl_is(const struct ctl_caller *who, unsigned roles);

/* "admin", "operator,finance", "user": of somebody, for the log. */
#define CTL_ROLES_SIZE 32
const char *ctl_roles_str(char out[CTL_ROLES_SIZE], unsigned roles);
/* "admins and operators": who has one of these, for a refusal. */
void ctl_roles_name(struct str *out, unsigned roles);

/* A copy; ctl_people_fini() frees it. */
void ctl_people_dup(struct conf_people *to, const struct conf_people *from);
void ctl_people_fini(struct conf_people *p);

#endif
