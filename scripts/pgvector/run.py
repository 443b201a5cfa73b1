#!/usr/bin/env python3
"""Runs a command beside a PostgreSQL server with the extension pgvector.

    run.py --ready            checks that the package of requirements.txt is installed in this version
    run.py COMMAND [ARG…]     starts a server on loopback, runs the command with its URL in AGCORE_TEST_POSTGRES_URL, and
                              stops the server

The data are in a temporary folder. The exit status is that of the command, and 3 if the package is missing.
"""

import importlib.metadata
import importlib.util
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile

NOT_READY = 3
HERE = pathlib.Path(__file__).resolve().parent
URL = "AGCORE_TEST_POSTGRES_URL"


def missing():
    """Returns why the server cannot be started, if it cannot."""
    lines = (HERE / "requirements.txt").read_text().splitlines()
    for package, wanted in (line.split("==") for line in lines if not line.startswith("#")):
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return f"{package} is not installed"
        if found != wanted:
            return f"{package} {found} is installed instead of {wanted}"
    return None


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A server with a new database cluster."""

    def __init__(self, folder):
        self.programs = pathlib.Path(importlib.util.find_spec("pgserver").origin).parent / "pginstall" / "bin"
        self.folder = folder
        # The server refuses to run as root. This user owns nothing.
        self.user = pwd.getpwuid(65534) if os.geteuid() == 0 else None
        if self.user:
            os.chown(folder, self.user.pw_uid, self.user.pw_gid)
        self.run("initdb", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")

    def run(self, program, *arguments):
        user = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}
        command = [self.programs / program, "--pgdata", self.folder / "data", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **user)

    def start(self):
        port = free_port()
        options = f"-h 127.0.0.1 -p {port} -k '' -c fsync=off"
        self.run("pg_ctl", "--wait", f"--log={self.folder / 'log'}", f"--options={options}", "start")
        return f"postgres://postgres@127.0.0.1:{port}/postgres"

    def stop(self):
        self.run("pg_ctl", "--wait", "--mode=immediate", "stop")


def main():
    reason = missing()
    if reason:
        print(reason)
        return NOT_READY
    if sys.argv[1:] == ["--ready"]:
        return 0
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    folder = pathlib.Path(tempfile.mkdtemp(prefix="agcore-pgvector-"))
    try:
        server = Server(folder)
        environment = dict(os.environ, **{URL: server.start()})
        try:
            return subprocess.run(sys.argv[1:], env=environment, check=False).returncode
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
