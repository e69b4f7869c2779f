#!/usr/bin/env python3
"""xlsx.py FILE: the cells of a workbook as CSV (sheet, row, column, kind, value), for test_xlsx.c.  kind: n, s (text) or
f (formula).  All parts are read as XML, so that one which is not well formed is an error."""
import csv
import re
import sys
import xml.etree.ElementTree as ET
import zipfile

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def text_of(element):
    return "".join(t.text or "" for t in element.iter(MAIN + "t"))


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["sheet", "row", "column", "kind", "value"])
    with zipfile.ZipFile(sys.argv[1]) as z:
        assert z.testzip() is None
        parts = {n: ET.fromstring(z.read(n)) for n in z.namelist() if n.endswith((".xml", ".rels"))}
    shared = [text_of(s) for s in parts["xl/sharedStrings.xml"].iter(MAIN + "si")] \
        if "xl/sharedStrings.xml" in parts else []
    for n, s in enumerate(parts["xl/workbook.xml"].iter(MAIN + "sheet"), 1):
        for c in parts[f"xl/worksheets/sheet{n}.xml"].iter(MAIN + "c"):
            letters, row = re.fullmatch(r"([A-Z]+)(\d+)", c.get("r")).groups()
            kind = c.get("t", "n")
            v = c.find(MAIN + "v")
            value = text_of(c) if kind == "inlineStr" else shared[int(v.text)] if kind == "s" else v.text
            kind = "f" if c.find(MAIN + "f") is not None else "n" if kind == "n" else "s"
            out.writerow([s.get("name"), row, letters, kind, value])


sys.stdout.reconfigure(encoding="utf-8")
main()
