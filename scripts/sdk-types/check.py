#!/usr/bin/env python3
"""Holds bodies of requests against the types that their vendors publish.

    check.py --ready      whether the packages of requirements.txt are installed in these versions (status 3 if not)
    check.py --self-test  bodies that are wrong in known ways must be found, in each package's types
    check.py FILE         each line of FILE is {"vendor", "sample", "body"}; prints a table and each fault

Status 0 when all is well, 1 when a body or a list of vendors.py is wrong, 3 when packages are missing.
"""

import collections
import importlib.metadata
import json
import pathlib
import sys

NOT_READY = 3
HERE = pathlib.Path(__file__).resolve().parent
# The same fault in many bodies is told once, with as many of them by name.
NAMED_SAMPLES = 3


def pinned():
    lines = (HERE / "requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def missing():
    """What is not installed as requirements.txt has it."""
    for package, wanted in pinned().items():
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            yield f"{package} is not installed"
            continue
        if found != wanted:
            yield f"{package} is {found}, not {wanted}"


class Judge:
    """Judges the bodies of one vendor and counts what it sees."""

    def __init__(self, vendor):
        from walker import Walker

        self.vendor = vendor
        self.kind = vendor.load()
        self.walker = Walker(vendor.extra_kinds(), vendor.stand_ins)
        self.bodies = 0
        self.used = collections.Counter()
        self.samples_of = collections.defaultdict(list)

    def read(self, sample, body):
        self.bodies += 1
        for fault in self.walker.faults(self.kind, body):
            exempt = next((exempt for exempt in self.vendor.exempt if exempt.covers(fault)), None)
            if exempt is None:
                self.samples_of[str(fault)].append(sample)
            else:
                self.used[exempt] += 1

    def unused(self):
        """Members and exceptions that no body needed."""
        used = {member for _, member in self.walker.used}
        for extra in self.vendor.extras:
            if extra.member not in used:
                yield f"the member `{extra.member}` of {extra.source} stands in no body: take it out of vendors.py"
        for exempt in self.vendor.exempt:
            if exempt not in self.used:
                yield f"the exception for {exempt.path} ({exempt.problem}) is needed by no body: take it out of vendors.py"

    def wrong(self):
        for fault, samples in self.samples_of.items():
            more = f" and {len(samples) - NAMED_SAMPLES} more" if len(samples) > NAMED_SAMPLES else ""
            yield f"{fault} (in {', '.join(samples[:NAMED_SAMPLES])}{more})"
        yield from self.unused()


def check(file):
    from vendors import VENDORS

    judges = {}
    # Not by splitlines, which also ends lines at characters that stand in texts.
    for line in file.read_text(encoding="utf-8").split("\n"):
        if not line:
            continue
        case = json.loads(line)
        name = case["vendor"]
        if name not in judges:
            judges[name] = Judge(VENDORS[name])
        judges[name].read(case["sample"], case["body"])
    if not judges:
        print(f"{file} holds no bodies")
        return 1
    print(f"{'vendor':<20} {'types of':<20} {'bodies':>6} {'faults':>6} {'exceptions':>10}")
    for name, judge in judges.items():
        package = f"{judge.vendor.package} {pinned()[judge.vendor.package]}"
        faults = len(list(judge.wrong()))
        print(f"{name:<20} {package:<20} {judge.bodies:>6} {faults:>6} {len(judge.used):>10}")
    for name, judge in judges.items():
        for exempt in judge.used:
            print(f"{name}: let pass {exempt.path}, which {exempt.problem}: {exempt.reason} ({exempt.source})")
    wrong = [f"{name}: {line}" for name, judge in judges.items() for line in judge.wrong()]
    print("\n".join(wrong))
    return 1 if wrong else 0


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    absent = list(missing())
    if absent:
        print("; ".join(absent))
        return NOT_READY
    if arguments == ["--ready"]:
        return 0
    if arguments == ["--self-test"]:
        import self_test

        return self_test.run()
    return check(pathlib.Path(arguments[0]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
