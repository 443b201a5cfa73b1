#!/usr/bin/env python3
"""Runs the jobs of `cargo xtask bench libraries` with LangGraph and pydantic-ai.

    client.py --ready                           checks that the packages of requirements.txt are installed in these versions
    client.py client JOB LIBRARY URL CORE       runs a job once against the server at URL, and prints its figures

CORE is the number of a core to which the process is pinned, or `any`. The figures are in the format of a client process of
agcore-benches: units, CPU time in microseconds per unit, allocations and bytes (which Python does not count), memory of one of
many (not measured), and peak memory in MiB. A library that does not read the complete reply fails the run.

Both libraries run with their own agent loop, on asyncio, and with an agent that is made once, as a server does it.
"""

import asyncio
import importlib.metadata
import os
import pathlib
import resource
import sys
import time

NOT_READY = 3
HERE = pathlib.Path(__file__).resolve().parent

# The same as in benches/src/canned.rs and benches/src/jobs, which the server and the other clients use.
MODEL = "gpt-4.1"
INSTRUCTIONS = "You are a helpful assistant."
ANSWER = "Hello! How can I assist you today?"
LOOP_INPUT = "What about Paris?"
LAST = "And now?"
CHUNKS = 2000
CHUNK_TEXT = 20
PAIRS = 500

# Rounds to warm up and to measure, and the units of a round.
ROUNDS = {
    "turn": (50, 300, 1),
    "loop": (30, 150, 1),
    "stream": (1, 4, CHUNKS),
    "history-1000": (3, 20, 1),
}


def missing():
    """Returns what is missing, if something is."""
    lines = (HERE / "requirements.txt").read_text().splitlines()
    for package, wanted in (line.split("==") for line in lines if not line.startswith("#")):
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return f"{package} is not installed"
        if found != wanted:
            return f"{package} {found} is installed instead of {wanted}"
    return None


def expect(found, expected):
    if found != expected:
        raise SystemExit(f"unexpected reply: expected {expected!r}, found {found!r}")


def utterances():
    """Returns questions with their answers."""
    for number in range(PAIRS):
        yield "user", (
            f"Question {number}: how far is it from here to there, and how long does it take on foot?"
        )
        yield "assistant", (
            f'Answer {number}: "about ten kilometres", which take\ntwo hours and a half, or so I think.'
        )


async def weather(city: str) -> str:
    """Looks it up.

    Args:
        city: The city.
    """
    return f"{city}: 21"


async def local_time(city: str) -> str:
    """Looks it up.

    Args:
        city: The city.
    """
    return f"{city}: 21"


async def population(city: str) -> str:
    """Looks it up.

    Args:
        city: The city.
    """
    return f"{city}: 21"


TOOLS = {"weather": weather, "time": local_time, "population": population}


class LangGraph:
    """A graph of a model and its tools, as in LangGraph's quick start."""

    def __init__(self, url, with_tools):
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
        from langchain_core.tools import tool
        from langchain_openai import ChatOpenAI
        from langgraph.graph import START, MessagesState, StateGraph
        from langgraph.prebuilt import ToolNode, tools_condition

        self.human, self.ai = HumanMessage, AIMessage
        model = ChatOpenAI(model=MODEL, base_url=url, api_key="sk-test")
        instructions = SystemMessage(INSTRUCTIONS)
        tools = [tool(name, parse_docstring=True)(function) for name, function in TOOLS.items()]
        if with_tools:
            model = model.bind_tools(tools)

        async def call_model(state):
            return {"messages": [await model.ainvoke([instructions, *state["messages"]])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", call_model)
        graph.add_edge(START, "model")
        if with_tools:
            graph.add_node("tools", ToolNode(tools))
            graph.add_conditional_edges("model", tools_condition)
            graph.add_edge("tools", "model")
        self.graph = graph.compile()

    def history(self):
        kinds = {"user": self.human, "assistant": self.ai}
        return [kinds[role](text) for role, text in utterances()]

    async def run(self, text, history=()):
        state = await self.graph.ainvoke({"messages": [*history, self.human(text)]})
        return state["messages"][-1].content, sum(message.type == "tool" for message in state["messages"])

    async def stream(self, text):
        length = 0
        async for message, _ in self.graph.astream({"messages": [self.human(text)]}, stream_mode="messages"):
            length += len(message.content)
        return length


class PydanticAi:
    """An agent of pydantic-ai."""

    def __init__(self, url, with_tools):
        from pydantic_ai import Agent, Tool
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key="sk-test"))
        tools = [Tool(function, name=name) for name, function in TOOLS.items()]
        self.agent = Agent(model, instructions=INSTRUCTIONS, tools=tools if with_tools else [])

    def history(self):
        from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

        kinds = {
            "user": lambda text: ModelRequest(parts=[UserPromptPart(text)]),
            "assistant": lambda text: ModelResponse(parts=[TextPart(text)]),
        }
        return [kinds[role](text) for role, text in utterances()]

    async def run(self, text, history=None):
        result = await self.agent.run(text, message_history=history)
        parts = (part for message in result.new_messages() for part in message.parts)
        return result.output, sum(part.part_kind == "tool-return" for part in parts)

    async def stream(self, text):
        length = 0
        async with self.agent.run_stream(text) as result:
            # Each chunk as it arrives, instead of those of a tenth of a second together.
            async for delta in result.stream_text(delta=True, debounce_by=None):
                length += len(delta)
        return length


LIBRARIES = {"LangGraph": LangGraph, "pydantic-ai": PydanticAi}


def round_of(job, library, url):
    """Returns a coroutine function that runs one round of a job."""
    path = {"history-1000": "turn"}.get(job, job)
    agent = LIBRARIES[library](f"{url}/{path}", with_tools=job == "loop")
    if job == "stream":

        async def streamed():
            expect(await agent.stream("Hello!"), CHUNKS * CHUNK_TEXT)

        return streamed
    history = agent.history() if job == "history-1000" else None
    text = {"loop": LOOP_INPUT, "history-1000": LAST}.get(job, "Hello!")
    calls = len(TOOLS) if job == "loop" else 0

    async def answered():
        found = await (agent.run(text, history) if history else agent.run(text))
        expect(found, (ANSWER, calls))

    return answered


async def measure(job, library, url):
    """Runs a job and prints its figures."""
    warm, timed, units = ROUNDS[job]
    run = round_of(job, library, url)
    for _ in range(warm):
        await run()
    start = time.process_time()
    for _ in range(timed):
        await run()
    cpu_us = (time.process_time() - start) * 1e6 / (timed * units)
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"figures {timed * units} {cpu_us} NaN NaN 0 {peak_kib / 1024}")


def main(arguments):
    if arguments == ["--ready"]:
        reason = missing()
        if reason is not None:
            print(reason)
            return NOT_READY
        return 0
    match arguments:
        case ["client", job, library, url, core] if job in ROUNDS and library in LIBRARIES:
            if core != "any":
                os.sched_setaffinity(0, {int(core)})
            asyncio.run(measure(job, library, url))
            return 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
