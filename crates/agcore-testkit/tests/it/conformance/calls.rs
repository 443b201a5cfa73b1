//! Faults in how a provider handles a call.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Block, ChatRequest, Message};
use agcore_llm::{Call, LlmError, ReplyDelta, ReplyItem, ReplyStream};
use futures_util::{StreamExt, future, stream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::faulty::Faulty;

/// Changes each request.
fn change_request(faulty: &Faulty, mut call: Call, change: impl FnOnce(&mut ChatRequest)) -> ReplyStream {
    change(Arc::make_mut(&mut call.request));
    faulty.inner.open(call)
}

/// Changes each message.
fn change_messages(faulty: &Faulty, call: Call, change: fn(&mut Message)) -> ReplyStream {
    change_request(faulty, call, |request| {
        for message in &mut request.messages {
            change(Arc::make_mut(message));
        }
    })
}

/// Changes nothing, to test a fault outside of `open`.
pub(super) fn unchanged(faulty: &Faulty, call: Call) -> ReplyStream {
    faulty.inner.open(call)
}

pub(super) fn silent(_: &Faulty, _: Call) -> ReplyStream {
    ReplyStream::new(stream::pending())
}

pub(super) fn no_usage_in_streams(faulty: &Faulty, call: Call) -> ReplyStream {
    let streamed = call.stream;
    let keep = move |item: &ReplyItem| !(streamed && matches!(item, ReplyItem::Delta(ReplyDelta::Usage(_))));
    ReplyStream::new(faulty.inner.open(call).filter(move |item| future::ready(keep(item))))
}

pub(super) fn ignores_the_token(faulty: &Faulty, call: Call) -> ReplyStream {
    faulty.inner.open(call.with_token(CancellationToken::new()))
}

/// Sends the request, reads the reply, and then reports that the call was cancelled.
pub(super) fn sends_although_cancelled(faulty: &Faulty, call: Call) -> ReplyStream {
    let mut inner = ignores_the_token(faulty, call);
    ReplyStream::new(stream::once(async move {
        while inner.next().await.is_some() {}
        ReplyItem::End(Err(LlmError::cancelled()))
    }))
}

/// Obeys the token, but a separate task continues reading.
pub(super) fn stays_connected(faulty: &Faulty, call: Call) -> ReplyStream {
    let token = call.token.clone();
    let mut inner = ignores_the_token(faulty, call);
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(item) = inner.next().await {
            let _ = sender.send(item);
        }
    });
    let items = stream::unfold((receiver, Some(token)), async |(mut receiver, token)| {
        let token = token?;
        let item = tokio::select! {
            biased;
            () = token.cancelled() => ReplyItem::End(Err(LlmError::cancelled())),
            item = receiver.recv() => item?,
        };
        let next_token = (!matches!(item, ReplyItem::End(_))).then_some(token);
        Some((item, (receiver, next_token)))
    });
    ReplyStream::new(items)
}

/// Sends the request before the reply is polled.
pub(super) fn eager(faulty: &Faulty, call: Call) -> ReplyStream {
    let (sender, receiver) = mpsc::unbounded_channel();
    let mut inner = faulty.inner.open(call);
    tokio::spawn(async move {
        while let Some(item) = inner.next().await {
            let _ = sender.send(item);
        }
    });
    ReplyStream::new(stream::unfold(receiver, async |mut receiver| {
        let item = receiver.recv().await?;
        Some((item, receiver))
    }))
}

pub(super) fn ignores_the_deadline(faulty: &Faulty, mut call: Call) -> ReplyStream {
    call.deadline = None;
    faulty.inner.open(call)
}

pub(super) fn fixed_model(faulty: &Faulty, call: Call) -> ReplyStream {
    change_request(faulty, call, |request| request.model = "fixed".to_owned())
}

pub(super) fn ignores_the_requested_model(faulty: &Faulty, call: Call) -> ReplyStream {
    change_request(faulty, call, |request| request.model.clear())
}

pub(super) fn drops_the_first_message(faulty: &Faulty, call: Call) -> ReplyStream {
    change_request(faulty, call, |request| drop(request.messages.remove(0)))
}

/// Sends reasoning back as text.
pub(super) fn reasoning_as_text(faulty: &Faulty, call: Call) -> ReplyStream {
    change_messages(faulty, call, |message| {
        if let Message::Assistant(AssistantMessage { blocks, .. }) = message {
            for block in blocks {
                if let Block::Reasoning(reasoning) = block {
                    *block = Block::text(&reasoning.text);
                }
            }
        }
    })
}

/// Changes the ids of calls and their results.
pub(super) fn other_ids(faulty: &Faulty, call: Call) -> ReplyStream {
    change_messages(faulty, call, |message| match message {
        Message::Assistant(AssistantMessage { blocks, .. }) => {
            for block in blocks {
                if let Block::Call(call) = block {
                    Arc::make_mut(call).id.insert(0, 'x');
                }
            }
        }
        Message::Tool(result) => result.tool_call_id.insert(0, 'x'),
        _ => {}
    })
}

pub(super) fn sorts_tools(faulty: &Faulty, call: Call) -> ReplyStream {
    change_request(faulty, call, |request| {
        let mut tools = request.tools.to_vec();
        tools.sort_by(|first, second| first.name().cmp(second.name()));
        request.tools = tools.into();
    })
}

pub(super) fn numbers_requests(faulty: &Faulty, call: Call) -> ReplyStream {
    let number = faulty.record(&call.request);
    change_request(faulty, call, |request| request.user = Some(number.to_string()))
}

/// Answers every call with the answer to the first one.
pub(super) fn repeats_the_first_request(faulty: &Faulty, mut call: Call) -> ReplyStream {
    faulty.record(&call.request);
    call.request = Arc::clone(&faulty.requests.lock().unwrap()[0]);
    faulty.inner.open(call)
}
