"""The type of a request for each vendor, the members that the type lacks, and the accepted errors.

Vendors without a package (or whose package is for another API) recommend openai's package. They are validated with its
type and the additional members of their documentation; each such member has a link. A member or an exception that no
body needs is an error, so that the lists stay up to date.
"""

import importlib
import inspect
import re
import typing
from dataclasses import dataclass, field

OPENAI = "openai.types.chat.completion_create_params:CompletionCreateParams"
ASSISTANT = "ChatCompletionAssistantMessageParam"
TEXT = "ChatCompletionContentPartTextParam"
REQUESTS = ("CompletionCreateParamsNonStreaming", "CompletionCreateParamsStreaming")

DEEPSEEK_THINKING = "https://api-docs.deepseek.com/guides/thinking_mode"
DEEPSEEK_PREFIX = "https://api-docs.deepseek.com/guides/chat_prefix_completion"
QWEN_THINKING = "https://www.alibabacloud.com/help/en/model-studio/deep-thinking"
QWEN_PARTIAL = "https://www.alibabacloud.com/help/en/model-studio/partial-mode"
QWEN_CACHE = "https://www.alibabacloud.com/help/en/model-studio/context-cache"
GEMINI = "https://ai.google.dev/gemini-api/docs/openai"
GEMINI_SIGNATURES = "https://ai.google.dev/gemini-api/docs/thought-signatures"
MOONSHOT_THINKING = "https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model"
MOONSHOT_PARTIAL = "https://platform.moonshot.ai/docs/guide/use-partial-mode-feature-of-kimi-api"
GROQ = "https://console.groq.com/docs/api-reference#chat-create"
# In the same package, which lists the parameters that models may accept.
OPENROUTER_PARAMETERS = "openrouter.components.parameter"
OPENROUTER_AUDIO = "https://openrouter.ai/docs/guides/overview/multimodal/audio"
ZAI_TOOLS = "https://docs.z.ai/guides/capabilities/function-calling"
ZAI_THINKING = "https://docs.z.ai/guides/capabilities/thinking-mode"
OLLAMA = "https://docs.ollama.com/api/openai-compatibility"
OLLAMA_TYPES = "https://github.com/ollama/ollama/blob/main/api/types.go"
CLAUDE_MIGRATION = "https://platform.claude.com/docs/en/about-claude/models/migration-guide"
VLLM = "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html"
LLAMA_CPP = "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"

Switch = typing.TypedDict("Switch", {"type": typing.Required[typing.Literal["enabled", "disabled"]]}, total=False)
TemplateArguments = typing.TypedDict("TemplateArguments", {"reasoning_effort": str}, total=False)
CacheControl = typing.TypedDict(
    "CacheControl", {"type": typing.Required[typing.Literal["ephemeral"]], "ttl": str}, total=False
)
Signed = typing.TypedDict("Signed", {"thought_signature": str}, total=False)
# Vertex AI uses its own name in the same API.
ExtraContent = typing.TypedDict("ExtraContent", {"google": Signed, "vertex": Signed}, total=False)
Usage = typing.TypedDict("Usage", {"include_usage": bool}, total=False)
Verbosity = typing.Literal["low", "medium", "high"]
Audio = typing.TypedDict("Audio", {"voice": typing.Required[str], "format": typing.Required[str]})


@dataclass(frozen=True)
class Extra:
    """A member that is documented by the vendor but missing in the type."""

    owners: tuple[str, ...]
    member: str
    kind: object
    source: str


@dataclass(frozen=True)
class Exempt:
    """An accepted error: a pattern for the whole path, a part of the description, the reason, and the source."""

    path: str
    problem: str
    reason: str
    source: str

    def covers(self, error):
        return re.fullmatch(self.path, error.path) is not None and self.problem in error.problem


@dataclass(frozen=True)
class Vendor:
    """The type for the bodies of one vendor, by its module and name, or a function that creates it."""

    package: str
    kind: str | typing.Callable[[], object]
    extras: tuple[Extra, ...] = ()
    exempt: tuple[Exempt, ...] = ()
    # Types that are serialized as another type: the name of the type, and the serialized type.
    stand_ins: dict[str, object] = field(default_factory=dict)

    def load(self):
        return load(self.kind) if isinstance(self.kind, str) else self.kind()

    def extra_kinds(self):
        return {(owner, extra.member): extra.kind for extra in self.extras for owner in extra.owners}


def load(place):
    module, name = place.split(":")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def zhipu():
    """Returns a type for zai's package, which types the members of a request separately, but not messages and tools."""
    create = load("zai.api_resource.chat.completions:Completions.create")
    outside_of_the_body = {"self", "return", "extra", "extra_headers", "extra_body", "timeout"}
    kinds = {name: kind for name, kind in typing.get_type_hints(create).items() if name not in outside_of_the_body}
    from_openai = typing.get_type_hints(load("openai.types.chat.completion_create_params:CompletionCreateParamsBase"))
    kinds |= {name: from_openai[name] for name in ("messages", "tools", "response_format")}
    kinds["thinking"] = Switch
    parameters = inspect.signature(create).parameters
    required = {name for name in kinds if parameters[name].default is inspect.Parameter.empty}
    members = {name: typing.Required[kind] if name in required else kind for name, kind in kinds.items()}
    return typing.TypedDict("Completions.create", members, total=False)


def ollama_native():
    """Returns a type for ollama's package, which also accepts any object as message or options; here only its types are valid."""
    types = importlib.import_module("ollama._types")
    kinds = {name: info.annotation for name, info in types.ChatRequest.model_fields.items()}
    kinds |= {"messages": list[types.Message], "options": types.Options}
    required = {name for name, info in types.ChatRequest.model_fields.items() if info.is_required()}
    members = {name: typing.Required[kind] if name in required else kind for name, kind in kinds.items()}
    return typing.TypedDict("ChatRequest", members, total=False)


def gemini_native():
    """Returns a type for google-genai's package, which types the members of a body separately."""
    types = importlib.import_module("google.genai.types")
    members = {
        "contents": typing.Required[list[types.Content]],
        "systemInstruction": types.Content,
        "tools": list[types.Tool],
        "toolConfig": types.ToolConfig,
        "generationConfig": types.GenerationConfig,
        "safetySettings": list[types.SafetySetting],
        "cachedContent": str,
        "serviceTier": types.ServiceTier,
    }
    return typing.TypedDict("GenerateContentRequest", members, total=False)


def member(owners, name, kind, source):
    return Extra((owners,) if isinstance(owners, str) else owners, name, kind, source)


VENDORS = {
    "openai": Vendor("openai", OPENAI),
    "azure": Vendor("openai", OPENAI),
    "deepseek": Vendor(
        "openai",
        OPENAI,
        (
            member(REQUESTS, "thinking", Switch, DEEPSEEK_THINKING),
            member(ASSISTANT, "reasoning_content", str, DEEPSEEK_THINKING),
            member(ASSISTANT, "prefix", bool, DEEPSEEK_PREFIX),
        ),
    ),
    "qwen": Vendor(
        "openai",
        OPENAI,
        (
            member(REQUESTS, "enable_thinking", bool, QWEN_THINKING),
            member(ASSISTANT, "partial", bool, QWEN_PARTIAL),
            member(TEXT, "cache_control", CacheControl, QWEN_CACHE),
        ),
    ),
    "gemini": Vendor(
        "openai",
        OPENAI,
        (
            member("ChatCompletionToolMessageParam", "name", str, GEMINI),
            member("ChatCompletionMessageFunctionToolCallParam", "extra_content", ExtraContent, GEMINI_SIGNATURES),
        ),
    ),
    "mistral": Vendor("mistralai", "mistralai.client.models.chatcompletionrequest:ChatCompletionRequest"),
    "groq": Vendor(
        "groq",
        "groq.types.chat.completion_create_params:CompletionCreateParams",
        # The package documents it for the last chunk, but has no parameter for it.
        (member("CompletionCreateParams", "stream_options", Usage, GROQ),),
    ),
    "xai": Vendor("openai", OPENAI),
    "moonshot": Vendor(
        "openai",
        OPENAI,
        (
            member(REQUESTS, "thinking", Switch, MOONSHOT_THINKING),
            member(ASSISTANT, "reasoning_content", str, MOONSHOT_THINKING),
            member(ASSISTANT, "partial", bool, MOONSHOT_PARTIAL),
        ),
    ),
    "zhipu": Vendor(
        "zai-sdk",
        zhipu,
        (member(ASSISTANT, "reasoning_content", str, ZAI_THINKING),),
        (
            Exempt(
                r"\$\.tool_choice",
                "is not a valid str",
                "the server calls the function that is named, although the package has words only",
                ZAI_TOOLS,
            ),
        ),
    ),
    "openrouter": Vendor(
        "openrouter",
        "openrouter.components:ChatRequest",
        (
            member("ChatRequest", "verbosity", Verbosity, OPENROUTER_PARAMETERS),
            member("ChatRequest", "audio", Audio, OPENROUTER_AUDIO),
            member("ChatRequest", "web_search_options", dict, OPENROUTER_PARAMETERS),
        ),
    ),
    "ollama": Vendor("openai", OPENAI, (member(ASSISTANT, "reasoning", str, OLLAMA),)),
    "vllm": Vendor("openai", OPENAI, (member(ASSISTANT, "reasoning", str, VLLM),)),
    "llama.cpp": Vendor(
        "openai",
        OPENAI,
        (
            member(REQUESTS, "chat_template_kwargs", TemplateArguments, LLAMA_CPP),
            member(ASSISTANT, "reasoning_content", str, LLAMA_CPP),
        ),
    ),
    "anthropic": Vendor(
        "anthropic",
        "anthropic.types.beta.message_create_params:MessageCreateParams",
        exempt=(
            Exempt(r"\$\.(temperature|top_p)", "is unknown to", "models before Claude Opus 4.7 accept it", CLAUDE_MIGRATION),
        ),
    ),
    "openai-responses": Vendor("openai", "openai.types.responses.response_create_params:ResponseCreateParams"),
    # Bytes are base64 in a body.
    "gemini-native": Vendor("google-genai", gemini_native, stand_ins={"bytes": str}),
    "ollama-native": Vendor(
        "ollama",
        ollama_native,
        (
            member("Message", "tool_call_id", str, OLLAMA_TYPES),
            member("Message.ToolCall", "id", str, OLLAMA_TYPES),
            member("Message.ToolCall.Function", "index", int, OLLAMA_TYPES),
        ),
        (
            Exempt(
                r"\$\.tools\[\d+\]\.function\.parameters\.properties\..*",
                "is unknown to Tool.Function.Parameters.Property",
                "the server accepts any JSON Schema and ignores the keywords that the template of a model does not use",
                OLLAMA_TYPES,
            ),
        ),
        {"Image": str},
    ),
}
