#!/usr/bin/env python3
"""sbom.py --source ARCHIVE --out FILE DEB...: what the packages consist of and need, as SPDX 2.3 (JSON).

Each package is described by its checksum; what it was made from is the archive of the sources.  What it needs is what dpkg
says: the libraries that its programs are linked with (dpkg-shlibdeps wrote them into Depends), at the version that is
installed here, which it was built against; and what it carries inside (Static-Built-Using).  Debug symbols are left out.  The
same packages on the same machine give the same bytes: the time is $SOURCE_DATE_EPOCH, the name space a hash of all checksums.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess

SUPPLIER = 'Organization: Debian'


def run(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def digest(path):
    with open(path, 'rb') as f:
        return hashlib.file_digest(f, 'sha256').hexdigest()


def ident(*words):
    return 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', '-'.join(words))


def release():
    with open('/etc/os-release', encoding='utf-8') as f:
        return re.search(r'^VERSION_CODENAME=(\S+)', f.read(), re.M).group(1)


def package(name, version, **more):
    known = {'versionInfo': version} if version else {}
    return {'SPDXID': ident(name, *known.values()), 'name': name, **known, 'downloadLocation': 'NOASSERTION',
            'filesAnalyzed': False, 'licenseConcluded': 'NOASSERTION', 'licenseDeclared': 'NOASSERTION',
            'copyrightText': 'NOASSERTION', **more}


def ours(name, version, path, purpose):
    return package(name, version, packageFileName=os.path.basename(path), primaryPackagePurpose=purpose,
                   licenseDeclared='Apache-2.0', licenseConcluded='Apache-2.0',
                   checksums=[{'algorithm': 'SHA256', 'checksumValue': digest(path)}])


def of_debian(name, version, arch):
    """One of Debian's, by its binary or, for what is linked statically, its source package."""
    purl = f'pkg:deb/debian/{name}@{version.replace("+", "%2B").replace(":", "%3A")}?arch={arch}&distro={release()}'
    return package(name, version, supplier=SUPPLIER, externalRefs=[
        {'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl', 'referenceLocator': purl}])


def installed(name):
    """The installed package of that name, or none: a virtual one, or an alternative that is not there."""
    done = subprocess.run(['dpkg-query', '-W', '-f', '${db:Status-Status} ${Version} ${Architecture}\n', name],
                          capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        status, *more = line.split()
        if status == 'installed':
            return of_debian(name, *more)
    return None


def needed(field):
    """Of each dependency the alternative that is installed here; without a version if none is."""
    for alternatives in filter(None, (d.strip() for d in field.split(','))):
        names = [re.match(r'[a-z0-9][a-z0-9+.-]*', a.strip()).group(0) for a in alternatives.split('|')]
        yield next(filter(None, map(installed, names)), None) or package(names[0], None, supplier=SUPPLIER)


def inside(field):
    for name, version in re.findall(r'(\S+) \(= ([^)]+)\)', field):
        yield of_debian(name, version, 'source')


class Document:
    def __init__(self):
        self.packages = {}
        self.relationships = []

    def add(self, one):
        self.packages[one['SPDXID']] = one
        return one['SPDXID']

    def relate(self, one, kind, other):
        self.relationships.append({'spdxElementId': one, 'relationshipType': kind, 'relatedSpdxElement': other})

    def add_deb(self, path, source):
        names = ('Package', 'Version', 'Depends', 'Pre-Depends', 'Static-Built-Using')
        field = {n: run('dpkg-deb', '-f', path, n).strip() for n in names}
        me = self.add(ours(field['Package'], field['Version'], path, 'INSTALL'))
        self.relate('SPDXRef-DOCUMENT', 'DESCRIBES', me)
        self.relate(me, 'GENERATED_FROM', source)
        for n in ('Pre-Depends', 'Depends'):
            for other in needed(field[n]):
                self.relate(me, 'DEPENDS_ON', self.add(other))
        for other in inside(field['Static-Built-Using']):
            self.relate(me, 'STATIC_LINK', self.add(other))

    def whole(self, name):
        sums = ''.join(c['checksumValue'] for p in self.packages.values() for c in p.get('checksums', ()))
        made = datetime.datetime.fromtimestamp(int(os.environ['SOURCE_DATE_EPOCH']), datetime.timezone.utc)
        return {'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': name,
                'documentNamespace': f'https://spdx.org/spdxdocs/{name}-{hashlib.sha256(sums.encode()).hexdigest()}',
                'creationInfo': {'created': made.strftime('%Y-%m-%dT%H:%M:%SZ'), 'creators': ['Tool: burstd-sbom']},
                'packages': list(self.packages.values()), 'relationships': self.relationships}


def main():
    options = argparse.ArgumentParser()
    options.add_argument('--source', required=True)
    options.add_argument('--out', required=True)
    options.add_argument('deb', nargs='+')
    args = options.parse_args()
    document = Document()
    version = re.search(r'_([^_]+)\.orig\.tar', args.source).group(1)
    source = document.add(ours('burstd-source', version, args.source, 'SOURCE'))
    for path in sorted(p for p in args.deb if '-dbgsym_' not in p):
        document.add_deb(path, source)
    with open(args.out, 'w', encoding='utf-8') as f:
        json.dump(document.whole(os.path.basename(args.out).removesuffix('.spdx.json')), f, indent=1)
        f.write('\n')


if __name__ == '__main__':
    main()
