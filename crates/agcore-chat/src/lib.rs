//! The vocabulary of LLM chat: messages, tools, requests, replies, usage, events.
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
//! The crate consists of plain data, pure functions, and the contracts that several of agcore's crates share:
//! [`ToolExecutor`], [`Clock`], [`Embedder`], [`SchemaCheck`], [`TokenEstimator`], [`PriceFn`], [`Biller`].
//!
//! The canonical JSON of every type is that of the OpenAI Chat Completions API; agcore-wire translates to and from
//! other APIs. Reading is lenient: every member is optional, `null` counts as absent, unknown members are kept and
//! written back.
//!
//! By default, the crate needs no runtime, reads neither a clock nor the environment, and builds for wasm32.
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `timestamp` | `Timestamp`, a moment in UTC that is printed and parsed as RFC 3339. |
//! | `tokio` | `SystemClock`, a `Clock` that waits on tokio's timer. |
//!
//! <!-- /features -->

mod object;
mod small_text;
pub mod id;
mod call_scope;
mod fault;
mod clock;
mod content;
mod tool;
mod conversation;
mod cost;
mod reply;
mod request;
mod biller;
mod event;
mod tokens;
mod window;

pub mod redact;
pub mod schema;
pub mod text;
pub mod tool_name;

pub use {
    biller::{Bill, Biller, BillingFault, CallCost},
    call_scope::{actor::Actor, stop_check::StopCheck},
    clock::Clock,
    content::{
        Content,
        citation::{Citation, SourcePosition, TextSpan},
        marks::{CacheMark, EXTENSION_MEMBER, Marks, Origin},
        part::{AudioPart, ContentPart, FilePart, FileRef, ImagePart, ImageUrl, InputAudio, RefusalPart, TextPart},
    },
    conversation::{
        assistant::{AssistantMessage, Block, FunctionCall, Reasoning, TextBlock},
        media::{MediaKind, media_of, without_media},
        message::{FunctionMessage, InstructionMessage, Message, Role, ToolMessage, UserMessage},
        sequence::{SequenceError, SequenceErrorKind, validate_appended, validate_messages},
    },
    cost::{
        amount::{Amount, AmountError},
        billing::{BillingProfile, CostSource, UsageSummary},
        money::{CostTally, Money, MoneyError},
        price::{Price, PriceFn, PriceQuery},
        price_table::{PriceTable, TokenPrice},
        reported_cost::ReportedCost,
        usage::{CompletionTokensDetails, PromptTokensDetails, Usage, UsageTracker},
    },
    event::{
        AgentEvent, CompactionMethod, ContextEvent, EventKind, Extension, ModelEvent, PersonEvent, StreamEvent,
        TextEvent, ToolEvent, TurnEvent,
    },
    fault::{Fault, FaultKind},
    object::Extra,
    reply::{
        embed::{Embedder, Embeddings},
        finish::FinishReason,
        model_call::ModelCall,
        response::{AnsweredBy, ChatResponse, Choice, ResponseMetadata},
    },
    request::{ChatRequest, JsonSchemaFormat, Messages, ResponseFormat, StopSequence, StreamOptions},
    schema::check::{SchemaCheck, SchemaViolation},
    small_text::Text,
    tokens::{HeuristicEstimator, TokenEstimator, TokenizerFamily, estimate_text},
    tool::{
        CustomTool, Tool, ToolDefinition,
        annotations::ToolAnnotations,
        call::{ArgumentsError, CallInput, RawArguments, ToolCall, VendorData},
        choice::{AllowedMode, AllowedTool, ToolChoice},
        client_result::ClientResult,
        executor::{
            GuardFuture, Progress, ToolExecutor, ToolGuard, ToolOutcome, ToolReport, ToolReports, ToolResult, ToolWork,
        },
        question::{Answer, ApprovalScope, Question, QuestionId, QuestionKind},
    },
    window::{
        CompactionBreaker, Pruned, WindowSettings, prunable_results, prune_tool_results, pruned_result, safe_cut,
        summarized, summary_of,
    },
};

#[cfg(feature = "tokio")]
pub use clock::SystemClock;
#[cfg(feature = "timestamp")]
pub use clock::{Timestamp, TimestampError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
