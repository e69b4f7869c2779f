#!/usr/bin/env python3
"""Each alert of scripts/monitoring/rules fires when it should and rests when it should, by promtool.

A row of `rows` is one alert and one moment: how many series fire after so many minutes, given these series.  Values are in
promtool's notation, one a minute.  Each alert needs a row in which it fires and one in which it rests, with its metric there:
an expression about a metric that is missing rests for ever.  What fires has the labels by which boards and routes find it.
"""
import json
import os
import re
import subprocess
import sys

RULES = 'scripts/monitoring/rules'
COMMON = 'cluster="c",job="burstd",instance="h:9818"'
HOUR = 60

# alert, minute, series that fire, {series: values}
rows = [
    ('BurstdDown', 4, 1, {'up': '0x9'}),
    ('BurstdDown', 1, 0, {'up': '0x9'}),
    ('BurstdDown', 4, 0, {'up': '1x9'}),
    ('BurstdAbsent', 6, 1, {'burstd_problems': '0x9'}),
    ('BurstdAbsent', 4, 0, {'burstd_problems': '0x9'}),
    ('BurstdAbsent', 6, 0, {'up': '0x9'}),
    ('BurstdRestarts', 30, 1, {'burstd_start_time_seconds': '1x5 2x5 3x5 4x5 5x10'}),
    ('BurstdRestarts', 30, 0, {'burstd_start_time_seconds': '1x5 2x5 3x5 4x20'}),
    ('BurstdDiskFull', 1, 1, {'burstd_buying_stopped': '1x5'}),
    ('BurstdDiskFull', 1, 0, {'burstd_buying_stopped': '0x5'}),
    ('BurstdDiskFills', 1, 1, {'burstd_disk_free_bytes': '199999999x5'}),
    ('BurstdDiskFills', 1, 0, {'burstd_disk_free_bytes': '200000000x5'}),
    ('BurstdProblem', 6 * HOUR + 1, 1, {'burstd_problems': '1x400'}),
    ('BurstdProblem', 6 * HOUR + 1, 0, {'burstd_problems': '1x200 0 1x200'}),
    ('BurstdCallsBad', 5, 1, {'burstd_calls_bad_total': '0 0 1x9', 'burstd_calls_refused_total': '0x9'}),
    ('BurstdCallsBad', 5, 1, {'burstd_calls_bad_total': '0x9', 'burstd_calls_refused_total': '0 0 1x9'}),
    ('BurstdCallsBad', 5, 0, {'burstd_calls_bad_total': '3x9', 'burstd_calls_refused_total': '3x9'}),
    ('BurstdSlurmSilent', 6, 1, {'burstd_slurm_last_success_timestamp_seconds': '0x9'}),
    ('BurstdSlurmSilent', 6, 0, {'burstd_slurm_last_success_timestamp_seconds': '180x9'}),
    ('BurstdSlurmConf', 6, 1, {'burstd_slurm_conf_problems{severity="error"}': '2x9'}),
    ('BurstdSlurmConf', 4, 0, {'burstd_slurm_conf_problems{severity="error"}': '2x9'}),
    ('BurstdSlurmConf', 6, 0, {'burstd_slurm_conf_problems{severity="error"}': '0x9',
                               'burstd_slurm_conf_problems{severity="warning"}': '2x9'}),
    ('BurstdProviderSilent', 9, 1, {'burstd_provider_last_success_timestamp_seconds{provider="a"}': '0x9',
                                    'burstd_provider_last_success_timestamp_seconds{provider="b"}': '240x9'}),
    ('BurstdProviderSilent', 9, 0, {'burstd_provider_last_success_timestamp_seconds{provider="b"}': '240x9'}),
    ('BurstdProviderOff', 1, 1, {'burstd_provider_off{provider="a"}': '1x5', 'burstd_provider_off{provider="b"}': '0x5'}),
    ('BurstdProviderOff', 1, 0, {'burstd_provider_off{provider="b"}': '0x5'}),
    ('BurstdNoQuota', 1, 1, {'burstd_places_cooling{provider="a",reason="quota"}': '1x5'}),
    ('BurstdNoQuota', 1, 0, {'burstd_places_cooling{provider="a",reason="quota"}': '0x5',
                             'burstd_places_cooling{provider="a",reason="capacity"}': '3x5'}),
    ('BurstdPlacesFail', 16, 1, {'burstd_places_cooling{provider="a",reason="failing"}': '1x20'}),
    ('BurstdPlacesFail', 14, 0, {'burstd_places_cooling{provider="a",reason="failing"}': '1x20'}),
    ('BurstdPlacesFail', 16, 0, {'burstd_places_cooling{provider="a",reason="capacity"}': '1x20'}),
    ('BurstdHeldBack', 1, 2, {'burstd_provider_requests_waiting_seconds{provider="a",operation="create"}': '601x5',
                              'burstd_provider_requests_waiting_seconds{provider="a",operation="delete"}': '601x5'}),
    ('BurstdHeldBack', 1, 0, {'burstd_provider_requests_waiting_seconds{provider="a",operation="create"}': '600x5',
                              'burstd_provider_requests_waiting_seconds{provider="a",operation="list"}': '900x5'}),
    ('BurstdBillsOn', 1, 1, {'burstd_nodes{pool="p",state="quarantined"}': '1x5'}),
    ('BurstdBillsOn', 20, 1, {'burstd_nodes{pool="p",state="indoubt"}': '1x20'}),
    ('BurstdBillsOn', 20, 0, {'burstd_nodes{pool="p",state="indoubt"}': '1x14 0 1x20',
                              'burstd_nodes{pool="p",state="quarantined"}': '0x40'}),
    ('BurstdStuck', 30, 2, {'burstd_nodes{pool="p",state="booting"}': '1x30',
                            'burstd_nodes{pool="p",state="deleting"}': '1x30'}),
    ('BurstdStuck', 30, 0, {'burstd_nodes{pool="p",state="booting"}': '2x20 0 2x20',
                            'burstd_nodes{pool="p",state="ready"}': '2x40'}),
    ('BurstdUnreadable', 1, 1, {'burstd_instances_unreadable': '1x5'}),
    ('BurstdUnreadable', 1, 0, {'burstd_instances_unreadable': '0x5'}),
    ('BurstdOrphans', 5, 1, {'burstd_strays_total': '0 0 1x9'}),
    ('BurstdOrphans', 70, 0, {'burstd_strays_total': '0 0 1x90'}),
    ('BurstdClockOff', 6, 2, {'burstd_provider_clock_ahead_seconds{provider="a"}': '60x9',
                              'burstd_provider_clock_ahead_seconds{provider="b"}': '-60x9'}),
    ('BurstdClockOff', 6, 0, {'burstd_provider_clock_ahead_seconds{provider="a"}': '59x9',
                              'burstd_provider_clock_ahead_seconds{provider="b"}': '-59x9'}),
    ('BurstdReclaims', 50, 1, {'burstd_notices_total{provider="a",kind="reclaim"}': '0+1x60'}),
    ('BurstdReclaims', 50, 0, {'burstd_notices_total{provider="a",kind="reclaim"}': '0x20 8x60',
                               'burstd_notices_total{provider="a",kind="rebalance"}': '0+1x60'}),
    ('BurstdPoolClosed', 1, 1, {'burstd_pool_blocked{pool="p"}': '1x5', 'burstd_pool_blocked{pool="q"}': '0x5'}),
    ('BurstdPoolClosed', 1, 0, {'burstd_pool_blocked{pool="q"}': '0x5'}),
    ('BurstdImageStopped', 1, 1, {'burstd_pool_image_offers{pool="p",stage="stopped"}': '1x5',
                                  'burstd_pool_image_offers{pool="q",stage="canary"}': '1x5'}),
    ('BurstdImageStopped', 1, 0, {'burstd_pool_image_offers{pool="p",stage="stopped"}': '0x5',
                                  'burstd_pool_image_offers{pool="p",stage="rolling"}': '1x5'}),
    ('BurstdNothingToBuy', 16, 1, {'burstd_offer_place{pool="p",offer="a"}': '0x30',
                                   'burstd_offer_place{pool="p",offer="b"}': '0x30',
                                   'burstd_offer_place{pool="q",offer=""}': '1x30',
                                   'burstd_pool_paused{pool="p"}': '0x30'}),
    ('BurstdNothingToBuy', 14, 0, {'burstd_offer_place{pool="p",offer="a"}': '0x30', 'burstd_pool_paused{pool="p"}': '0x30'}),
    ('BurstdNothingToBuy', 16, 0, {'burstd_offer_place{pool="p",offer="a"}': '0x30',
                                   'burstd_offer_place{pool="p",offer="b"}': '1x30',
                                   'burstd_pool_paused{pool="p"}': '0x30'}),
    ('BurstdNothingToBuy', 16, 0, {'burstd_offer_place{pool="p",offer="a"}': '0x30', 'burstd_pool_paused{pool="p"}': '1x30'}),
    ('BurstdUnpriced', 16, 1, {'burstd_unpriced_offers': '1x30'}),
    ('BurstdUnpriced', 14, 0, {'burstd_unpriced_offers': '1x30'}),
    ('BurstdUnpriced', 16, 0, {'burstd_unpriced_offers': '0x30'}),
    ('BurstdPriceOld', 61, 1, {'burstd_price_age_seconds{pool="p",offer=""}': '86401x90'}),
    ('BurstdPriceOld', 61, 0, {'burstd_price_age_seconds{pool="p",offer=""}': '86400x90'}),
    ('BurstdRefused', 50, 1, {'burstd_instances_refused_total': '0+1x60'}),
    ('BurstdRefused', 50, 0, {'burstd_instances_refused_total': '0x20 8x60'}),
    ('BurstdJobsWait', 61, 2, {'burstd_jobs_waiting{reason="quota"}': '3x90', 'burstd_jobs_waiting{reason="limit"}': '1x90'}),
    ('BurstdJobsWait', 59, 0, {'burstd_jobs_waiting{reason="quota"}': '3x90'}),
    ('BurstdJobsWait', 61, 0, {'burstd_jobs_waiting{reason="quota"}': '0x90', 'burstd_jobs_waiting{reason="capacity"}': '3x90',
                               'burstd_jobs_waiting{reason="budget"}': '3x90'}),
    ('BurstdNearLimit', 16, 1, {'burstd_pool_rate{pool="p",currency="EUR"}': '91x30',
                                'burstd_pool_max_rate{pool="p",currency="EUR"}': '100x30'}),
    ('BurstdNearLimit', 16, 0, {'burstd_pool_rate{pool="p",currency="EUR"}': '90x30',
                                'burstd_pool_max_rate{pool="p",currency="EUR"}': '100x30'}),
    ('BurstdFabricsApart', 16, 1, {'burstd_fabrics_apart{pool="p"}': '1x30'}),
    ('BurstdFabricsApart', 16, 0, {'burstd_fabrics_apart{pool="p"}': '0x30'}),
    ('BurstdJobsLost', 5, 1, {'burstd_jobs_taken_end_total{end="ended"}': '0 0 1x9'}),
    ('BurstdJobsLost', 5, 0, {'burstd_jobs_taken_end_total{end="ended"}': '1x9',
                              'burstd_jobs_taken_end_total{end="requeued"}': '0 0 1x9'}),
    ('BurstdKeysMisused', 5, 1, {'burstd_claims_breached_total': '0 0 1x9', 'burstd_node_misuses_total': '0x9'}),
    ('BurstdKeysMisused', 5, 1, {'burstd_claims_breached_total': '0x9', 'burstd_node_misuses_total': '0 0 1x9'}),
    ('BurstdKeysMisused', 5, 0, {'burstd_claims_breached_total': '2x9', 'burstd_node_misuses_total': '2x9'}),
    ('BurstdUnreached', 2, 1, {'burstd_listener_up': '0x5'}),
    ('BurstdUnreached', 2, 0, {'burstd_listener_up': '1x5'}),
    ('BurstdNoKeys', 6, 1, {'burstd_secrets_up': '0x9'}),
    ('BurstdNoKeys', 4, 0, {'burstd_secrets_up': '0x9'}),
    ('BurstdNoKeys', 6, 0, {'burstd_secrets_up': '1x9'}),
    ('BurstdKeysInFile', 61, 1, {'burstd_secrets_insecure': '1x90'}),
    ('BurstdKeysInFile', 61, 0, {'burstd_secrets_insecure': '0x90'}),
    ('BurstdRotationBlocked', 1, 1, {'burstd_rotation_blocked': '1x5'}),
    ('BurstdRotationBlocked', 1, 0, {'burstd_rotation_blocked': '0x5'}),
    ('BurstdHostsLeftOut', 1, 1, {'burstd_hosts_left_out': '1x5'}),
    ('BurstdHostsLeftOut', 1, 0, {'burstd_hosts_left_out': '0x5'}),
    ('BurstdListenerBusy', 5, 2, {'burstd_listener_refused_total{why="queue"}': '0 0 1x9',
                                  'burstd_listener_refused_total{why="late"}': '0 0 1x9'}),
    ('BurstdListenerBusy', 5, 0, {'burstd_listener_refused_total{why="unknown"}': '0 0 1x9',
                                  'burstd_listener_refused_total{why="late"}': '5x9'}),
    ('BurstdBudgetUsedUp', 1, 2, {'burstd_budget_left{budget="b",value="",currency="EUR"}': '0x5',
                                  'burstd_budget_left{budget="b",value="ann",currency="EUR"}': '-1x5'}),
    ('BurstdBudgetUsedUp', 1, 0, {'burstd_budget_left{budget="b",value="",currency="EUR"}': '0.01x5'}),
    ('BurstdBudgetBeyond', 1, 1, {'burstd_budget_beyond{budget="b",value="",currency="EUR"}': '0.5x5'}),
    ('BurstdBudgetBeyond', 1, 0, {'burstd_budget_beyond{budget="b",value="",currency="EUR"}': '0x5'}),
    ('BurstdBudgetForecast', 361, 1, {'burstd_budget_forecast{budget="b",value="",currency="EUR"}': '101x400',
                                      'burstd_budget_amount{budget="b",value="",currency="EUR"}': '100x400'}),
    ('BurstdBudgetForecast', 361, 0, {'burstd_budget_forecast{budget="b",value="",currency="EUR"}': '100x400',
                                      'burstd_budget_amount{budget="b",value="",currency="EUR"}': '100x400'}),
    ('BurstdAlertsFailed', 5, 1, {'burstd_alerts_total{state="failed"}': '0 0 1x9'}),
    ('BurstdAlertsFailed', 5, 0, {'burstd_alerts_total{state="failed"}': '1x9', 'burstd_alerts_total{state="delivered"}': '0+1x9'}),
    ('BurstdAlertsPending', 31, 1, {'burstd_alerts_pending{alert="desk"}': '1x60'}),
    ('BurstdAlertsPending', 29, 0, {'burstd_alerts_pending{alert="desk"}': '1x60'}),
    ('BurstdAlertsPending', 31, 0, {'burstd_alerts_pending{alert="desk"}': '0x60'}),
]

# record, labels of the series, minute, value, {series: values}
records = [
    ('cluster_currency:burstd_pool_rate:sum', 'currency="EUR"', 1, 42,
     {'burstd_pool_rate{pool="p",currency="EUR"}': '30x5', 'burstd_pool_rate{pool="q",currency="EUR"}': '12x5'}),
    ('cluster_pool:burstd_node_ready_seconds:p90_1h', 'pool="p"', 70, 100,
     {'burstd_node_stage_seconds_bucket{pool="p",offer="a",stage="ready",le="100"}': '0+9x90',
      'burstd_node_stage_seconds_bucket{pool="p",offer="a",stage="ready",le="200"}': '0+10x90',
      'burstd_node_stage_seconds_bucket{pool="p",offer="a",stage="ready",le="+Inf"}': '0+10x90',
      'burstd_node_stage_seconds_bucket{pool="p",offer="a",stage="boot",le="+Inf"}': '0+90x90'}),
    ('cluster_pool_offer_reason:burstd_offer_nodes_refused:increase1h', 'pool="p",offer="a",reason="quota"', 70, 60,
     {'burstd_offer_nodes_refused_total{pool="p",offer="a",reason="quota"}': '0+1x90'}),
]


def full(series):
    """up of burstd's target, a metric's series with the labels of its target"""
    name, _, labels = series.partition('{')
    return name + '{' + COMMON + (',' + labels if labels else '}')


def case(name, minute, expr, value, series):
    return {'interval': '1m', 'name': name,
            'input_series': [{'series': full(s), 'values': v} for s, v in series.items()],
            'promql_expr_test': [{'expr': expr, 'eval_time': '%dm' % minute,
                                  'exp_samples': [{'labels': '{}', 'value': value}]}]}


def tests():
    for i, (alert, minute, n, series) in enumerate(rows):
        labels = 'alertname="%s",alertstate="firing",severity=~"page|ticket"' % alert
        if alert != 'BurstdAbsent':
            labels += ',cluster="c"'
        yield case('row %d, %s' % (i, alert), minute, 'count(ALERTS{%s}) or vector(0)' % labels, n, series)
    for record, labels, minute, value, series in records:
        yield case(record, minute, 'sum(%s{cluster="c",%s})' % (record, labels), value, series)


def complain(problems):
    for p in problems:
        print('# ' + p)
    return not problems


def unproved(text):
    """alerts and records without a row that fires and one that rests"""
    for alert in re.findall(r'^ *- alert: (\S+)', text, re.M):
        mine = [n for a, _, n, _ in rows if a == alert]
        if not any(mine) or all(mine):
            yield '%s: no row in which it %s' % (alert, 'rests' if any(mine) else 'fires')
    for record in re.findall(r'^ *- record: (\S+)', text, re.M):
        if record not in [r[0] for r in records]:
            yield '%s has no row' % record
    known = re.findall(r'^ *- (?:alert|record): (\S+)', text, re.M)
    for name in [r[0] for r in rows] + [r[0] for r in records]:
        if name not in known:
            yield '%s is in no file of rules' % name
    if len(set(known)) != len(known):
        yield 'a name is there twice'


def annotated():
    """What its reader gets, with labels and values in their places."""
    text = open(RULES + '/burstd-alerts.yml').read()
    labels = {'cluster': 'c', 'job': 'burstd', 'instance': 'h:9818', 'budget': 'b', 'value': 'ann', 'currency': 'EUR',
              'severity': 'ticket'}
    what = re.search(r"alert: BurstdBudgetUsedUp\n.*?description: '([^']*)'", text, re.S).group(1)
    return {'interval': '1m', 'name': 'annotations',
            'input_series': [{'series': full('burstd_budget_left{budget="b",value="ann",currency="EUR"}'), 'values': '-1x5'}],
            'alert_rule_test': [{'eval_time': '1m', 'alertname': 'BurstdBudgetUsedUp', 'exp_alerts': [{
                'exp_labels': labels,
                'exp_annotations': {'summary': 'budget b of ann has nothing left',
                                    'description': what.replace('{{ $labels.budget }}', 'b'),
                                    'runbook': 'docs/budgets.md'}}]}]}


def main():
    files = sorted(os.path.abspath(os.path.join(RULES, f)) for f in os.listdir(RULES))
    text = ''.join(open(f).read() for f in files)
    build = os.path.join(os.environ.get('BUILD', 'build'), 'monitoring')
    os.makedirs(build, exist_ok=True)
    path = os.path.join(build, 'alerts.test.json')  # JSON is YAML
    with open(path, 'w') as f:
        json.dump({'rule_files': files, 'evaluation_interval': '1m', 'tests': list(tests()) + [annotated()]}, f, indent=1)
    print('1..3')
    ok = [complain(list(unproved(text)))]
    print(('ok' if ok[-1] else 'not ok') + ' 1 - each rule has a row in which it fires, and one in which it rests')
    for n, what, args in ((2, 'the rules are valid', ['check', 'rules'] + files), (3, 'they fire when they should', ['test', 'rules', path])):
        p = subprocess.run(['promtool'] + args, capture_output=True, text=True)
        ok.append(p.returncode == 0)
        if not ok[-1]:
            print('\n'.join('# ' + line for line in (p.stdout + p.stderr).splitlines()[:60]))
        print('%s %d - %s' % ('ok' if ok[-1] else 'not ok', n, what))
    return 0 if all(ok) else 1


if __name__ == '__main__':
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
    if not any(os.access(os.path.join(d, 'promtool'), os.X_OK) for d in os.environ['PATH'].split(':')):
        print('1..0 # SKIP there is no promtool: Debian has it in the package prometheus')
        sys.exit(0)
    sys.exit(main())
