#!/usr/bin/env python3
"""boards.py [DIR]: write Grafana's boards for burstd into DIR (boards/ beside this file), as JSON, by Grafana's own types.

Needs grafana-foundation-sdk of PyPI, in the release of boards.txt: `make monitoring-boards` has it in build/.  What is here
is what burstd alone knows: jobs by state and partition, and CPUs, are on the boards that sites have of Slurm, which the links
on top lead to.  A panel is a row of the tables below: title, kind, unit, queries with the names of their series, description.
"""
import json
import os
import sys

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models import prometheus as prometheus_models

SOURCE = models.DataSourceRef(type_val='prometheus', uid='${datasource}')
C = 'cluster=~"$cluster"'
P = 'cluster=~"$cluster",pool=~"$pool"'
WINDOW = '[$__rate_interval]'


def stages(quantile):
    return ('histogram_quantile(%s, sum by (stage, le) (rate(burstd_node_stage_seconds_bucket{%s}%s)))'
            % (quantile, P, WINDOW))


FLEET = [
    ('Now', [
        ('Problems', 'stat', 'none', [('sum(burstd_problems{%s})' % C, '')],
         'Sentences of `burstctl status`: it names them.'),
        ('Nodes that are up', 'stat', 'none', [('sum(burstd_nodes{%s,state=~"ready|draining"})' % P, '')], ''),
        ('Nodes that come', 'stat', 'none', [('sum(burstd_nodes{%s,state=~"wanted|creating|indoubt|booting"})' % P, '')], ''),
        ('Nodes that may bill on', 'stat', 'none', [('sum(burstd_nodes{%s,state=~"quarantined|indoubt"})' % P, '')],
         'Refused to be deleted, or nobody knows whether they exist: docs/operations.md, "Quarantine".'),
        ('slurmctld answers', 'stat', 'bool_yes_no', [('min(burstd_slurm_up{%s})' % C, '')], ''),
        ('Buying is stopped', 'stat', 'bool_yes_no', [('max(burstd_buying_stopped{%s})' % C, '')],
         'The disk of the journal is nearly full.'),
    ]),
    ('Nodes', [
        ('Nodes by state', 'area', 'none', [('sum by (state) (burstd_nodes{%s})' % P, '{{state}}')],
         'Each generation counts: one that is being deleted and the next one of its name are two.'),
        ('Nodes of each pool, and its limit', 'line', 'none',
         [('sum by (pool) (burstd_nodes{%s})' % P, '{{pool}}'), ('burstd_pool_max_nodes{%s}' % P, '{{pool}}: limit')], ''),
        ('Warm nodes', 'line', 'none',
         [('burstd_pool_warm{%s}' % P, '{{pool}}: up'), ('burstd_pool_warm_wanted{%s}' % P, '{{pool}}: wanted'),
          ('burstd_pool_paid{%s}' % P, '{{pool}}: paid, so they stay')], ''),
        ('Calls of slurmctld', 'line', 'none', [('sum by (kind) (increase(burstd_calls_total{%s}%s))' % (C, WINDOW), '{{kind}}')], ''),
    ]),
    ('How long nodes take', [
        ('Stages, nine of ten', 'line', 's', [(stages('0.9'), '{{stage}}')],
         'wait: until the create was sent; create: until the instance existed; run: until the provider showed it; boot: until '
         'slurmctld had it up; ready: all of these; delete: until it was proven gone.'),
        ('Stages, every other', 'line', 's', [(stages('0.5'), '{{stage}}')], ''),
        ('node-init by step, mean', 'line', 's',
         [('sum by (step) (rate(burstd_bootstrap_seconds_total{%s}%s)) / sum by (step) (rate(burstd_bootstrap_steps_total{%s}%s))'
           % (C, WINDOW, C, WINDOW), '{{step}}')], 'Of machines that boot with node-init: docs/bootstrap.md.'),
        ('Boots, and those that failed', 'line', 'none',
         [('sum by (end) (increase(burstd_bootstraps_total{%s}%s))' % (C, WINDOW), '{{end}}')], ''),
    ]),
    ('Jobs that wait for nodes', [
        ('Refused, by reason', 'area', 'none', [('sum by (reason) (burstd_jobs_waiting{%s}) > 0' % C, '{{reason}}')],
         'They try again by themselves. Which jobs: `curl http://127.0.0.1:9818/jobs?state=waits` on the controller.'),
        ('In burst-prolog, while their nodes boot', 'line', 'none', [('sum(burstd_gates_waiting{%s})' % C, 'jobs')], ''),
        ('Mean wait in burst-prolog', 'line', 's',
         [('sum(rate(burstd_gate_seconds_total{%s}%s)) / sum(rate(burstd_gates_total{%s}%s))' % (C, WINDOW, C, WINDOW), 'wait')],
         ''),
    ]),
    ('Machines that are taken', [
        ('Notices', 'bars', 'none', [('sum by (provider, kind) (increase(burstd_notices_total{%s}%s)) > 0' % (C, WINDOW), '{{provider}}: {{kind}}')], ''),
        ('What became of the jobs', 'bars', 'none', [('sum by (end) (increase(burstd_jobs_taken_end_total{%s}%s))' % (C, WINDOW), '{{end}}')],
         'ended: srun, salloc and --no-requeue jobs cannot be requeued.'),
        ('Longest time from a notice to its fence', 'line', 's', [('max(burstd_notice_fence_seconds_max{%s})' % C, 'longest')],
         'Until slurmctld had been told to give the node no more jobs.'),
    ]),
    ('Strays and leaks', [
        ('Instances that nobody knew', 'line', 'none',
         [('sum(increase(burstd_strays_total{%s}[1h]))' % C, 'strays, within an hour'), ('sum(burstd_instances_unreadable{%s})' % C, 'tags unreadable'),
          ('sum(burstd_nodes{%s,state="quarantined"})' % P, 'quarantined'), ('sum(burstd_nodes{%s,state="indoubt"})' % P, 'in doubt')],
         'Should be 0. Each may cost money.'),
        ('Creates whose answer was lost', 'line', 'none', [('sum(increase(burstd_instances_lost_total{%s}%s))' % (C, WINDOW), 'lost')],
         'burstd looks for their instances before it buys again.'),
        ('Oldest delete that waits', 'line', 's',
         [('max by (provider) (burstd_provider_requests_waiting_seconds{%s,operation="delete"})' % C, '{{provider}}')], 'Its machine bills meanwhile.'),
    ]),
    ('GPUs, by NVIDIA\'s DCGM exporter on the nodes', [
        ('Use of GPUs', 'line', 'percent', [('avg by (pool) (DCGM_FI_DEV_GPU_UTIL{%s})' % P, '{{pool}}')],
         'The pool is a label that /targets gives: docs/monitoring.md. Hostname is the node.'),
        ('GPUs that do nothing', 'line', 'none', [('count by (pool) (DCGM_FI_DEV_GPU_UTIL{%s} < 5)' % P, '{{pool}}')],
         'Below 5 % at this moment.'),
        ('What GPUs that do nothing cost', 'line', 'none',
         [('(1 - avg by (cluster, pool) (DCGM_FI_DEV_GPU_UTIL{%s}) / 100) * on (cluster, pool) group_left (currency) burstd_pool_rate{%s}'
           % (P, P), '{{pool}} ({{currency}} per hour)')], 'The cost of the pool\'s nodes, times the share of their GPUs\' time that is not used.'),
        ('Memory of GPUs in use', 'line', 'percentunit',
         [('sum by (pool) (DCGM_FI_DEV_FB_USED{%s}) / sum by (pool) (DCGM_FI_DEV_FB_USED{%s} + DCGM_FI_DEV_FB_FREE{%s})' % (P, P, P), '{{pool}}')], ''),
        ('XID errors, the last of each GPU', 'table', 'none', [('DCGM_FI_DEV_XID_ERRORS{%s} > 0' % P, '')],
         'What each number means, and what to do, is in NVIDIA\'s document on XIDs; `burstctl notice` has a node replaced.'),
        ('Hottest GPU', 'line', 'celsius', [('max by (pool) (DCGM_FI_DEV_GPU_TEMP{%s})' % P, '{{pool}}')], ''),
    ]),
]

MONEY = [
    ('Now', [
        ('Cost per hour', 'stat', 'none', [('sum by (currency) (burstd_pool_rate{%s})' % P, '{{currency}}')], ''),
        ('Of what all pools may cost', 'stat', 'percentunit', [('sum(burstd_pool_rate{%s}) / sum(burstd_pool_max_rate{%s})' % (P, P), '')], ''),
        ('Within a day', 'stat', 'none', [('sum by (currency) (increase(burstd_spent_total{%s}[1d]))' % P, '{{currency}}')],
         'Instance time at the prices of the offers. Bills are the ledger\'s: `burstctl report`.'),
        ('Jobs that wait for money', 'stat', 'none', [('sum(burstd_jobs_waiting{%s,reason="budget"})' % C, '')], ''),
    ]),
    ('Pools', [
        ('Cost per hour', 'area', 'none', [('sum by (pool, currency) (burstd_pool_rate{%s})' % P, '{{pool}} ({{currency}})')], ''),
        ('Limits of cost, and what is used of them', 'line', 'percentunit', [('burstd_pool_rate{%s} / burstd_pool_max_rate{%s}' % (P, P), '{{pool}}')],
         'max_rate of the pool. At 100 % jobs wait.'),
        ('Spent, day by day', 'line', 'none', [('sum by (pool, currency) (increase(burstd_spent_total{%s}[1d]))' % P, '{{pool}} ({{currency}})')], ''),
        ('Price of a node', 'line', 'none', [('burstd_offer_price{%s}' % P, '{{pool}} {{offer}} ({{currency}} per hour)')], ''),
    ]),
    ('Budgets', [
        ('Budgets: amount', 'table', 'none', [('burstd_budget_amount{%s}' % C, '')],
         'The first 1,000 budgets, or values of `each`, have metrics.'),
        ('Used: spent and held', 'line', 'percentunit',
         [('(burstd_budget_spent{%s} + burstd_budget_held{%s}) / burstd_budget_amount{%s}' % (C, C, C), '{{budget}} {{value}}')],
         'held: set aside for what runs, up to its time limit.'),
        ('Left', 'line', 'none', [('burstd_budget_left{%s}' % C, '{{budget}} {{value}} ({{currency}})')], 'Below 0: it was exceeded.'),
        ('Spent at the end of the period, of the amount', 'line', 'percentunit',
         [('burstd_budget_forecast{%s} / burstd_budget_amount{%s}' % (C, C), '{{budget}} {{value}}')],
         'At the pace of the last seven days. Above 100 % it will not last.'),
        ('Cost per hour, of what it may', 'line', 'percentunit',
         [('burstd_budget_rate{%s} / burstd_budget_rate_limit{%s}' % (C, C), '{{budget}} {{value}}')], 'Of budgets with `rate`.'),
        ('Jobs that a budget refuses', 'line', 'none', [('burstd_budget_refused_jobs{%s} > 0' % C, '{{budget}} {{value}}')], ''),
        ('More than the amount that may be spent', 'line', 'none', [('burstd_budget_beyond{%s} > 0' % C, '{{budget}} {{value}} ({{currency}})')],
         'docs/budgets.md, "The bound".'),
        ('Messages about budgets', 'line', 'none',
         [('sum by (state) (increase(burstd_alerts_total{%s}%s))' % (C, WINDOW), '{{state}}'),
          ('sum by (alert) (burstd_alerts_pending{%s})' % C, 'wait for {{alert}}')], 'failed: given up after a day.'),
    ]),
]

BUYING = [
    ('Now', [
        ('Pools that are blocked', 'stat', 'none', [('sum(burstd_pool_blocked{%s})' % P, '')], 'Their nodes come up wrong.'),
        ('Pools that are paused', 'stat', 'none', [('sum(burstd_pool_paused{%s})' % P, '')], ''),
        ('Providers that are off', 'stat', 'none', [('sum(burstd_provider_off{%s})' % C, '')], 'Credentials, permission or funds.'),
        ('Pools without an offer to buy from', 'stat', 'none', [('count(max by (cluster, pool) (burstd_offer_place{%s}) == 0) or vector(0)' % P, '')], ''),
    ]),
    ('Offers', [
        ('Nodes by offer', 'area', 'none', [('sum by (pool, offer) (burstd_offer_nodes{%s})' % P, '{{pool}} {{offer}}')], ''),
        ('Refused by the provider, by offer and reason', 'bars', 'none',
         [('sum by (pool, offer, reason) (increase(burstd_offer_nodes_refused_total{%s}%s)) > 0' % (P, WINDOW), '{{pool}} {{offer}}: {{reason}}')],
         'Nodes. One that is then bought by another offer counts, too.'),
        ('Left out now, by cause', 'area', 'none', [('sum by (pool, offer, cause) (burstd_offer_left_out{%s})' % P, '{{pool}} {{offer}}: {{cause}}')],
         'What a new job of one node without wishes would not be bought from. `burstctl pools` has the sentences.'),
        ('Order in which offers are tried', 'table', 'none', [('burstd_offer_place{%s}' % P, '')], '0: left out now.'),
        ('Age of prices', 'line', 's', [('burstd_price_age_seconds{%s} > 0' % P, '{{pool}} {{offer}}')], ''),
        ('Places that are left alone', 'area', 'none', [('sum by (provider, reason) (burstd_places_cooling{%s})' % C, '{{provider}}: {{reason}}')],
         'No capacity, no quota, or no purchase is answered: tried again after a while.'),
    ]),
    ('Providers', [
        ('Answers', 'line', 'bool_yes_no', [('burstd_provider_up{%s}' % C, '{{provider}}')], ''),
        ('Since the last whole answer', 'line', 's', [('time() - burstd_provider_last_success_timestamp_seconds{%s} > 0' % C, '{{provider}}')], ''),
        ('Off or away', 'line', 'none',
         [('burstd_provider_off{%s}' % C, '{{provider}}: off'), ('burstd_provider_away{%s}' % C, '{{provider}}: away')],
         'off: it denies burstd\'s requests; away: nothing was answered for unreachable_after.'),
        ('Nodes that providers refused', 'bars', 'none',
         [('sum by (provider, reason) (increase(burstd_nodes_unsold_total{%s}%s)) > 0' % (C, WINDOW), '{{provider}}: {{reason}}')], ''),
    ]),
    ('Limits of requests', [
        ('Requests sent', 'line', 'reqps', [('sum by (provider, operation) (rate(burstd_provider_requests_total{%s}%s)) > 0' % (C, WINDOW), '{{provider}} {{operation}}')], ''),
        ('Requests allowed', 'line', 'reqps', [('burstd_provider_requests_allowed_per_second{%s}' % C, '{{provider}} {{operation}}')],
         'The least of rate, of what the provider documents, and of what its answers show.'),
        ('Throttled', 'bars', 'none', [('sum by (provider, operation) (increase(burstd_provider_throttled_total{%s}%s)) > 0' % (C, WINDOW), '{{provider}} {{operation}}')], ''),
        ('What waits for its turn', 'line', 'none', [('burstd_provider_requests_queued{%s} > 0' % C, '{{provider}} {{operation}}')],
         'Nodes to create, instances to delete, else requests.'),
        ('How long the first of them waits', 'line', 's', [('burstd_provider_requests_waiting_seconds{%s} > 0' % C, '{{provider}} {{operation}}')], ''),
    ]),
]

BOARDS = [('burstd-fleet', 'burstd: fleet', FLEET), ('burstd-money', 'burstd: money', MONEY), ('burstd-buying', 'burstd: buying', BUYING)]


def variables(board):
    def query(name, text, hide):
        return (dashboard.QueryVariable(name).datasource(SOURCE).query(text).multi(True).include_all(True).all_value('.*')
                .current(models.VariableOption(selected=True, text='All', value='$__all')).hide(hide).refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED))

    shown = models.VariableHide.DONT_HIDE
    board.with_variable(dashboard.DatasourceVariable('datasource').type('prometheus').label('Prometheus'))
    board.with_variable(query('cluster', 'label_values(burstd_build_info, cluster)', shown))
    board.with_variable(query('pool', 'label_values(burstd_pool_names{%s}, pool)' % C, shown))
    # Nothing here has a partition: it is for the boards of Slurm, which the links hand it to.
    board.with_variable(query('partition', 'label_values({__name__=~"slurm_partition_.+"}, partition)', models.VariableHide.HIDE_VARIABLE))


def links(board):
    for title, tag in (('burstd', 'burstd'), ('Slurm', 'slurm')):
        board.link(dashboard.DashboardLink(title).type(models.DashboardLinkType.DASHBOARDS).tags([tag]).as_dropdown(True)
                   .include_vars(True).keep_time(True))


def legend():
    return (common.VizLegendOptions().display_mode(common_models.LegendDisplayMode.TABLE).show_legend(True)
            .placement(common_models.LegendPlacement.BOTTOM).calcs(['lastNotNull', 'max']))


def panel_of(kind):
    if kind == 'stat':
        return stat.Panel().span(4).height(4)
    if kind == 'table':
        return table.Panel().span(12).height(8)
    panel = timeseries.Panel().span(12).height(8).legend(legend()).min(0)
    if kind == 'area':
        panel.fill_opacity(30).stacking(common.StackingConfig().mode(common_models.StackingMode.NORMAL))
    if kind == 'bars':
        panel.draw_style(common_models.GraphDrawStyle.BARS).fill_opacity(60)
    return panel


def add_panel(board, number, title, kind, unit, queries, description):
    panel = panel_of(kind).id(number).title(title).unit(unit).datasource(SOURCE)
    if description:
        panel.description(description)
    for i, (expr, name) in enumerate(queries):
        q = prometheus.Dataquery().expr(expr).ref_id(chr(ord('A') + i)).legend_format(name or '__auto')
        if kind in ('stat', 'table'):
            q.instant()
        if kind == 'table':
            q.format(prometheus_models.PromQueryFormat.TABLE)
        panel.with_target(q)
    board.with_panel(panel)


def make(uid, title, rows):
    board = (dashboard.Dashboard(title).uid(uid).tags(['burstd']).refresh('30s').time('now-6h', 'now').timezone('browser')
             .tooltip(models.DashboardCursorSync.CROSSHAIR).readonly())
    variables(board)
    links(board)
    number = 0
    for row, panels in rows:
        number += 1
        board.with_row(dashboard.Row(row).id(number))
        for panel in panels:
            number += 1
            add_panel(board, number, *panel)
    return json.dumps(board.build(), cls=JSONEncoder, sort_keys=True, indent=1) + '\n'


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    to = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, 'boards')
    os.makedirs(to, exist_ok=True)
    for uid, title, rows in BOARDS:
        with open(os.path.join(to, uid + '.json'), 'w') as f:
            f.write(make(uid, title, rows))


if __name__ == '__main__':
    main()
