"""Tests in Python as TAP."""
import traceback


def run(tests, call):
    """Call call(fn) for each fn in tests; true if one raised."""
    failed = False
    print(f"1..{len(tests)}", flush=True)
    for n, fn in enumerate(tests, 1):
        name = fn.__name__.replace("_", " ")
        try:
            call(fn)
            print(f"ok {n} - {name}", flush=True)
        except Exception as e:  # pylint: disable=broad-except  # whatever it is, the test has failed
            failed = True
            print(f"not ok {n} - {name}\n# {type(e).__name__}: {str(e)[:2000]}", flush=True)
            print("# " + traceback.format_exc().rstrip()[-3000:].replace("\n", "\n# "), flush=True)
    return failed
