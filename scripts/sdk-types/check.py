#!/usr/bin/env python3
"""Validates request bodies against the types that their vendors publish.

    check.py --ready      checks that the packages of requirements.txt are installed in these versions
    check.py --self-test  checks that invalid bodies are found, with the types of each package
    check.py FILE         validates the bodies in FILE, whose lines are {"vendor", "sample", "body"}; prints a table and
                          each error

The exit status is 0 on success, 1 if a body or a list in vendors.py is wrong, and 3 if packages are missing.
"""

import collections
import importlib.metadata
import json
import pathlib
import sys

NOT_READY = 3
HERE = pathlib.Path(__file__).resolve().parent
# An error that occurs in many bodies is printed once, with the names of this many of them.
NAMED_SAMPLES = 3


def pinned():
    lines = (HERE / "requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def missing():
    """Yields each difference between the installed packages and requirements.txt."""
    for package, wanted in pinned().items():
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            yield f"{package} is not installed"
            continue
        if found != wanted:
            yield f"{package} {found} is installed instead of {wanted}"


class Validator:
    """Validates the bodies of one vendor and collects statistics."""

    def __init__(self, vendor):
        from walker import Walker

        self.vendor = vendor
        self.kind = vendor.load()
        self.walker = Walker(vendor.extra_kinds(), vendor.stand_ins)
        self.bodies = 0
        self.used = collections.Counter()
        self.samples_of = collections.defaultdict(list)

    def validate(self, sample, body):
        self.bodies += 1
        for error in self.walker.errors(self.kind, body):
            exempt = next((exempt for exempt in self.vendor.exempt if exempt.covers(error)), None)
            if exempt is None:
                self.samples_of[str(error)].append(sample)
            else:
                self.used[exempt] += 1

    def unused(self):
        """Yields the members and exceptions that no body needed."""
        used = {member for _, member in self.walker.used}
        for extra in self.vendor.extras:
            if extra.member not in used:
                yield f"the member `{extra.member}` of {extra.source} occurs in no body: remove it from vendors.py"
        for exempt in self.vendor.exempt:
            if exempt not in self.used:
                yield f"the exception for {exempt.path} ({exempt.problem}) is not needed by any body: remove it from vendors.py"

    def errors(self):
        for error, samples in self.samples_of.items():
            more = f" and {len(samples) - NAMED_SAMPLES} more" if len(samples) > NAMED_SAMPLES else ""
            yield f"{error} (in {', '.join(samples[:NAMED_SAMPLES])}{more})"
        yield from self.unused()


def check(file):
    from vendors import VENDORS

    validators = {}
    # Not with splitlines, which also splits at characters that occur in texts.
    for line in file.read_text(encoding="utf-8").split("\n"):
        if not line:
            continue
        case = json.loads(line)
        name = case["vendor"]
        if name not in validators:
            validators[name] = Validator(VENDORS[name])
        validators[name].validate(case["sample"], case["body"])
    if not validators:
        print(f"{file} contains no bodies")
        return 1
    print(f"{'vendor':<20} {'types of':<20} {'bodies':>6} {'errors':>6} {'exceptions':>10}")
    for name, validator in validators.items():
        package = f"{validator.vendor.package} {pinned()[validator.vendor.package]}"
        errors = len(list(validator.errors()))
        print(f"{name:<20} {package:<20} {validator.bodies:>6} {errors:>6} {len(validator.used):>10}")
    for name, validator in validators.items():
        for exempt in validator.used:
            print(f"{name}: accepted {exempt.path}, which {exempt.problem}: {exempt.reason} ({exempt.source})")
    errors = [f"{name}: {line}" for name, validator in validators.items() for line in validator.errors()]
    print("\n".join(errors))
    return 1 if errors else 0


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
