/* ctl_ops.h - the handlers of the control protocol's requests, for the table in ctl_api.c.
 *
 * They do not call ctl_api.c; they share ctl_reply.h. */
#ifndef BURSTD_CTL_OPS_H
#define BURSTD_CTL_OPS_H

struct ctl_reply;

/* Handlers: 0, or -1 with code and err set. */
int ctl_show_status(struct ctl_reply *r);
int ctl_show_nodes(struct ctl_reply *r);
int ctl_show_node(struct ctl_reply *r);
int ctl_show_events(struct ctl_reply *r);
int ctl_show_pools(struct ctl_reply *r);
int ctl_show_plan(struct ctl_reply *r);
int ctl_show_budgets(struct ctl_reply *r);
int ctl_override_list(struct ctl_reply *r);
int ctl_override_add(struct ctl_reply *r);
int ctl_override_set(struct ctl_reply *r);
int ctl_override_revoke(struct ctl_reply *r);
int ctl_show_alerts(struct ctl_reply *r);
int ctl_alert_test(struct ctl_reply *r);
int ctl_audit_show(struct ctl_reply *r);
int ctl_audit_verify(struct ctl_reply *r);
int ctl_order_drain(struct ctl_reply *r);
int ctl_order_terminate(struct ctl_reply *r);
int ctl_order_notice(struct ctl_reply *r);
int ctl_order_pause(struct ctl_reply *r);
int ctl_order_resume(struct ctl_reply *r);
int ctl_order_retry(struct ctl_reply *r);
int ctl_images_show(struct ctl_reply *r);
int ctl_images_stop(struct ctl_reply *r);
int ctl_images_resume(struct ctl_reply *r);
int ctl_secrets_show(struct ctl_reply *r);
int ctl_secrets_enroll(struct ctl_reply *r);
int ctl_rotate_show(struct ctl_reply *r);
int ctl_rotate_order(struct ctl_reply *r);

/* Add "events": the last `count` events of one node. */
int ctl_events_of_node(struct ctl_reply *r, const char *node, unsigned count);
/* Refuse the request: no pool names such a node. */
int ctl_events_stranger(struct ctl_reply *r, const char *name);
/* Add "secrets": {...}, if there is a secret store. */
void ctl_secrets_put(struct ctl_reply *r);

#endif
