//! The names of spans, attributes and metrics.
//!
//! They follow OpenTelemetry's conventions for generative AI as the packages of [`CONVENTIONS`] publish them; `cargo xtask
//! otel-collector` compares what a server exports with these packages. Three durations are newer than the packages:
//! `gen_ai.invoke_agent.duration`, `gen_ai.execute_tool.duration` and `gen_ai.workflow.duration` are those of the conventions'
//! own repository before its release 0.1.0, which merges the last one into the first and replaces the histogram of tokens. Names
//! of agcore begin with `agcore.`.

/// The version of OpenTelemetry's semantic conventions that the names follow: that of `@opentelemetry/semantic-conventions` on
/// npm, which is `opentelemetry-semantic-conventions` 0.66b2 on PyPI.
pub const CONVENTIONS: &str = "1.45.0";

/// The type of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A list of texts.
    Texts,
    /// A signed integer.
    Integer,
    /// A floating-point number.
    Double,
    /// `true` or `false`.
    Boolean,
    /// Content of conversations as JSON text, which is recorded only on request.
    Content,
}

/// The name of an attribute with its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttributeName {
    /// The name.
    pub name: &'static str,
    /// The type.
    pub kind: Kind,
}

/// The name of a metric, which is a histogram, with its unit and buckets.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MetricName {
    /// The name.
    pub name: &'static str,
    /// The unit, in the form of UCUM.
    pub unit: &'static str,
    /// A sentence that describes the metric.
    pub description: &'static str,
    /// The upper bounds of the buckets, ascending.
    pub boundaries: &'static [f64],
    /// The attributes. All have few different values.
    pub attributes: &'static [&'static str],
}

macro_rules! attributes {
    ($($(#[$doc:meta])* $constant:ident = $name:literal: $kind:ident;)*) => {
        $($(#[$doc])* pub const $constant: &str = $name;)*

        /// All attributes, with their types.
        pub const ALL: &[AttributeName] = &[$(AttributeName { name: $name, kind: Kind::$kind }),*];
    };
}

/// The names of attributes.
pub mod attribute {
    use super::{AttributeName, Kind};

    attributes! {
        /// The kind of operation, one of [`operation`](super::operation).
        OPERATION_NAME = "gen_ai.operation.name": Text;
        /// The vendor, by the name that the conventions have for it.
        PROVIDER_NAME = "gen_ai.provider.name": Text;
        /// The id of the session or thread.
        CONVERSATION_ID = "gen_ai.conversation.id": Text;
        /// The name of the agent.
        AGENT_NAME = "gen_ai.agent.name": Text;
        /// The description of the agent.
        AGENT_DESCRIPTION = "gen_ai.agent.description": Text;
        /// The name of the flow.
        WORKFLOW_NAME = "gen_ai.workflow.name": Text;
        /// The requested model.
        REQUEST_MODEL = "gen_ai.request.model": Text;
        /// Whether the reply is streamed.
        REQUEST_STREAM = "gen_ai.request.stream": Boolean;
        /// The number of requested replies, unless it is one.
        REQUEST_CHOICE_COUNT = "gen_ai.request.choice.count": Integer;
        /// The seed of the request.
        REQUEST_SEED = "gen_ai.request.seed": Integer;
        /// The limit of output tokens.
        REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens": Integer;
        /// The temperature of the request.
        REQUEST_TEMPERATURE = "gen_ai.request.temperature": Double;
        /// The nucleus of the request.
        REQUEST_TOP_P = "gen_ai.request.top_p": Double;
        /// The frequency penalty of the request.
        REQUEST_FREQUENCY_PENALTY = "gen_ai.request.frequency_penalty": Double;
        /// The presence penalty of the request.
        REQUEST_PRESENCE_PENALTY = "gen_ai.request.presence_penalty": Double;
        /// The texts at which the reply stops.
        REQUEST_STOP_SEQUENCES = "gen_ai.request.stop_sequences": Texts;
        /// The form of the output.
        OUTPUT_TYPE = "gen_ai.output.type": Text;
        /// The id of the reply.
        RESPONSE_ID = "gen_ai.response.id": Text;
        /// The model that has answered.
        RESPONSE_MODEL = "gen_ai.response.model": Text;
        /// The reasons for which the replies have ended.
        RESPONSE_FINISH_REASONS = "gen_ai.response.finish_reasons": Texts;
        /// The time until the first piece of the reply, in seconds.
        RESPONSE_TIME_TO_FIRST_CHUNK = "gen_ai.response.time_to_first_chunk": Double;
        /// The input tokens.
        USAGE_INPUT_TOKENS = "gen_ai.usage.input_tokens": Integer;
        /// The output tokens.
        USAGE_OUTPUT_TOKENS = "gen_ai.usage.output_tokens": Integer;
        /// The input tokens that the vendor has read from its cache.
        USAGE_CACHE_READ_INPUT_TOKENS = "gen_ai.usage.cache_read.input_tokens": Integer;
        /// The input tokens that the vendor has written to its cache.
        USAGE_CACHE_CREATION_INPUT_TOKENS = "gen_ai.usage.cache_creation.input_tokens": Integer;
        /// The output tokens of reasoning.
        USAGE_REASONING_OUTPUT_TOKENS = "gen_ai.usage.reasoning.output_tokens": Integer;
        /// The direction of counted tokens, in metrics: `input` or `output`.
        TOKEN_TYPE = "gen_ai.token.type": Text;
        /// The name of the tool.
        TOOL_NAME = "gen_ai.tool.name": Text;
        /// The kind of tool.
        TOOL_TYPE = "gen_ai.tool.type": Text;
        /// The description of the tool.
        TOOL_DESCRIPTION = "gen_ai.tool.description": Text;
        /// The id of the tool call.
        TOOL_CALL_ID = "gen_ai.tool.call.id": Text;
        /// The arguments of the tool call.
        TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments": Content;
        /// The result of the tool call.
        TOOL_CALL_RESULT = "gen_ai.tool.call.result": Content;
        /// The tools that the model can call.
        TOOL_DEFINITIONS = "gen_ai.tool.definitions": Content;
        /// The system prompt, as parts.
        SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions": Content;
        /// The messages of the request, without the system prompt.
        INPUT_MESSAGES = "gen_ai.input.messages": Content;
        /// The replies.
        OUTPUT_MESSAGES = "gen_ai.output.messages": Content;
        /// The documents that a retrieval has found.
        RETRIEVAL_DOCUMENTS = "gen_ai.retrieval.documents": Content;
        /// The text that a retrieval searches for.
        RETRIEVAL_QUERY_TEXT = "gen_ai.retrieval.query.text": Content;
        /// The name of the measure of an evaluation.
        EVALUATION_NAME = "gen_ai.evaluation.name": Text;
        /// The score of an evaluation.
        EVALUATION_SCORE_VALUE = "gen_ai.evaluation.score.value": Double;
        /// The score of an evaluation as a word.
        EVALUATION_SCORE_LABEL = "gen_ai.evaluation.score.label": Text;
        /// The reason for the score of an evaluation.
        EVALUATION_EXPLANATION = "gen_ai.evaluation.explanation": Content;
        /// The method of an MCP request.
        MCP_METHOD_NAME = "mcp.method.name": Text;
        /// The kind of failure; a word of a fixed list.
        ERROR_TYPE = "error.type": Text;
        /// The user on whose behalf a call is made, which is recorded only on request.
        ENDUSER_ID = "enduser.id": Text;
        /// The method of an HTTP request.
        HTTP_REQUEST_METHOD = "http.request.method": Text;
        /// The pattern of the path of an HTTP request.
        HTTP_ROUTE = "http.route": Text;
        /// The status of the answer to an HTTP request.
        HTTP_RESPONSE_STATUS_CODE = "http.response.status_code": Integer;
        /// The transport of an MCP connection: `tcp` or `pipe`.
        NETWORK_TRANSPORT = "network.transport": Text;
        /// The name of a span, if it has variable parts. Read by tracing-opentelemetry.
        OTEL_NAME = "otel.name": Text;
        /// The kind of a span. Read by tracing-opentelemetry.
        OTEL_KIND = "otel.kind": Text;
        /// The status of a span. Read by tracing-opentelemetry.
        OTEL_STATUS_CODE = "otel.status_code": Text;
        /// The id of a request to the server.
        REQUEST_ID = "agcore.request.id": Text;
        /// The tenant that has sent a request.
        TENANT = "agcore.tenant": Text;
        /// The user who has sent a request.
        USER = "agcore.user": Text;
        /// The administrator who has sent a request.
        ADMINISTRATOR = "agcore.administrator": Text;
        /// The id of the run.
        RUN_ID = "agcore.run.id": Text;
        /// The end of a run: `finished`, `failed`, `cancelled` or `interrupted`.
        RUN_OUTCOME = "agcore.run.outcome": Text;
        /// The number of attempts of a model call.
        ATTEMPTS = "agcore.attempts": Integer;
        /// The provider, model and key that have answered.
        ANSWERED_BY = "agcore.answered_by": Text;
        /// The name of the key that was used.
        KEY = "agcore.key": Text;
        /// The name of a node of a flow.
        FLOW_NODE = "agcore.flow.node": Text;
        /// The number of the visit of a node in its run.
        FLOW_VISIT = "agcore.flow.visit": Integer;
        /// The time since the piece before, in seconds. Only in the events of [`span::CHUNK`](super::span::CHUNK).
        CHUNK_SECONDS = "agcore.chunk.seconds": Double;
    }
}

/// The values of [`attribute::OPERATION_NAME`] that agcore's own spans have.
pub mod operation {
    /// A call of a model.
    pub const CHAT: &str = "chat";
    /// A request for embeddings.
    pub const EMBEDDINGS: &str = "embeddings";
    /// A turn of an agent.
    pub const INVOKE_AGENT: &str = "invoke_agent";
    /// The execution of a tool call.
    pub const EXECUTE_TOOL: &str = "execute_tool";
    /// A run of a flow.
    pub const INVOKE_WORKFLOW: &str = "invoke_workflow";
}

/// The names of spans, as `tracing` knows them. Exported names have variable parts, such as `chat gpt-5-mini`.
pub mod span {
    /// A call of a model, also for embeddings and other kinds.
    pub const CHAT: &str = "chat";
    /// A turn of an agent.
    pub const INVOKE_AGENT: &str = "invoke_agent";
    /// The execution of a tool call.
    pub const EXECUTE_TOOL: &str = "execute_tool";
    /// A run of a flow.
    pub const INVOKE_WORKFLOW: &str = "invoke_workflow";
    /// A visit of a node of a flow.
    pub const FLOW_NODE: &str = "flow_node";
    /// A request to the server.
    pub const HTTP_REQUEST: &str = "http_request";
    /// The part of a run that one process executes.
    pub const RUN: &str = "run";
    /// A request to our MCP server.
    pub const MCP_SERVER: &str = "mcp_server";
    /// A message to a webhook.
    pub const WEBHOOK: &str = "webhook";
    /// The target of events about a further piece of a streamed reply. They are of the level `trace`, and their target keeps them
    /// out of logs: only metrics use them.
    pub const CHUNK: &str = "gen_ai::chunk";
}

/// The metrics. All are histograms.
pub mod metric {
    use super::{MetricName, attribute as a};

    const CALL_SECONDS: &[f64] = &[
        0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
    ];
    const AGENT_SECONDS: &[f64] = &[0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
    const WORKFLOW_SECONDS: &[f64] = &[1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0];
    const TOKENS: &[f64] = &[
        1.0,
        4.0,
        16.0,
        64.0,
        256.0,
        1024.0,
        4096.0,
        16384.0,
        65536.0,
        262_144.0,
        1_048_576.0,
        4_194_304.0,
        16_777_216.0,
        67_108_864.0,
    ];

    /// The tokens of a model call, by direction.
    pub const CLIENT_TOKEN_USAGE: MetricName = MetricName {
        name: "gen_ai.client.token.usage",
        unit: "{token}",
        description: "Number of input and output tokens used.",
        boundaries: TOKENS,
        attributes: &[
            a::OPERATION_NAME,
            a::PROVIDER_NAME,
            a::REQUEST_MODEL,
            a::RESPONSE_MODEL,
            a::TOKEN_TYPE,
        ],
    };
    /// The duration of a model call, with its retries and waits.
    pub const CLIENT_OPERATION_DURATION: MetricName = MetricName {
        name: "gen_ai.client.operation.duration",
        unit: "s",
        description: "GenAI operation duration.",
        boundaries: CALL_SECONDS,
        attributes: &[
            a::OPERATION_NAME,
            a::PROVIDER_NAME,
            a::REQUEST_MODEL,
            a::RESPONSE_MODEL,
            a::ERROR_TYPE,
        ],
    };
    /// The time until the first piece of a streamed reply.
    pub const CLIENT_TIME_TO_FIRST_CHUNK: MetricName = MetricName {
        name: "gen_ai.client.operation.time_to_first_chunk",
        unit: "s",
        description: "Time to receive the first chunk of a streamed reply.",
        boundaries: CALL_SECONDS,
        attributes: &[a::OPERATION_NAME, a::PROVIDER_NAME, a::REQUEST_MODEL, a::RESPONSE_MODEL],
    };
    /// The time between two pieces of a streamed reply.
    pub const CLIENT_TIME_PER_OUTPUT_CHUNK: MetricName = MetricName {
        name: "gen_ai.client.operation.time_per_output_chunk",
        unit: "s",
        description: "Time between two chunks of a streamed reply.",
        boundaries: CALL_SECONDS,
        attributes: &[a::OPERATION_NAME, a::PROVIDER_NAME, a::REQUEST_MODEL, a::RESPONSE_MODEL],
    };
    /// The duration of a turn of an agent.
    pub const INVOKE_AGENT_DURATION: MetricName = MetricName {
        name: "gen_ai.invoke_agent.duration",
        unit: "s",
        description: "Duration of a single agent invocation.",
        boundaries: AGENT_SECONDS,
        attributes: &[a::OPERATION_NAME, a::AGENT_NAME, a::REQUEST_MODEL, a::ERROR_TYPE],
    };
    /// The duration of a tool call.
    pub const EXECUTE_TOOL_DURATION: MetricName = MetricName {
        name: "gen_ai.execute_tool.duration",
        unit: "s",
        description: "Duration of a single tool execution.",
        boundaries: CALL_SECONDS,
        attributes: &[a::OPERATION_NAME, a::TOOL_NAME, a::TOOL_TYPE, a::ERROR_TYPE],
    };
    /// The duration of a run of a flow in one process.
    pub const WORKFLOW_DURATION: MetricName = MetricName {
        name: "gen_ai.workflow.duration",
        unit: "s",
        description: "GenAI workflow duration.",
        boundaries: WORKFLOW_SECONDS,
        attributes: &[a::WORKFLOW_NAME, a::ERROR_TYPE],
    };

    /// All metrics.
    pub const ALL: &[MetricName] = &[
        CLIENT_TOKEN_USAGE,
        CLIENT_OPERATION_DURATION,
        CLIENT_TIME_TO_FIRST_CHUNK,
        CLIENT_TIME_PER_OUTPUT_CHUNK,
        INVOKE_AGENT_DURATION,
        EXECUTE_TOOL_DURATION,
        WORKFLOW_DURATION,
    ];
}
