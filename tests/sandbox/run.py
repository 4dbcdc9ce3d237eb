#!/usr/bin/env python3
"""The escape suite: run.py bwrap|landlock [case...]. Each case has a box of its own; as root they run a second time as nobody."""
import concurrent.futures
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import box  # noqa: E402
import cases_files  # noqa: E402
import cases_git  # noqa: E402
import cases_limits  # noqa: E402
import cases_network  # noqa: E402
import cases_power  # noqa: E402
import cases_work  # noqa: E402

SKIP = 77
MODULES = [cases_files, cases_git, cases_limits, cases_network, cases_power, cases_work]


def all_cases(kind, names):
    found = []
    for module in MODULES:
        for name, f in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("case_") or kind not in getattr(f, "kinds", ("bwrap", "landlock")):
                continue
            if not names or name[5:] in names:
                found.append((f"{module.__name__[6:]}.{name[5:]}", f))
    return found


def run_case(kind, f, uid):
    b = box.Box(kind, uid)
    try:
        f(b)
        return None
    except box.Failed as e:
        return str(e)
    except Exception:  # a broken case is a failed one
        return traceback.format_exc()
    finally:
        b.remove()


def main():
    kind, names = sys.argv[1], sys.argv[2:]
    probe = subprocess.run([box.TOOL, "--probe"], capture_output=True, text=True, check=True)
    if not json.loads(probe.stdout)[kind]:
        print(f"skipped: {probe.stderr.strip()}")
        return SKIP
    if not box.PYTHON:
        print("skipped: no python3 of the system's")
        return SKIP
    accounts = [None, box.NOBODY] if os.geteuid() == 0 else [None]
    jobs = [(f"{n} ({'nobody' if u else 'this account'})", f, u) for u in accounts for n, f in all_cases(kind, names)
            if not (u is None and getattr(f, "never_root", False) and os.geteuid() == 0)]
    failed = 0
    shared = tempfile.mkdtemp(prefix="yare-tool-", dir="/var/tmp")
    os.chmod(shared, 0o755)
    box.COPY = shutil.copy(box.TOOL, shared)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        results = [(name, pool.submit(run_case, kind, f, uid)) for name, f, uid in jobs]
        for name, future in results:
            text = future.result()
            failed += text is not None
            if text is not None:
                print(f"FAILED {name}\n    " + text.replace("\n", "\n    "))
    shutil.rmtree(shared)
    print(f"{len(jobs)} cases, {failed} failed")
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
