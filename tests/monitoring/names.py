#!/usr/bin/env python3
"""What rules, boards and their documents name is there: metrics and their labels, alerts, headings of the documents, and for
each problem that docs/operations.md has of `burstctl status` an alert, or a reason why nobody is to be called."""
import os
import re
import sys

RULES = 'scripts/monitoring/rules'
BOARDS = 'scripts/monitoring/boards'
OF_TARGET = {'cluster', 'job', 'instance', 'le'}  # of Prometheus, or of burstd's target
WORDS = {'on', 'by', 'without', 'ignoring'}

# Part of the problem's words, in the order of docs/operations.md, and its alert; or why there is none.
PROBLEMS = [
    ('disk full:', 'BurstdDiskFull'),
    ('nodes cannot reach burstd', 'BurstdUnreached'),
    ('/metrics is not served', 'BurstdDown'),
    ('claims of keys were misused', 'BurstdKeysMisused'),
    ('spoke for another one', 'BurstdKeysMisused'),
    ('missing in the list of node names', 'BurstdHostsLeftOut'),
    ('has given out no keys for', 'BurstdNoKeys'),
    ("the cluster's keys are in a plain file", 'BurstdKeysInFile'),
    ('nodes: node_init:', 'BurstdProblem'),
    ('the rotation of', 'BurstdRotationBlocked'),
    ('slurmctld does not answer', 'BurstdSlurmSilent'),
    ('slurmctld has not answered since', 'BurstdSlurmSilent'),
    ('is off:', 'BurstdProviderOff'),
    ('any more; ...', 'BurstdProblem'),
    ('does not answer:', 'BurstdProviderSilent'),
    ('has not answered since burstd started', 'BurstdProviderSilent'),
    ('slurm.conf (error)', 'BurstdSlurmConf'),
    ("it denied burstd's requests", 'BurstdProviderOff'),
    ('the quota for', 'BurstdNoQuota'),
    ('publishes no prices', 'BurstdUnpriced'),
    ('does not offer type', 'BurstdUnpriced'),
    ('paused by an admin', '- an admin did so; who forgets it is told by BurstdProblem after six hours'),
    ('its new image` *image* `was stopped', 'BurstdImageStopped'),
    ('its nodes come up wrong', 'BurstdPoolClosed'),
    ('slurmctld counts GPUs there as used', 'BurstdProblem'),
    ('is quarantined', 'BurstdBillsOn'),
    ('deletes fail:', 'BurstdStuck'),
    ('the clock here is', 'BurstdClockOff'),
    ('hops from each other', 'BurstdFabricsApart'),
    ('does not say where its machines are', 'BurstdProblem'),
    ('fabrics that no node needs', 'BurstdProblem'),
    ('has the tag of this cluster, but', 'BurstdUnreadable'),
    ('that the journal did not know', 'BurstdOrphans'),
    ('is in no journal and was still there', 'BurstdOrphans'),
    ('is in no journal, and slurmctld has its node', 'BurstdOrphans'),
    ('more such instances stay', 'BurstdOrphans'),
    ('more instances have tags that cannot be read', 'BurstdUnreadable'),
    ('more nodes are quarantined', 'BurstdBillsOn'),
    ('max_rate is 0', 'BurstdProblem'),
    ('and its cheapest node costs', 'BurstdNothingToBuy'),
    ('machines were taken by the provider', 'BurstdReclaims'),
    ('the price of ... is not known', 'BurstdUnpriced'),
    ('the price of ... is` *time* `old', 'BurstdPriceOld'),
    ('was refused` *time* `ago', 'BurstdRefused'),
    ('could not have its nodes', 'BurstdJobsWait'),
    ('nodes are in doubt for over 10m', 'BurstdBillsOn'),
]


def read(path):
    with open(path) as f:
        return f.read()


def files(directory):
    return [os.path.join(directory, f) for f in sorted(os.listdir(directory))]


def table(text, head):
    """The cells of the rows of the table that begins so."""
    rows = text[text.index(head):].split('\n\n')[0].splitlines()[2:]
    return [re.split(r'(?<!\\)\|', row)[1:-1] for row in rows]


def metrics():
    """{metric: its labels}"""
    out = {}
    for cells in table(read('docs/operations.md'), '| metric | type | labels |'):
        name = cells[0].strip(' `')
        labels = re.sub(r'`([a-z]+)`', r'\1', cells[2]).split(':')[0]
        out[name] = set(re.findall(r'[a-z]+', labels))
        if cells[1].strip() == 'histogram':
            for suffix in ('_bucket', '_sum', '_count'):
                out[name + suffix] = out[name]
    return out


def unknown(known):
    recorded = set(re.findall(r'record: (\S+)', ''.join(map(read, files(RULES)))))
    for path in files(RULES) + files(BOARDS) + ['docs/monitoring.md', 'scripts/monitoring/prometheus.yml', 'scripts/monitoring/boards.py']:
        text = read(path)
        for r in recorded:
            text = text.replace(r, '')
        for name in sorted(set(re.findall(r'\bburstd_[a-z_0-9]+', text))):
            if name not in known:
                yield '%s: there is no metric %s' % (path, name)
        for name, matchers in re.findall(r'\b(burstd_[a-z_]+)\{([^}]*)\}', text.replace('\\"', '"')):
            for label in re.findall(r'([a-z_]+)(?:=~|!~|!=|=)"', matchers):
                if name in known and label not in known[name] | OF_TARGET:
                    yield '%s: %s has no label %s' % (path, name, label)


def values(known):
    """A matcher must name values that there are: by the recorded minutes, which have a series for each, be it 0."""
    there = {}
    for line in read('tests/monitoring/recorded.txt').splitlines():
        m = re.match(r'^([a-z_]+)\{(.*)\} ', line)
        for label, value in re.findall(r'([a-z_]+)="([^"]*)"', m.group(2)) if m else ():
            there.setdefault((m.group(1), label), set()).add(value)
    for path in files(RULES) + files(BOARDS):
        for name, matchers in re.findall(r'\b(burstd_[a-z_]+)\{([^}]*)\}', read(path).replace('\\"', '"')):
            for label, alternatives in re.findall(r'([a-z_]+)=~?"([^"$]*)"', matchers):
                for value in alternatives.split('|'):
                    if name in known and value not in there.get((name, label), ()):
                        yield '%s: no %s has %s="%s"' % (path, name, label, value)


def annotations():
    text = read(RULES + '/burstd-alerts.yml')
    for block in re.split(r'\n  - alert: ', text)[1:]:
        name = block.split('\n')[0]
        for key in ('severity: (page|ticket)\n', "summary: '.+'\n", "description: '.+'\n", "runbook: 'docs/.+'\n"):
            if not re.search(key, block + '\n'):
                yield '%s has no %s' % (name, key.split(':')[0])
        runbook = re.search(r"runbook: '([^'#]*)#?([^']*)'", block)
        if runbook is None or not os.path.exists(runbook.group(1)):
            yield '%s: its runbook is not there' % name
        elif runbook.group(2) and runbook.group(2) not in anchors(read(runbook.group(1))):
            yield '%s: %s has no heading %s' % (name, runbook.group(1), runbook.group(2))


def anchors(text):
    heads = re.findall(r'^#+ *(.*)$', text, re.M)
    return [re.sub(r'[^a-z0-9_-]', '', h.lower().replace(' ', '-')) for h in heads]


def labels_of_templates(known):
    """An annotation must not name a label that the alert's series does not have."""
    for block in re.split(r'\n  - alert: ', read(RULES + '/burstd-alerts.yml'))[1:]:
        name, expr = block.split('\n')[0], re.search(r'expr: (.*)', block).group(1)
        has = set(OF_TARGET)
        by = re.search(r'\bby \(([^)]*)\)', expr)
        for metric in re.findall(r'burstd_[a-z_]+', expr):
            has |= known.get(metric, set())
        if by:
            has = set(re.findall(r'[a-z]+', by.group(1)))
        for label in re.findall(r'\$labels\.([a-z]+)', block):
            if label not in has:
                yield '%s: its series have no label %s' % (name, label)


def alerts():
    """The document has each alert, with its severity, and no other."""
    rules = dict(re.findall(r'- alert: (\S+)\n.*?severity: (\S+)', read(RULES + '/burstd-alerts.yml'), re.S))
    documented = {c[0].strip(' `'): c[1].strip() for c in table(read('docs/monitoring.md'), '| alert | severity |')}
    for name in sorted(set(rules) | set(documented)):
        if rules.get(name) != documented.get(name):
            yield 'docs/monitoring.md: %s: %s, in rules %s' % (name, documented.get(name), rules.get(name))


def problems():
    known = re.findall(r'- alert: (\S+)', read(RULES + '/burstd-alerts.yml'))
    rows = [c[0] for c in table(read('docs/operations.md'), '| problem | what it means |')]
    if len(rows) != len(PROBLEMS):
        yield 'docs/operations.md has %d problems, and here are %d' % (len(rows), len(PROBLEMS))
    for row, (words, alert) in zip(rows, PROBLEMS):
        if words not in row:
            yield 'docs/operations.md: %s: here stands "%s"' % (row.strip()[:70], words)
        if not alert.startswith('- ') and alert not in known:
            yield '%s: there is no alert %s' % (words, alert)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
    known = metrics()
    checks = [('metrics and labels are burstd\'s', unknown(known)),
              ('label values are burstd\'s', values(known)), ('each alert says what to do, and where that stands', annotations()),
              ('annotations name labels that there are', labels_of_templates(known)), ('alerts are documented', alerts()),
              ('each problem of burstctl status has an alert', problems())]
    print('1..%d' % len(checks))
    bad = 0
    for i, (what, wrong) in enumerate(checks):
        wrong = list(wrong)
        bad += bool(wrong)
        for w in wrong:
            print('# ' + w)
        print('%s %d - %s' % ('not ok' if wrong else 'ok', i + 1, what))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
