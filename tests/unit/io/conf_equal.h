/* conf_equal.h - two texts, or two configurations with all of their fields, are the same. */
#ifndef TESTS_CONF_EQUAL_H
#define TESTS_CONF_EQUAL_H

#include "conf_text.h"

#include "core/conf_option.h"

/* NULL is equal to NULL only. */
static inline void assert_text_equal(const char *got, const char *want)
{
	assert_int_equal(got == NULL, want == NULL);
	if (want != NULL)
		assert_string_equal(got, want);
}

static inline void assert_words_equal(char *const *got, char *const *want)
{
	size_t i = 0;

	assert_int_equal(got == NULL, want == NULL);
	for (; want != NULL && want[i] != NULL; i++)
		assert_text_equal(got[i], want[i]);
	assert_true(got == NULL || got[i] == NULL);
}

static inline void assert_provider_equal(const struct conf_provider *a,
					 const struct conf_provider *b)
{
	assert_text_equal(a->name, b->name);
	assert_text_equal(a->driver, b->driver);
	assert_text_equal(a->url, b->url);
	assert_text_equal(a->credential_file, b->credential_file);
	assert_text_equal(a->ca_file, b->ca_file);
	assert_int_equal(a->settle_ms, b->settle_ms);
	assert_int_equal(a->list_ms, b->list_ms);
	assert_int_equal(a->timeout_ms, b->timeout_ms);
	assert_int_equal(a->concurrency, b->concurrency);
	assert_int_equal(a->rate, b->rate);
	assert_text_equal(a->user_data_file, b->user_data_file);
	assert_int_equal(a->attest_as, b->attest_as);
	assert_int_equal(a->attest, b->attest);
	assert_text_equal(a->account, b->account);
	assert_int_equal(a->check_address, b->check_address);
	assert_text_equal(a->address_map, b->address_map);
	assert_text_equal(a->attest_ca_file, b->attest_ca_file);
	assert_ptr_equal(a->own_options, b->own_options);
	for (size_t i = 0; a->own != NULL && i < a->own_options->noptions; i++)
		assert_true(conf_option_same(&a->own_options->options[i], a->own, b->own));
}

static inline void assert_offer_equal(const struct conf_offer *a, const struct conf_offer *b)
{
	assert_text_equal(a->name, b->name);
	assert_text_equal(a->provider, b->provider);
	assert_int_equal(a->provider_index, b->provider_index);
	assert_text_equal(a->type, b->type);
	assert_text_equal(a->region, b->region);
	assert_text_equal(a->zone, b->zone);
	assert_int_equal(a->market, b->market);
	assert_int_equal(a->price_nano_h, b->price_nano_h);
	assert_int_equal(a->max_price_nano_h, b->max_price_nano_h);
	assert_text_equal(a->jurisdiction, b->jurisdiction);
}

static inline void assert_pool_equal(const struct conf_pool *a, const struct conf_pool *b)
{
	assert_text_equal(a->name, b->name);
	assert_text_equal(a->nodes_text, b->nodes_text);
	assert_int_equal(a->nodes->n, b->nodes->n);
	assert_text_equal(a->provider, b->provider);
	assert_int_equal(a->provider_index, b->provider_index);
	assert_text_equal(a->type, b->type);
	assert_text_equal(a->region, b->region);
	assert_text_equal(a->zone, b->zone);
	assert_int_equal(a->spot, b->spot);
	assert_int_equal(a->max_nodes, b->max_nodes);
	assert_int_equal(a->max_rate_nano_h, b->max_rate_nano_h);
	assert_int_equal(a->price_nano_h, b->price_nano_h);
	assert_int_equal(a->boot_ms, b->boot_ms);
	assert_int_equal(a->warm, b->warm);
	assert_int_equal(a->quantum_ms, b->quantum_ms);
	assert_text_equal(a->jurisdiction, b->jurisdiction);
	assert_int_equal(a->policy, b->policy);
	assert_int_equal(a->gang, b->gang);
	assert_int_equal(a->max_price_nano_h, b->max_price_nano_h);
	assert_int_equal(a->spot_share, b->spot_share);
	assert_int_equal(a->fallback_refusals, b->fallback_refusals);
	assert_int_equal(a->fallback_ms, b->fallback_ms);
	assert_words_equal(a->jurisdictions, b->jurisdictions);
	assert_int_equal(a->job_comment, b->job_comment);
	assert_string_equal(a->checkpoint_signal, b->checkpoint_signal);
	assert_int_equal(a->checkpoint_to, b->checkpoint_to);
	assert_words_equal(a->checkpoint_command, b->checkpoint_command);
	assert_int_equal(a->rebalance, b->rebalance);
	assert_int_equal(a->rebalance_wait_ms, b->rebalance_wait_ms);
	assert_int_equal(a->unmount_wait_ms, b->unmount_wait_ms);
	assert_int_equal(a->dynamic, b->dynamic);
	assert_int_equal(a->noffers, b->noffers);
	for (size_t i = 0; i < a->noffers; i++)
		assert_offer_equal(&a->offers[i], &b->offers[i]);
}

static inline void assert_budget_equal(const struct conf_budget *a, const struct conf_budget *b)
{
	assert_text_equal(a->name, b->name);
	assert_words_equal(a->partitions, b->partitions);
	assert_words_equal(a->pools, b->pools);
	assert_words_equal(a->accounts, b->accounts);
	assert_words_equal(a->users, b->users);
	assert_words_equal(a->qos, b->qos);
	assert_words_equal(a->wckeys, b->wckeys);
	assert_words_equal(a->providers, b->providers);
	assert_int_equal(a->market, b->market);
	assert_int_equal(a->each, b->each);
	assert_int_equal(a->amount_nano, b->amount_nano);
	assert_int_equal(a->rate_nano_h, b->rate_nano_h);
	assert_text_equal(a->period, b->period);
	assert_true(period_same(&a->period_rule, &b->period_rule));
	assert_int_equal(a->rollover, b->rollover);
	assert_int_equal(a->reserve, b->reserve);
	assert_int_equal(a->lease_ms, b->lease_ms);
	assert_int_equal(a->notify_at.n, b->notify_at.n);
	for (size_t i = 0; i < a->notify_at.n; i++)
		assert_int_equal(a->notify_at.at[i], b->notify_at.at[i]);
	assert_int_equal(a->spot_only_at, b->spot_only_at);
	assert_int_equal(a->stop_at, b->stop_at);
	assert_int_equal(a->drain_at, b->drain_at);
	assert_int_equal(a->requeue_at, b->requeue_at);
	assert_int_equal(a->kill_at, b->kill_at);
	assert_int_equal(a->grace_ms, b->grace_ms);
	assert_int_equal(a->unknown, b->unknown);
	assert_text_equal(a->contact, b->contact);
}

static inline void assert_alert_equal(const struct conf_alert *a, const struct conf_alert *b)
{
	assert_text_equal(a->name, b->name);
	assert_int_equal(a->kind, b->kind);
	assert_text_equal(a->url, b->url);
	assert_text_equal(a->url_file, b->url_file);
	assert_text_equal(a->secret_file, b->secret_file);
	assert_text_equal(a->ca_file, b->ca_file);
	assert_text_equal(a->from, b->from);
	assert_words_equal(a->to, b->to);
	assert_text_equal(a->user, b->user);
	assert_text_equal(a->password_file, b->password_file);
	assert_words_equal(a->budgets, b->budgets);
}

static inline void assert_nodes_equal(const struct conf_nodes *a, const struct conf_nodes *b)
{
	assert_text_equal(a->listen, b->listen);
	assert_words_equal(a->urls, b->urls);
	assert_words_equal(a->conf_servers, b->conf_servers);
	assert_int_equal(a->claim_ms, b->claim_ms);
	assert_int_equal(a->deadman_ms, b->deadman_ms);
	assert_int_equal(a->auth, b->auth);
	assert_text_equal(a->munge_socket, b->munge_socket);
	assert_text_equal(a->node_init, b->node_init);
	assert_text_equal(a->slurmd_options, b->slurmd_options);
}

/* But for lines and the path. */
static inline void assert_ids_equal(const struct conf_ids *a, const struct conf_ids *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++)
		assert_int_equal(a->v[i], b->v[i]);
}

static inline void assert_conf_equal(const struct conf *a, const struct conf *b)
{
	assert_text_equal(a->cluster, b->cluster);
	assert_text_equal(a->currency, b->currency);
	assert_text_equal(a->report_zone, b->report_zone);
	assert_text_equal(a->state_dir, b->state_dir);
	assert_text_equal(a->listen, b->listen);
	assert_int_equal(a->log_level, b->log_level);
	assert_int_equal(a->events_keep_ms, b->events_keep_ms);
	assert_int_equal(a->budgets_away, b->budgets_away);
	assert_text_equal(a->slurm_bin, b->slurm_bin);
	assert_text_equal(a->slurm_conf, b->slurm_conf);
	assert_int_equal(a->billing_unit_nano_h, b->billing_unit_nano_h);
	assert_int_equal(a->reconfigure_ms, b->reconfigure_ms);
	assert_text_equal(a->prices_file, b->prices_file);
	assert_ids_equal(&a->people.admins, &b->people.admins);
	assert_ids_equal(&a->people.admin_groups, &b->people.admin_groups);
	assert_ids_equal(&a->people.operator_groups, &b->people.operator_groups);
	assert_ids_equal(&a->people.finance_groups, &b->people.finance_groups);
	assert_nodes_equal(&a->nodes, &b->nodes);
	assert_int_equal(a->nproviders, b->nproviders);
	for (size_t i = 0; i < a->nproviders; i++)
		assert_provider_equal(&a->providers[i], &b->providers[i]);
	assert_int_equal(a->npools, b->npools);
	for (size_t i = 0; i < a->npools; i++)
		assert_pool_equal(&a->pools[i], &b->pools[i]);
	assert_int_equal(a->nbudgets, b->nbudgets);
	for (size_t i = 0; i < a->nbudgets; i++)
		assert_budget_equal(&a->budgets[i], &b->budgets[i]);
	assert_int_equal(a->nalerts, b->nalerts);
	for (size_t i = 0; i < a->nalerts; i++)
		assert_alert_equal(&a->alerts[i], &b->alerts[i]);
	assert_int_equal(a->by_node.n, b->by_node.n);
}

#endif
