//! [`deny_network`]: a test that would make a real call fails instead.
//!
//! ```
//! use agcore_chat::{ChatRequest, Message};
//! use agcore_llm::{LlmErrorKind, LlmProviderExt, ProviderConfig};
//! use agcore_testkit::network::deny_network;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let _denied = deny_network();
//! let provider = ProviderConfig::of("openai:gpt-5-mini")?.with_api_key("sk-example").build()?;
//! let error = provider.chat(ChatRequest::new([Message::user("Hello")])).await.unwrap_err();
//! assert_eq!(error.kind(), &LlmErrorKind::Connect);
//! assert!(!error.is_retryable() && error.message().contains("`deny_network()` at"));
//! # Ok::<(), agcore_llm::LlmError>(())
//! # }).unwrap();
//! ```
//!
//! Servers on loopback, such as `mock_server`, can still be reached, unless
//! [`with_loopback_denied`](NetworkDenial::with_loopback_denied) is asked for. It is process-wide: see [`deny_network`].

pub use agcore_llm::transport::http::{NetworkDenial, deny_network};
