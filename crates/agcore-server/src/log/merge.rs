//! [`merge`]: joins deltas that belong together.

use agcore_chat::{EventKind, StreamEvent, Text, TextEvent};

/// Joins neighbouring deltas of the same text.
pub(super) fn merge(events: Vec<StreamEvent>) -> Vec<StreamEvent> {
    let mut merged: Vec<(StreamEvent, Option<String>)> = Vec::new();
    for event in events {
        if let Some((last, text)) = merged.last_mut()
            && is_continued(last, &event)
            && let (Some(first), Some(delta)) = (delta_of(last), delta_of(&event))
        {
            text.get_or_insert_with(|| first.to_owned()).push_str(delta);
            continue;
        }
        merged.push((event, None));
    }
    merged
        .into_iter()
        .map(|(event, text)| with_delta(event, text))
        .collect()
}

fn is_continued(last: &StreamEvent, next: &StreamEvent) -> bool {
    let is_same_text = match (&last.kind, &next.kind) {
        (
            EventKind::Text(TextEvent::ToolArguments {
                index: last, call_id, ..
            }),
            EventKind::Text(next),
        ) => {
            matches!(next, TextEvent::ToolArguments { index, call_id: id, .. } if index == last && (id.is_empty() || id == call_id))
        }
        (EventKind::Text(last), EventKind::Text(next)) => std::mem::discriminant(last) == std::mem::discriminant(next),
        _ => false,
    };
    is_same_text
        && last.message == next.message
        && last.parent == next.parent
        && last.agent == next.agent
        && (last.turn, last.round) == (next.turn, next.round)
}

fn delta_of(event: &StreamEvent) -> Option<&str> {
    match &event.kind {
        EventKind::Text(TextEvent::Text(delta) | TextEvent::Reasoning(delta) | TextEvent::Refusal(delta)) => {
            Some(delta)
        }
        EventKind::Text(TextEvent::ToolArguments { arguments, .. }) => Some(arguments),
        _ => None,
    }
}

fn with_delta(mut event: StreamEvent, text: Option<String>) -> StreamEvent {
    let Some(text) = text.map(Text::from) else {
        return event;
    };
    if let EventKind::Text(
        TextEvent::Text(delta)
        | TextEvent::Reasoning(delta)
        | TextEvent::Refusal(delta)
        | TextEvent::ToolArguments { arguments: delta, .. },
    ) = &mut event.kind
    {
        *delta = text;
    }
    event
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn event(kind: TextEvent) -> StreamEvent {
        StreamEvent::new(0, Arc::from("ada"), 0, 0, kind)
    }

    fn arguments(index: u32, call: &str, arguments: &str) -> StreamEvent {
        event(TextEvent::ToolArguments {
            index,
            call_id: call.into(),
            name: "say".into(),
            arguments: arguments.into(),
        })
    }

    #[track_caller]
    fn check(events: Vec<StreamEvent>, expected: &[&str]) {
        let merged = merge(events);
        let deltas: Vec<_> = merged.iter().map(|event| delta_of(event).unwrap_or("-")).collect();
        assert_eq!(deltas, expected);
    }

    #[test]
    fn only_what_belongs_together_is_joined() {
        let text = |text: &str| event(TextEvent::Text(text.into()));
        let reasoning = |text: &str| event(TextEvent::Reasoning(text.into()));
        check(vec![], &[]);
        check(vec![text("a"), text("b"), text("c")], &["abc"]);
        check(
            vec![reasoning("a"), reasoning("b"), text("c"), text("d")],
            &["ab", "cd"],
        );
        check(
            vec![text("a"), text("b").with_parent(Arc::from("call")), text("c")],
            &["a", "b", "c"],
        );
        check(vec![text("a"), text("b").with_message(Arc::from("2.0"))], &["a", "b"]);
    }

    #[test]
    fn arguments_are_joined_by_call() {
        check(
            vec![
                arguments(0, "a", "{"),
                arguments(0, "", "}"),
                arguments(1, "b", "{"),
                arguments(1, "b", "}"),
            ],
            &["{}", "{}"],
        );
        check(vec![arguments(0, "a", "{}"), arguments(0, "b", "{}")], &["{}", "{}"]);
    }
}
