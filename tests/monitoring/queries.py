#!/usr/bin/env python3
"""Every query of every board, and the expression of every rule, on a real Prometheus that has the recorded minutes.

recorded.txt is what burstd said of some busy minutes in the lab (record.bats); dcgm.txt has what DCGM's exporter would have
said of its nodes, written by hand.  A query must give series, or be in the list below, of what is empty in good times.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import record  # noqa: E402

BEGIN = 1793520000  # 2026-11-01T08:00:00Z
HERE = 'tests/monitoring'
BOARDS = 'scripts/monitoring/boards'
RULES = 'scripts/monitoring/rules'

# Board and title of panels of which nothing is to be seen in good times, and why.
EMPTY = {
    ('burstd-fleet', 'XID errors, the last of each GPU'): 'no GPU is broken',
    ('burstd-money', 'More than the amount that may be spent'): 'no budget is exceeded',
}


def series_of():
    step, series = record.read(open(HERE + '/recorded.txt').read())
    dcgm_step, dcgm = record.read(open(HERE + '/dcgm.txt').read())
    assert dcgm_step == step
    out = {}
    for name, values in series.items():
        metric, _, labels = name.partition('{')
        # As with honor_labels: what the target has of labels comes to what the page has.
        more = 'job="burstd",instance="127.0.0.1:9818"'
        if 'cluster="' not in labels:
            more += ',cluster="lab"'
        out['%s{%s%s' % (metric, more, ',' + labels if labels else '}')] = values
    out.update(dcgm)
    out['up{job="burstd",instance="127.0.0.1:9818",cluster="lab"}'] = [1.0] * max(map(len, series.values()))
    return step, out


def openmetrics(step, series):
    lines = []
    for name, values in series.items():
        is_time = '_timestamp_seconds' in name or 'start_time' in name
        for i, v in enumerate(values):
            if v is not None:
                lines.append('%s %r %d' % (name, v + BEGIN if is_time and v else v, BEGIN + i * step))
    return '\n'.join(lines) + '\n# EOF\n'


class Server:
    """A Prometheus on loopback that scrapes nothing."""

    def __init__(self, directory, text):
        source = os.path.join(directory, 'recorded.om')
        config = os.path.join(directory, 'prometheus.yml')
        data = os.path.join(directory, 'data')
        with open(source, 'w') as f:
            f.write(text)
        with open(config, 'w') as f:
            f.write('global: {}\n')
        subprocess.run(['promtool', 'tsdb', 'create-blocks-from', 'openmetrics', source, data], check=True, capture_output=True)
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            self.port = s.getsockname()[1]
        self.log = open(os.path.join(directory, 'log'), 'w+')
        self.process = subprocess.Popen(
            ['prometheus', '--config.file=' + config, '--storage.tsdb.path=' + data, '--storage.tsdb.retention.time=100y',
             '--web.listen-address=127.0.0.1:%d' % self.port], stdout=self.log, stderr=self.log)

    def wait(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                urllib.request.urlopen('http://127.0.0.1:%d/-/ready' % self.port, timeout=2).read()
                return
            except OSError:
                time.sleep(0.1)
        self.log.seek(0)
        raise SystemExit('Bail out! Prometheus does not start: ' + self.log.read()[-500:])

    def ask(self, path, **args):
        url = 'http://127.0.0.1:%d/api/v1/%s?%s' % (self.port, path, urllib.parse.urlencode(args))
        try:
            return json.load(urllib.request.urlopen(url, timeout=30))
        except urllib.error.HTTPError as e:
            return json.load(e)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class Minutes:
    def __init__(self, server, step, n):
        self.server, self.step, self.n = server, step, n

    def labels(self, expr):
        """The labels of the series that the expression gives at some time in these minutes; a text: what is wrong with it."""
        r = self.server.ask('query_range', query=expr, start=BEGIN, end=BEGIN + self.n * self.step, step=self.step)
        if r['status'] != 'success':
            return r.get('error', 'failed')
        return [s['metric'] for s in r['data']['result']]

    def series(self, expr):
        """How many they are; likewise."""
        found = self.labels(expr)
        return found if isinstance(found, str) else len(found)

    def values(self, text):
        """How many values a query of a variable gives."""
        m = re.match(r'^label_values\((?:(.*), *)?([a-z_]+)\)$', text)
        r = self.server.ask('label/%s/values' % m.group(2), **{'match[]': m.group(1), 'start': BEGIN, 'end': BEGIN + self.n * self.step})
        return len(r['data']) if r['status'] == 'success' else r.get('error', 'failed')


def filled(expr):
    return expr.replace('$__rate_interval', '1m').replace('$cluster', 'lab').replace('$pool', '.*')


def look_at_board(name, minutes):
    board = json.load(open('%s/%s.json' % (BOARDS, name)))
    for panel in board['panels']:
        for target in panel.get('targets', []):
            found = minutes.labels(filled(target['expr']))
            if isinstance(found, str):
                yield '%s: %s: %s' % (panel['title'], found, target['expr'])
                continue
            if not found and (name, panel['title']) not in EMPTY:
                yield '%s: nothing to be seen: %s' % (panel['title'], target['expr'])
            # A series' name on the board is made of its labels.  The value of a budget is mostly "", which is no label.
            for label in re.findall(r'{{([a-z]+)}}', target.get('legendFormat', '')):
                if label != 'value' and found and not any(label in m for m in found):
                    yield '%s: no series has the label %s: %s' % (panel['title'], label, target['expr'])
    for v in board['templating']['list']:
        # Of Slurm's own exporters nothing is recorded.
        if v['type'] == 'query' and minutes.values(filled(v['query'])) in ([] if v['name'] == 'partition' else [0]):
            yield 'variable %s: no value: %s' % (v['name'], v['query'])


def look_at_empty(minutes):
    """A panel of the list that shows something, or is not there, should not be in it."""
    for (name, title), _ in EMPTY.items():
        board = json.load(open('%s/%s.json' % (BOARDS, name)))
        mine = [p for p in board['panels'] if p['title'] == title]
        if not mine:
            yield '%s has no panel "%s"' % (name, title)
        elif all(minutes.series(filled(t['expr'])) for p in mine for t in p['targets']):
            yield '%s: "%s" shows something' % (name, title)


def look_at_rules(minutes):
    for f in sorted(os.listdir(RULES)):
        for expr in re.findall(r'^ *expr: (.*)$', open(os.path.join(RULES, f)).read(), re.M):
            n = minutes.series(expr)
            if not isinstance(n, int):
                yield '%s: %s' % (n, expr)


def canaries(minutes):
    """What must not pass: a metric that there is not, and an expression that is none."""
    if minutes.series('burstd_nodez{cluster=~"lab"}') != 0:
        yield 'a misspelt metric gives series'
    if isinstance(minutes.series('sum by (pool (burstd_nodes)'), int):
        yield 'a broken expression is taken'
    if not minutes.series('burstd_nodes{cluster=~"lab"}'):
        yield 'the recorded minutes are not there'


def main():
    names = sorted(f[:-5] for f in os.listdir(BOARDS) if f.endswith('.json'))
    step, series = series_of()
    directory = tempfile.mkdtemp()
    server = Server(directory, openmetrics(step, series))
    try:
        server.wait()
        minutes = Minutes(server, step, max(map(len, series.values())))
        checks = [('what must not pass does not', canaries(minutes))]
        checks += [('%s: each query shows something' % n, look_at_board(n, minutes)) for n in names]
        checks += [('what is empty in good times is', look_at_empty(minutes)), ('each rule can be computed', look_at_rules(minutes))]
        print('1..%d' % len(checks))
        bad = 0
        for i, (what, problems) in enumerate(checks):
            problems = list(problems)
            bad += bool(problems)
            for p in problems:
                print('# ' + p)
            print('%s %d - %s' % ('not ok' if problems else 'ok', i + 1, what))
    finally:
        server.stop()
        shutil.rmtree(directory)
    return 1 if bad else 0


if __name__ == '__main__':
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
    if not shutil.which('prometheus') or not shutil.which('promtool'):
        print('1..0 # SKIP there is no Prometheus: Debian has it in the package prometheus')
        sys.exit(0)
    sys.exit(main())
