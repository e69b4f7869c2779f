"""focus.py PROGRAM VENV: FOCUS data sets that PROGRAM writes, by the validator in VENV, as TAP.

The validator exits with 0 whatever it finds, so its lines are read.  By itself it applies few rules: which it applies
depends on what the provider can do (criteria).  Told these it applies all that a file can show, and then:
  a rule that fails must be one of those below, with the reason;
  a rule that is skipped, of a column that is in the file, must be one that no file can show.
Then a file is spoilt in several ways, and the validator must notice each: else it would not have looked.  Rules that
hold unless ChargeClass is "Correction" it applies to no row where that is null, so to none of ours; for these, products
of prices and quantities among them, and for forms of times and tags, the unit test has another checker.
"""
import csv
import decimal
import glob
import os
import re
import subprocess
import sys
import tempfile

import tap

CRITERIA = """ACCOUNT_NAMING_SUPPORTED AVAILABILITY_ZONE_SUPPORTED MULTIPLE_PRICING_CATEGORIES_SUPPORTED
    PUBLIC_PRICE_LIST_SUPPORTED USAGE_MEASUREMENT_SUPPORTED UNIT_PRICING_SUPPORTED SUB_ACCOUNT_SUPPORTED
    BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED RESOURCE_TYPE_ASSIGNMENT_SUPPORTED REGION_SUPPORTED
    TAGGING_SUPPORTED""".split()

# One of C-004 (must be null) and C-005 (must not be) fails with any file: which one is right it cannot know.  The rule
# above them, InvoiceId-C-003, says that one of them holds, and must pass.
INVOICE = {"InvoiceId-C-005-C"}
# For these one of several criteria is enough for the validator; they want prices in a currency of their own.
CURRENCY = re.compile(r"PricingCurrency\w*-C-|CostAndUsage-D-0(4[6-9]|5[0-8])-")
# What no file can show, in the validator's words.
NEVER = ("validation is dynamic", "MAY/OPTIONAL", "not yet implemented", "all child rules were skipped",
         "upstream dependency was skipped")

program, venv = sys.argv[1:3]
program = os.path.abspath(program)
# Beside its packages it finds its list of currencies, else not.
site = glob.glob(os.path.join(os.path.abspath(venv), "lib", "python3*", "site-packages"))[0]
tests = []


def test(fn):
    tests.append(fn)
    return fn


def write(view, seed, count, version="1.2"):
    """The file's rows, and the ledger's sum in nano-units."""
    done = subprocess.run([program, version, view, str(seed), str(count)], capture_output=True, check=True, timeout=60)
    text = done.stdout.decode("ascii")
    return list(csv.reader(text.splitlines())), int(done.stderr)


def with_column(rows, name):
    """An empty column before the custom ones: rules about ours mention it."""
    at = next(i for i, c in enumerate(rows[0]) if c.startswith("x_"))
    return [r[:at] + [name if n == 0 else ""] + r[at:] for n, r in enumerate(rows)]


def validate(rows, *options):
    """({rule: what was wrong}, {rule: why it was skipped}, how many passed)"""
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows(rows)
        f.flush()
        out = subprocess.run([sys.executable, "-m", "focus_validator.main", "--data-file", f.name,
                              "--validate-version", "1.2.0.1", "--block-download", *options],
                             capture_output=True, text=True, cwd=site, timeout=300, check=False)
    total = re.search(r"^Total: (\d+) \| Pass: (\d+) \| Fail: (\d+) \| Skipped: (\d+)$", out.stdout, re.M)
    assert total, out.stdout[-1000:] + out.stderr[-1000:]
    failed = dict(re.findall(r"^\S+ (\S+): FAIL +\((.*)\)$", out.stdout, re.M))
    skipped = dict(re.findall(r"^\S+ (\S+): SKIPPED +\(.*?reason=(.*?), msg=", out.stdout, re.M))
    assert len(failed) == int(total[3]) and len(skipped) == int(total[4]), "not all lines were understood"
    print(f"# passed {total[2]}, skipped {total[4]}, failed {total[3]}")
    return failed, skipped, int(total[2])


def validate_all(rows):
    return validate(with_column(rows, "CommitmentDiscountStatus"), "--applicability-criteria", ",".join(CRITERIA))


def check(view, seed, count):
    rows, nano = write(view, seed, count)
    columns = set(rows[0])
    failed, _, passed = validate(rows)
    assert set(failed) == INVOICE, failed
    assert passed > 100
    failed, skipped, passed = validate_all(rows)
    wrong = {k: v for k, v in failed.items() if k not in INVOICE and not CURRENCY.match(k)}
    assert not wrong, wrong
    assert passed > 200
    left = {k: v for k, v in skipped.items()
            if k.split("-")[0] in columns and not any(w in v for w in NEVER)}
    assert not left, left
    at = rows[0].index("BilledCost")
    assert sum(decimal.Decimal(r[at]) for r in rows[1:]) * 10**9 == nano


@test
def provider_view():
    check("provider", 1, 3000)


@test
def internal_view():
    check("internal", 2, 3000)


@test
def a_few_charges():
    check("provider", 3, 2)
    check("internal", 4, 1)


@test
def a_month_that_is_invoiced():
    rows, _ = write("provider", 7, 500)
    failed, _, _ = validate(spoil(rows, "InvoiceId", lambda v: "invoice:E-1"))
    assert set(failed) == {"InvoiceId-C-004-C"}, failed


def spoil(rows, column, change):
    at = rows[0].index(column)
    return [rows[0]] + [r[:at] + [change(r[at])] + r[at + 1:] for r in rows[1:]]


@test
def the_validator_notices_what_is_wrong():
    rows, _ = write("provider", 5, 300)
    ways = {
        "costs without a point": ("BilledCost", lambda v: v.split(".", maxsplit=1)[0], "BilledCost-C-001-M"),
        "another issuer": ("InvoiceIssuerName", lambda v: "Somebody", "BilledCost-C-005-C"),
        "a negative price": ("ListUnitPrice", lambda v: v and "-1.5", "ListUnitPrice-C-008-M"),
        "accounts of digits": ("BillingAccountId", lambda v: "123456789012", "BillingAccountId-C-002-M"),
        "letters beyond ASCII": ("ResourceName", lambda v: v and "J\u00fc", "ResourceName-C-002-M"),
        "no service": ("ServiceName", lambda v: "", "ServiceName-C-003-M"),
        "no such currency": ("BillingCurrency", lambda v: "EURO", "BillingCurrency-C-003-M"),
    }
    missed = []
    for what, (column, change, rule) in ways.items():
        failed, _, _ = validate_all(spoil(rows, column, change))
        new = {k for k in failed if k not in INVOICE and not CURRENCY.match(k)}
        print(f"# {what}: {sorted(new)[:6]}")
        if rule not in new:
            missed.append((what, rule, new))
    assert not missed, missed


@test
def version_1_4_has_the_same_money():
    for view in ("provider", "internal"):
        rows, nano = write(view, 6, 1000, "1.4")
        at = rows[0].index("BilledCost")
        assert sum(decimal.Decimal(r[at]) for r in rows[1:]) * 10**9 == nano
        assert not {"ProviderName", "PublisherName"} & set(rows[0])


sys.exit(1 if tap.run(tests, lambda fn: fn()) else 0)
