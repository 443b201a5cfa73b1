"""Drives `agcore acp` with the reference client of PyPI.

Usage: python client.py PROGRAM WORK, with a Python that has the package. With `--ready`, prints what is missing instead. PROGRAM is agcore, whose model plays `model.json` in the
order of the prompts below, and WORK is an empty folder in which the sessions work.
"""

import asyncio
import json
import os
import subprocess
import sys

try:
    import acp
    from acp.schema import ClientCapabilities, FileSystemCapabilities, ReadTextFileResponse, RequestPermissionResponse
except ImportError as error:
    print(f"a package is missing: {error}")
    sys.exit(1)
if sys.argv[1:] == ["--ready"]:
    sys.exit(0)

PROGRAM, WORK = sys.argv[1:]
FILE = os.path.join(WORK, "hello.txt")
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Editor(acp.Client):
    """An editor that answers as planned, and keeps what arrives."""

    def __init__(self, answers=()):
        self.answers, self.updates, self.questions = list(answers), [], []
        self.unsaved, self.leave = {}, asyncio.Event()

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        self.questions.append((tool_call, options))
        answer = self.answers.pop(0)
        if answer == "leave":
            self.leave.set()
            await asyncio.Event().wait()
        return RequestPermissionResponse.model_validate({"outcome": {"outcome": "selected", "optionId": answer}})

    async def session_update(self, session_id, update, **kwargs):
        self.updates.append(update)

    async def read_text_file(self, session_id, path, line=None, limit=None, **kwargs):
        if path in self.unsaved:
            return ReadTextFileResponse(content=self.unsaved[path])
        if not os.path.exists(path):
            # As an editor answers that has no such file.
            raise acp.RequestError(-32002, "there is no such file")
        with open(path, encoding="utf-8") as file:
            return ReadTextFileResponse(content=file.read())

    async def write_text_file(self, session_id, path, content, **kwargs):
        self.unsaved.pop(path, None)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)

    def text(self, kind="agent_message_chunk", start=0):
        chunks = [update for update in self.updates[start:] if update.session_update == kind]
        return "".join(getattr(chunk.content, "text", "") for chunk in chunks)

    def call(self, call_id, status):
        """Returns the update that ends a call."""
        changes = [update for update in self.updates if getattr(update, "tool_call_id", None) == call_id]
        (found,) = [change for change in changes if change.status == status]
        return found


async def connected(editor):
    return acp.spawn_agent_process(lambda _: editor, PROGRAM, "acp", env=dict(os.environ), cwd="/")


async def initialize(agent):
    files = FileSystemCapabilities(read_text_file=True, write_text_file=True)
    answer = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=ClientCapabilities(fs=files))
    assert answer.agent_info.name == "agcore", answer


async def say(agent, editor, session, blocks):
    """Sends a prompt. Returns why it ended, and its text."""
    start = len(editor.updates)
    blocks = [acp.text_block(blocks)] if isinstance(blocks, str) else blocks
    answer = await agent.prompt(session_id=session, prompt=blocks)
    return answer.stop_reason, editor.text(start=start)


async def conversation():
    editor = Editor(["allow_once", "reject_once"])
    async with await connected(editor) as (agent, process):
        await initialize(agent)
        opened = await agent.new_session(cwd=WORK, mcp_servers=[])
        session = opened.session_id
        assert opened.modes.current_mode_id == "default", opened
        file = acp.embedded_text_resource(f"file://{WORK}/notes.md", "# Notes")
        blocks = [acp.text_block("What is this?"), acp.image_block(IMAGE, "image/png"), acp.resource_block(file)]
        assert await say(agent, editor, session, blocks) == ("end_turn", "I see a picture and a file.")
        await say(agent, editor, session, "Write the file.")
        (shown,) = [part for part in editor.questions[0][0].content if part.type == "diff"]
        assert (shown.path, shown.old_text, shown.new_text) == (FILE, None, "Hello\n"), shown
        assert editor.call("call_1", "completed").content[0].new_text == "Hello\n"
        editor.unsaved[FILE] = "Hello, unsaved\n"
        await say(agent, editor, session, "Read it.")
        assert editor.call("call_2", "completed").content[0].content.text == "Hello, unsaved\n"
        await say(agent, editor, session, "Touch a file.")
        assert editor.call("call_3", "failed") and not os.path.exists(os.path.join(WORK, "rejected.txt"))
        await say(agent, editor, session, "Plan.")
        (plan,) = [update for update in editor.updates if update.session_update == "plan"]
        assert [entry.status for entry in plan.entries] == ["completed", "in_progress"], plan
        await agent.set_session_mode(session_id=session, mode_id="acceptEdits")
        await say(agent, editor, session, "Edit it.")
        edit = editor.call("call_5", "completed").content[0]
        assert (edit.old_text, edit.new_text) == ("Hello, unsaved\n", "Hello, saved\n"), edit
        assert len(editor.questions) == 2, editor.questions
        waiting = asyncio.create_task(say(agent, editor, session, "Think."))
        while "Let me" not in editor.text():
            await asyncio.sleep(0)
        await agent.cancel(session_id=session)
        assert (await waiting)[0] == "cancelled"
        process.stdin.close()
        assert await process.wait() == 0
    return session


async def continued(session):
    editor = Editor(["leave"])
    async with await connected(editor) as (agent, process):
        await initialize(agent)
        listed = await agent.list_sessions(cwd=WORK)
        assert [entry.session_id for entry in listed.sessions] == [session], listed
        await agent.load_session(cwd=WORK, session_id=session, mcp_servers=[])
        assert "Write the file." in editor.text("user_message_chunk")
        assert "It is written." in editor.text()
        assert (await say(agent, editor, session, "Are you back?"))[1] == "I am back."
        # The editor goes in the middle of a question.
        asking = asyncio.create_task(agent.prompt(session_id=session, prompt=[acp.text_block("Touch another file.")]))
        await editor.leave.wait()
        process.stdin.close()
        assert await process.wait() == 0
        asking.cancel()
    assert not os.path.exists(os.path.join(WORK, "late.txt"))


def agcore(*words):
    return subprocess.run([PROGRAM, *words], cwd=WORK, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def in_the_terminal(session):
    listed = json.loads(agcore("approvals", "list", "--json").stdout)
    (question,) = listed.get("approvals") or listed.get("questions") if isinstance(listed, dict) else listed
    assert agcore("approvals", "deny", question["id"]).returncode == 0
    settled = agcore("-p", "--resume", session)
    assert settled.stdout.strip() == "It was not run.", settled
    greeted = agcore("-p", "Hello from the terminal.", "--resume", session)
    assert greeted.stdout.strip() == "Hello, terminal.", greeted


async def main():
    session = await conversation()
    await continued(session)
    in_the_terminal(session)
    print("The client of PyPI is content.")


asyncio.run(main())
