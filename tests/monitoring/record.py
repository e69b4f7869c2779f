#!/usr/bin/env python3
"""Pages of /metrics as one text that can be read and compared: a line for each series, with its values one after the other.

record.py DIR: the pages in DIR, each named by its time in seconds, become such a text.  As a module: read() one.

    # 5                                       seconds between two pages
    burstd_nodes{pool="h100",state="ready"} 0*12 1 2*30 -*3

`2*30`: 30 times 2; `-`: the series was not there.
"""
import os
import re
import sys

SAMPLE = re.compile(r'^([a-z_]+(?:\{.*\})?) (\S+)$')


def page(text):
    return dict(m.groups() for m in map(SAMPLE.match, text.splitlines()) if m)


def packed(values):
    out = []
    for v in values:
        if out and out[-1][0] == v:
            out[-1][1] += 1
        else:
            out.append([v, 1])
    return ' '.join(v if n == 1 else '%s*%d' % (v, n) for v, n in out)


def write(directory):
    times = sorted(int(f) for f in os.listdir(directory) if f.isdigit())
    pages = [page(open(os.path.join(directory, str(t))).read()) for t in times]
    step = round((times[-1] - times[0]) / (len(times) - 1))
    names = list(dict.fromkeys(name for p in pages for name in p))
    lines = ['# %d' % step]
    for name in names:
        # Times are those of the day of the recording: since its begin, so that two recordings compare.
        values = [p.get(name, '-') for p in pages]
        if '_timestamp_seconds' in name or 'start_time' in name:
            values = [v if v in ('-', '0.00') else '%.2f' % (float(v) - times[0]) for v in values]
        lines.append('%s %s' % (name, packed(values)))
    return '\n'.join(lines) + '\n'


def read(text):
    """(seconds between two pages, {series: [value or None]})"""
    lines = text.splitlines()
    series = {}
    for line in lines[1:]:
        if line.startswith('#'):
            continue
        name, _, rest = re.match(r'^([A-Za-z_]+(\{.*\})?) (.*)$', line).groups()
        values = []
        for word in rest.split(' '):
            v, _, n = word.partition('*')
            values += [None if v == '-' else float(v)] * int(n or 1)
        series[name] = values
    return int(lines[0].lstrip('# ')), series


if __name__ == '__main__':
    sys.stdout.write(write(sys.argv[1]))
