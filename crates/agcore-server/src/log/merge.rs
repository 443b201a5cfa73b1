//! [`merge`]: joins deltas that belong together.

use agcore_agui::Input;
use agcore_chat::{EventKind, StreamEvent, Text, TextEvent};

/// The size in bytes up to which deltas are joined: each reader keeps the event that it is being sent.
const LARGEST: usize = 32 * 1024;

/// Joins neighbouring deltas of the same text.
pub(super) fn merge(inputs: impl IntoIterator<Item = Input>) -> impl Iterator<Item = Input> {
    let mut inputs = inputs.into_iter().peekable();
    std::iter::from_fn(move || {
        let first = inputs.next()?;
        let mut text: Option<String> = None;
        loop {
            let size = text.as_deref().or(delta_of(&first)).map_or(0, str::len);
            let fits = |next: &Input| size + delta_of(next).map_or(0, str::len) <= LARGEST;
            let Some(next) = inputs.next_if(|next| is_joined(&first, next) && fits(next)) else {
                break;
            };
            let text = text.get_or_insert_with(|| delta_of(&first).unwrap_or_default().to_owned());
            text.push_str(delta_of(&next).unwrap_or_default());
        }
        Some(match first {
            Input::Event { event, step } => Input::Event {
                event: with_delta(event, text),
                step,
            },
            other => other,
        })
    })
}

fn is_joined(first: &Input, next: &Input) -> bool {
    match (first, next) {
        (
            Input::Event {
                event: first,
                step: one,
            },
            Input::Event {
                event: next,
                step: other,
            },
        ) => one == other && is_continued(first, next),
        _ => false,
    }
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

fn delta_of(input: &Input) -> Option<&str> {
    let Input::Event { event, .. } = input else {
        return None;
    };
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
        check_inputs(events.into_iter().map(Input::from).collect(), expected);
    }

    #[track_caller]
    fn check_inputs(inputs: Vec<Input>, expected: &[&str]) {
        let merged: Vec<Input> = merge(inputs).collect();
        let deltas = merged.iter().map(|input| delta_of(input).unwrap_or("-"));
        assert_eq!(deltas.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_joined_is_bounded() {
        let text = |size: usize| event(TextEvent::Text("a".repeat(size).into()));
        let merged: Vec<usize> =
            merge([text(LARGEST - 1), text(1), text(1), text(2 * LARGEST), text(1)].map(Input::from))
                .map(|input| delta_of(&input).map_or(0, str::len))
                .collect();
        assert_eq!(merged, [LARGEST, 1, 2 * LARGEST, 1]);
    }

    #[test]
    fn texts_of_different_steps_stay_apart() {
        let text = |step: &str| Input::Event {
            event: event(TextEvent::Text("a".into())),
            step: Some(step.into()),
        };
        check_inputs(
            vec![text("one"), text("one"), text("two"), text("one")],
            &["aa", "a", "a"],
        );
        let start = Input::Step(agcore_agui::Step::Started("two".into()));
        check_inputs(vec![text("one"), start, text("one")], &["a", "-", "a"]);
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
