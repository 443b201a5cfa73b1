#!/usr/bin/env python3
"""Runs the program in tmux against the mock server, and saves its screen as SVG or text.

    python3 scripts/screens/screens.py --out docs/images chat           # the picture of the README
    python3 scripts/screens/screens.py --text --columns 100 60 40 --out DIR     # every scene, as text, in three widths

Needs tmux, the package in requirements.txt, and the programs `agcore` and `agcore-mock` in --bin (default: target/debug).
Each scene is an entry of scenes.json: the files of its folder, the script of the model, and what is typed: a line (`type`), text
without Enter (`keys`), or a key (`press`). A step waits until its text is on the screen, so that no step depends on the speed
of the machine.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# The longest wait for a text. A machine that compiles something else at the same time needs some of it.
PATIENCE_SECONDS = 60


def main() -> int:
    arguments = parse_arguments()
    scenes = json.loads((HERE / "scenes.json").read_text(encoding="utf-8"))
    unknown = [name for name in arguments.scenes if name not in scenes]
    if unknown:
        sys.exit(f"there is no scene {unknown[0]!r}; the scenes are {', '.join(scenes)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.scenes or scenes:
        for columns in arguments.columns or [scenes[name]["columns"]]:
            save(name, record(scenes[name], columns, arguments), columns, scenes[name], arguments)
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", help="names of scenes, before the options; all of them if there are none")
    parser.add_argument("--bin", type=pathlib.Path, default=HERE.parents[1] / "target/debug")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--columns", type=int, nargs="+", help="the widths, instead of that of each scene")
    parser.add_argument("--text", action="store_true", help="save plain text instead of SVG")
    return parser.parse_args()


class Terminal:
    """A tmux server of its own, with one window."""

    def __init__(self, folder: pathlib.Path, columns: int, rows: int):
        self.socket = folder / "tmux"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "env -i PS1='$ ' sh")
        self.tmux("set", "-g", "status", "off")

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self.socket), *arguments]
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout

    def send(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def press(self, key: str) -> None:
        self.tmux("send-keys", key)

    def screen(self, *options: str) -> str:
        return self.tmux("capture-pane", "-p", *options)

    def count(self, text: str) -> int:
        """Returns how often the screen contains the text, ignoring where its lines are wrapped."""
        return "".join(self.screen("-S", "-").split()).count("".join(text.split()))

    def clear(self) -> None:
        """Clears the screen of the shell."""
        self.send("clear")
        self.press("Enter")
        self.wait(lambda: self.screen().strip() == "$", "an empty screen")
        self.tmux("clear-history")

    def wait_for(self, text: str, more_than: int = 0) -> None:
        self.wait(lambda: self.count(text) > more_than, repr(text))

    def wait(self, is_done, what: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_done():
            if time.monotonic() > deadline:
                sys.exit(f"the screen does not show {what}:\n{self.screen()}")
            time.sleep(0.05)

    def close(self) -> None:
        self.tmux("kill-server")


def record(scene: dict, columns: int, arguments: argparse.Namespace) -> str:
    """Plays a scene and returns the screen, with escape sequences."""
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        work = place / scene.get("folder", "trip")
        work.mkdir()
        for name, text in scene.get("files", {}).items():
            (work / name).write_text(text, encoding="utf-8")
        server, environment = start_model(scene, arguments.bin, place)
        terminal = Terminal(place, columns, scene["rows"])
        try:
            variables = " ".join(f"{name}='{value}'" for name, value in environment.items())
            terminal.send(f"cd '{work}'; export {variables}; echo ready")
            terminal.press("Enter")
            terminal.wait_for("ready $")
            terminal.clear()
            for step in scene["steps"]:
                play(terminal, step)
            return terminal.screen("-e", "-S", "-")
        finally:
            terminal.close()
            if server:
                server.stdin.close()
                server.wait()


def play(terminal: Terminal, step: dict) -> None:
    if step.get("clear"):
        terminal.clear()
    before = terminal.count(step["until"])
    if "type" in step:
        terminal.send(step["type"])
        terminal.press("Enter")
    if "keys" in step:
        terminal.send(step["keys"])
    if "press" in step:
        terminal.press(step["press"])
    terminal.wait_for(step["until"], before)


def start_model(scene: dict, programs: pathlib.Path, place: pathlib.Path):
    """Starts the mock server, if the scene has a model, and returns it with the variables of the shell."""
    environment = {
        "PATH": f"{programs.resolve()}:{os.environ['PATH']}",
        "HOME": str(place),
        "TERM": "screen-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "PS1": "$ ",
    }
    if "model" not in scene:
        return None, environment
    script = place / "model.json"
    script.write_text(json.dumps(scene["model"]), encoding="utf-8")
    command = [programs / "agcore-mock", "--script", str(script), "--until-stdin-closes"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    address = server.stdout.readline().strip()
    base_url = address if address.endswith("/v1") else f"{address}/v1"
    return server, environment | {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "sk-demo", "AGCORE_MODEL": "openai:gpt-5-mini"}


def save(name: str, screen: str, columns: int, scene: dict, arguments: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.text import Text

    text = Text.from_ansi("\n".join(screen.rstrip().split("\n")))
    width = f"-{columns}" if arguments.columns else ""
    if arguments.text:
        (arguments.out / f"{name}{width}.txt").write_text(text.plain + "\n", encoding="utf-8")
        return
    console = Console(record=True, width=columns, file=open(os.devnull, "w"), color_system="truecolor")
    console.print(text, soft_wrap=True)
    template = (HERE / "picture.svg").read_text(encoding="utf-8")
    picture = console.export_svg(title=scene["title"], code_format=template, unique_id=name)
    (arguments.out / f"{name}{width}.svg").write_text("\n".join(line.rstrip() for line in picture.splitlines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if shutil.which("tmux") is None:
        sys.exit("tmux is not installed")
    sys.exit(main())
