//! The HTTP transport and a provider on top of it, against servers that control every byte.
//!
//! The program `http_reqwest` runs these tests with the client on reqwest.

mod body;
mod connect;
mod credential;
mod forward_proxy;
#[cfg(feature = "http2")]
mod http2;
mod interrupt;
mod line_wire;
mod many;
mod model_list;
mod proxy;
mod proxy_errors;
mod raw_server;
mod reuse;
mod timeout;
mod tls;

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{
    Call, LlmError, LlmProvider, ProviderInfo, ReplyDelta, ReplyItem, ReplyStream, WireProvider,
    transport::http::{HttpOptions, HttpTransport, Timeouts},
};
use futures_util::StreamExt;

use self::line_wire::LineWire;

/// A timeout that is short enough to wait for and long enough for everything that must happen before it expires.
const SHORT: Duration = Duration::from_millis(300);

/// Creates a transport on the client that this program tests.
fn transport(options: HttpOptions) -> Result<HttpTransport, LlmError> {
    HttpTransport::new(options.with_client(crate::http_client()))
}

fn provider(options: HttpOptions) -> WireProvider {
    let transport = transport(options).unwrap();
    let guard = transport.guard().clone();
    let info = ProviderInfo::new("lines", "line-1");
    WireProvider::new(info, Arc::new(LineWire), Arc::new(transport)).with_guard(guard)
}

/// Returns a provider without any timeout, so only the test can end a call.
fn unlimited(url: &str) -> WireProvider {
    provider(HttpOptions::new(url).with_timeouts(Timeouts::unlimited()))
}

fn limited(url: &str, timeouts: Timeouts) -> WireProvider {
    provider(HttpOptions::new(url).with_timeouts(timeouts))
}

fn hello() -> Call {
    Call::new(ChatRequest::new([Message::user("Hello")]))
}

/// Returns the text of a reply, and its end.
async fn read(mut items: ReplyStream) -> (String, Result<(), LlmError>) {
    let mut text = String::new();
    while let Some(item) = items.next().await {
        match item {
            ReplyItem::Delta(ReplyDelta::Text { text: more, .. }) => text.push_str(&more),
            // The metadata of the reply.
            ReplyItem::Delta(ReplyDelta::Start(_)) => {}
            ReplyItem::End(end) => {
                assert!(items.next().await.is_none(), "no item follows the end");
                return (text, end);
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    panic!("the stream ended without an end after {text:?}")
}

/// Makes a call that fails, and returns the error.
async fn call_error(provider: &WireProvider, call: Call) -> LlmError {
    let (text, end) = read(provider.open(call)).await;
    end.expect_err(&text)
}
