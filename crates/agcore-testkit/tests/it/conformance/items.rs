//! Faults in the items of a reply.

use agcore_chat::{FinishReason, Usage};
use agcore_llm::{Call, LlmError, LlmErrorKind, ReplyDelta, ReplyItem, ReplyStream};
use futures_util::{StreamExt, stream};

use super::faulty::Faulty;

/// Replaces each item with other items.
fn map_items(
    faulty: &Faulty,
    call: Call,
    mut map: impl FnMut(ReplyItem) -> Vec<ReplyItem> + Send + 'static,
) -> ReplyStream {
    ReplyStream::new(faulty.inner.open(call).flat_map(move |item| stream::iter(map(item))))
}

/// Replaces or removes each delta.
fn map_deltas(
    faulty: &Faulty,
    call: Call,
    mut map: impl FnMut(ReplyDelta) -> Option<ReplyDelta> + Send + 'static,
) -> ReplyStream {
    map_items(faulty, call, move |item| match item {
        ReplyItem::Delta(delta) => map(delta).map(ReplyItem::Delta).into_iter().collect(),
        other => vec![other],
    })
}

/// Replaces an error at the end.
fn map_errors(faulty: &Faulty, call: Call, map: fn(LlmError) -> Result<(), LlmError>) -> ReplyStream {
    map_items(faulty, call, move |item| match item {
        ReplyItem::End(Err(error)) => vec![ReplyItem::End(map(error))],
        other => vec![other],
    })
}

fn text(text: &str) -> ReplyDelta {
    ReplyDelta::Text {
        choice: 0,
        text: text.into(),
    }
}

pub(super) fn two_ends(faulty: &Faulty, call: Call) -> ReplyStream {
    map_items(faulty, call, |item| match item {
        end @ ReplyItem::End(_) => vec![end, ReplyItem::End(Ok(()))],
        other => vec![other],
    })
}

pub(super) fn delta_after_end(faulty: &Faulty, call: Call) -> ReplyStream {
    map_items(faulty, call, |item| match item {
        end @ ReplyItem::End(_) => vec![end, ReplyItem::Delta(text("late"))],
        other => vec![other],
    })
}

pub(super) fn no_end(faulty: &Faulty, call: Call) -> ReplyStream {
    map_items(faulty, call, |item| match item {
        ReplyItem::End(_) => vec![],
        other => vec![other],
    })
}

pub(super) fn endless(_: &Faulty, _: Call) -> ReplyStream {
    ReplyStream::new(stream::repeat_with(|| ReplyItem::Delta(text("."))))
}

pub(super) fn panicking(faulty: &Faulty, call: Call) -> ReplyStream {
    map_items(faulty, call, |_| panic!("a faulty provider"))
}

pub(super) fn lost_text(faulty: &Faulty, call: Call) -> ReplyStream {
    let mut count = 0;
    map_deltas(faulty, call, move |delta| {
        count += usize::from(matches!(delta, ReplyDelta::Text { .. }));
        let is_lost = count == 2 && matches!(delta, ReplyDelta::Text { .. });
        (!is_lost).then_some(delta)
    })
}

pub(super) fn swapped_text(faulty: &Faulty, call: Call) -> ReplyStream {
    let mut first = None;
    let mut swapped = false;
    map_items(faulty, call, move |item| match item {
        item @ ReplyItem::Delta(ReplyDelta::Text { .. }) if !swapped => match first.take() {
            None => {
                first = Some(item);
                vec![]
            }
            Some(held) => {
                swapped = true;
                vec![item, held]
            }
        },
        other => vec![other],
    })
}

pub(super) fn text_last(faulty: &Faulty, call: Call) -> ReplyStream {
    let mut held = Vec::new();
    map_items(faulty, call, move |item| match item {
        item @ ReplyItem::Delta(ReplyDelta::Text { .. }) => {
            held.push(item);
            vec![]
        }
        end @ ReplyItem::End(_) => held.drain(..).chain([end]).collect(),
        other => vec![other],
    })
}

pub(super) fn no_text(faulty: &Faulty, call: Call) -> ReplyStream {
    map_deltas(faulty, call, |delta| {
        (!matches!(delta, ReplyDelta::Text { .. })).then_some(delta)
    })
}

pub(super) fn swallowed_answer(faulty: &Faulty, call: Call) -> ReplyStream {
    map_deltas(faulty, call, |_| None)
}

pub(super) fn ascii_only(faulty: &Faulty, call: Call) -> ReplyStream {
    map_deltas(faulty, call, |delta| {
        Some(match delta {
            ReplyDelta::Text { text: original, .. } => text(&original.replace(|c: char| !c.is_ascii(), "?")),
            other => other,
        })
    })
}

pub(super) fn refuses_empty(faulty: &Faulty, call: Call) -> ReplyStream {
    let mut has_text = false;
    map_items(faulty, call, move |item| match item {
        ReplyItem::End(Ok(())) if !has_text => {
            let error = LlmError::new(LlmErrorKind::Malformed, "the answer is empty");
            vec![ReplyItem::End(Err(error))]
        }
        other => {
            has_text |= matches!(other, ReplyItem::Delta(ReplyDelta::Text { .. }));
            vec![other]
        }
    })
}

pub(super) fn always_stop(faulty: &Faulty, call: Call) -> ReplyStream {
    map_deltas(faulty, call, |delta| {
        Some(match delta {
            ReplyDelta::Finish { choice, .. } => ReplyDelta::Finish {
                choice,
                reason: FinishReason::Stop,
            },
            other => other,
        })
    })
}

pub(super) fn refusal_as_text(faulty: &Faulty, call: Call) -> ReplyStream {
    map_deltas(faulty, call, |delta| {
        Some(match delta {
            ReplyDelta::Refusal { choice, text } => ReplyDelta::Text { choice, text },
            other => other,
        })
    })
}

pub(super) fn reasoning_as_text(faulty: &Faulty, call: Call) -> ReplyStream {
    map_deltas(faulty, call, |delta| {
        Some(match delta {
            ReplyDelta::Reasoning { choice, text } => ReplyDelta::Text { choice, text },
            other => other,
        })
    })
}

pub(super) fn no_usage(faulty: &Faulty, call: Call) -> ReplyStream {
    map_deltas(faulty, call, |delta| {
        (!matches!(delta, ReplyDelta::Usage(_))).then_some(delta)
    })
}

pub(super) fn no_details(faulty: &Faulty, call: Call) -> ReplyStream {
    map_deltas(faulty, call, |delta| {
        Some(match delta {
            ReplyDelta::Usage(usage) => {
                let count = |tokens: Option<u64>| tokens.unwrap_or_default();
                let bare = Usage::new(count(usage.prompt_tokens), count(usage.completion_tokens));
                ReplyDelta::Usage(Box::new(bare))
            }
            other => other,
        })
    })
}

pub(super) fn zero_usage(faulty: &Faulty, call: Call) -> ReplyStream {
    map_items(faulty, call, |item| match item {
        end @ ReplyItem::End(_) => {
            let zero = ReplyDelta::Usage(Box::new(Usage::new(0, 0)));
            vec![ReplyItem::Delta(zero), end]
        }
        other => vec![other],
    })
}

pub(super) fn no_call_ids(faulty: &Faulty, call: Call) -> ReplyStream {
    map_deltas(faulty, call, |mut delta| {
        if let ReplyDelta::Call { fragment, .. } = &mut delta {
            fragment.id = None;
        }
        Some(delta)
    })
}

pub(super) fn one_place_for_calls(faulty: &Faulty, call: Call) -> ReplyStream {
    map_deltas(faulty, call, |mut delta| {
        if let ReplyDelta::Call { fragment, .. } = &mut delta {
            fragment.index = Some(0);
            fragment.id = None;
        }
        Some(delta)
    })
}

pub(super) fn swallowed_error(faulty: &Faulty, call: Call) -> ReplyStream {
    map_errors(faulty, call, |_| Ok(()))
}

pub(super) fn unknown_errors(faulty: &Faulty, call: Call) -> ReplyStream {
    map_errors(faulty, call, |_| {
        Err(LlmError::new(LlmErrorKind::Unknown, "something failed"))
    })
}

pub(super) fn never_retryable(faulty: &Faulty, call: Call) -> ReplyStream {
    map_errors(faulty, call, |error| Err(error.with_retryable(false)))
}

pub(super) fn no_hint(faulty: &Faulty, call: Call) -> ReplyStream {
    map_errors(faulty, call, |error| Err(error.with_retry_after(None)))
}

pub(super) fn no_status(faulty: &Faulty, call: Call) -> ReplyStream {
    map_errors(faulty, call, |error| Err(error.fault().with_status(None).into()))
}

pub(super) fn no_request_id(faulty: &Faulty, call: Call) -> ReplyStream {
    map_errors(faulty, call, |error| Err(error.fault().with_request_id(None).into()))
}

pub(super) fn text_before_error(faulty: &Faulty, call: Call) -> ReplyStream {
    map_items(faulty, call, |item| match item {
        end @ ReplyItem::End(Err(_)) => vec![ReplyItem::Delta(text("Sorry.")), end],
        other => vec![other],
    })
}
