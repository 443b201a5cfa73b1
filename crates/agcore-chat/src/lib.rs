//! The vocabulary of LLM chat.
//!
//! ```
//! use agcore_chat::{ChatRequest, ChatResponse, Message, validate_messages};
//!
//! let request = ChatRequest::new([Message::system("Be brief."), Message::user("Capital of France?")]);
//! validate_messages(&request.messages)?;
//!
//! let reply = r#"{"choices": [{"message": {"role": "assistant", "content": "Paris."}, "finish_reason": "stop"}]}"#;
//! let response: ChatResponse = serde_json::from_str(reply)?;
//! assert_eq!(response.text(), "Paris.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Pure data, pure functions, and the few contracts that several of agcore's crates share. The canonical JSON of every
//! type is the one of the OpenAI Chat Completions API; wires of agcore-llm translate other APIs into it. Everything is
//! optional when read, `null` is as good as absent, unknown members are kept and written back.
//!
//! No runtime, no clock, no environment: the crate builds for wasm32.

mod object;

pub mod text;
pub mod marks;
pub mod content;
pub mod tool;
pub mod tool_call;
pub mod tool_choice;
pub mod assistant;
pub mod message;
pub mod finish;
pub mod usage;
pub mod request;
pub mod response;
pub mod chunk;
pub mod fault;
pub mod price;
pub mod clock;
pub mod embed;
pub mod schema;
pub mod executor;
pub mod event;
pub mod sequence;
pub mod tokens;
pub mod window;

#[doc(inline)]
pub use {
    assistant::{AssistantMessage, Block, FunctionCall, Reasoning, TextBlock},
    chunk::{ChatChunk, ChunkChoice, CustomDelta, Delta, FunctionDelta, ToolCallDelta},
    clock::Clock,
    content::{
        AudioPart, Content, ContentPart, FilePart, FileRef, ImagePart, ImageUrl, InputAudio, RefusalPart, TextPart,
    },
    embed::{Embedder, Embeddings},
    event::{
        AgentEvent, CompactionMethod, ContextEvent, EventKind, Extension, ModelEvent, PersonEvent, StreamEvent,
        TextEvent, ToolEvent, TurnEvent,
    },
    executor::{
        Answer, ApprovalScope, Progress, Question, QuestionId, QuestionKind, ToolExecutor, ToolOutcome, ToolReport,
        ToolReports, ToolResult, ToolWork,
    },
    fault::{Fault, FaultKind},
    finish::FinishReason,
    marks::{CacheMark, EXTENSION_MEMBER, Marks, Origin},
    message::{FunctionMessage, InstructionMessage, Message, Role, ToolMessage, UserMessage},
    object::Extra,
    price::{Money, PriceFn},
    request::{ChatRequest, JsonSchemaFormat, ResponseFormat, StopSequence, StreamOptions},
    response::{AnsweredBy, ChatResponse, Choice},
    schema::{SchemaCheck, SchemaViolation},
    sequence::{SequenceError, SequenceErrorKind, validate_messages},
    text::{Text, floor_boundary},
    tokens::{HeuristicEstimator, TokenEstimator, TokenizerFamily, estimate_text},
    tool::{CustomTool, Tool, ToolDefinition},
    tool_call::{ArgumentsError, CallInput, RawArguments, ToolCall, VendorData},
    tool_choice::{AllowedMode, AllowedTool, ToolChoice},
    usage::{CompletionTokensDetails, PromptTokensDetails, Usage, UsageTracker},
    window::{
        CompactionBreaker, Pruned, WindowSettings, prunable_results, prune_tool_results, pruned_result, safe_cut,
        summarized, summary_of,
    },
};
