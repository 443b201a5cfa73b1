//! The pure parts: events as updates, titles and places of calls, and hostile names.

use std::{path::Path, sync::Arc};

use agcore_acp::{CallView, FileChange, PromptLimits, Translator, content_of, history, schema};
use agcore_chat::{
    AgentEvent, AssistantMessage, Content, ContentPart, EventKind, Fault, FaultKind, Marks, Message, ModelEvent,
    Origin, Reasoning, StreamEvent, TextEvent, ToolEvent, Usage,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn describe(tool: &str, arguments: &Value) -> CallView {
    CallView::new(tool, None, arguments, Path::new("/project"))
}

fn updates(events: impl IntoIterator<Item = EventKind>) -> Vec<Value> {
    let mut translator = Translator::new().with_window(Some(1000)).with_notices(true);
    let event = |kind| StreamEvent::new(0, Arc::from("helper"), 0, 0, kind);
    let updates = events
        .into_iter()
        .flat_map(|kind| translator.event(&event(kind), &describe));
    updates.map(|update| serde_json::to_value(update).unwrap()).collect()
}

#[test]
fn a_reply_is_sent_once_whether_it_was_streamed_or_not() {
    let reply = || Arc::new(AssistantMessage::new("Hello").with_reasoning(Reasoning::new("Hm.")));
    let whole = updates([TextEvent::MessageComplete(reply()).into()]);
    let kinds: Vec<&Value> = whole.iter().map(|update| &update["sessionUpdate"]).collect();
    assert_eq!(kinds, ["agent_thought_chunk", "agent_message_chunk"]);
    let streamed = updates([
        TextEvent::Reasoning("Hm.".into()).into(),
        TextEvent::Text("Hel".into()).into(),
        TextEvent::Text("lo".into()).into(),
        TextEvent::MessageComplete(reply()).into(),
        TextEvent::MessageComplete(reply()).into(),
    ]);
    assert_eq!(streamed.len(), 5, "{streamed:?}");
}

#[test]
fn the_context_retries_and_plans_are_sent() {
    let fault = Fault::new(FaultKind::Overloaded, "busy");
    let step = |status: &str| AgentEvent::PlanStep {
        plan: "p".into(),
        index: 0,
        status: status.into(),
        description: "Count".into(),
    };
    let sent = updates([
        ModelEvent::Usage(Box::new(Usage::new(100, 20))).into(),
        ModelEvent::StreamRestarted { fault }.into(),
        step("running").into(),
        step("failed").into(),
    ]);
    assert_eq!(
        (&sent[0]["sessionUpdate"], &sent[0]["size"]),
        (&json!("usage_update"), &json!(1000))
    );
    assert_eq!(sent[1]["entries"][0]["status"], "in_progress");
    assert_eq!(sent[2]["entries"][0]["content"], "Count (failed)");
    assert_eq!(sent.len(), 3, "nothing was streamed that could be taken back: {sent:?}");
}

#[test]
fn the_calls_of_sub_agents_have_ids_of_their_own() {
    let mut translator = Translator::new();
    let kind = ToolEvent::Requested {
        call_id: "call_1".into(),
        name: "read_file".into(),
        input: r#"{"path": "a.txt"}"#.into(),
    };
    let event = StreamEvent::new(0, Arc::from("reviewer"), 0, 0, kind).with_parent(Arc::<str>::from("call_1"));
    let sent = serde_json::to_value(translator.event(&event, &describe)).unwrap();
    assert_eq!(sent[0]["toolCallId"], "call_1/call_1");
    assert_eq!(sent[0]["title"], "reviewer › read_file a.txt");
    let text = StreamEvent::new(1, Arc::from("reviewer"), 0, 0, TextEvent::Text("x".into()))
        .with_parent(Arc::<str>::from("call_1"));
    assert!(translator.event(&text, &describe).is_empty());
}

#[test]
fn names_do_not_deceive_and_places_stay_in_the_folder() {
    let check = |arguments: Value, title: &str, place: Option<&str>| {
        let view = CallView::new("edit_file", None, &arguments, Path::new("/project"));
        assert_eq!(view.title, title, "{arguments}");
        let found = view
            .locations
            .first()
            .map(|location| location.path.display().to_string());
        assert_eq!(found.as_deref(), place, "{arguments}");
    };
    check(
        json!({"path": "src/a.rs"}),
        "edit_file src/a.rs",
        Some("/project/src/a.rs"),
    );
    check(
        json!({"path": "/project/b.rs"}),
        "edit_file /project/b.rs",
        Some("/project/b.rs"),
    );
    check(json!({"path": "../etc/passwd"}), "edit_file ../etc/passwd", None);
    check(json!({"path": "/etc/passwd"}), "edit_file /etc/passwd", None);
    check(
        json!({"path": "a/../../project-2/x"}),
        "edit_file a/../../project-2/x",
        None,
    );
    check(
        json!({"path": "a\u{202e}b\nAllow?"}),
        "edit_file a\\u{202e}b\\u{a}Allow?",
        Some("/project/a\u{202e}b\nAllow?"),
    );
    check(json!({"path": "\u{0}"}), "edit_file \\u{0}", None);
    check(json!({"path": 5}), "edit_file", None);
    check(json!("text"), "edit_file", None);
    let long = CallView::new(
        "x",
        None,
        &json!({"command": "y".repeat(10_000)}),
        Path::new("/project"),
    );
    assert!(long.title.len() < 200, "{}", long.title.len());
}

#[test]
fn a_question_shows_a_change_only_if_it_fits() {
    let view = |after: String| {
        let change = FileChange {
            path: "/project/a".into(),
            before: None,
            after,
        };
        describe("edit_file", &json!({})).with_change(Some(change))
    };
    assert!(view("x".to_owned()).change.is_some());
    assert!(view("x".repeat(2 * 1024 * 1024)).change.is_some());
}

#[test]
fn a_loaded_session_notes_that_messages_were_summarized() {
    let summary = ContentPart::text("They agreed.").with_marks(Marks::new().with_origin(Origin::Summary));
    let of = |parts: Vec<ContentPart>| vec![Arc::new(Message::user(Content::Parts(parts)))];
    let shown = history(&of(vec![ContentPart::text("Hello"), summary]), &describe);
    let shown = serde_json::to_value(shown).unwrap();
    assert_eq!(shown[0]["sessionUpdate"], "agent_message_chunk");
    assert!(
        shown[0]["content"]["text"]
            .as_str()
            .unwrap()
            .contains("were summarized")
    );
    assert_eq!(
        (&shown[1]["content"]["text"], &shown[2]),
        (&json!("Hello"), &Value::Null)
    );
    assert_eq!(history(&of(vec![ContentPart::text("Hello")]), &describe).len(), 1);
}

proptest! {
    /// A prompt becomes a message or an error, and the text of a file never closes its own block.
    #[test]
    fn prompts_are_translated_or_refused(text in ".{0,200}", uri in ".{0,40}", data in ".{0,20}") {
        let blocks = json!([
            {"type": "text", "text": text},
            {"type": "resource_link", "uri": uri, "name": text},
            {"type": "resource", "resource": {"uri": uri, "text": format!("{text}</file>{text}")}},
            {"type": "image", "data": data, "mimeType": uri},
        ]);
        for end in 1..=4 {
            let blocks: Vec<schema::ContentBlock> = serde_json::from_value(json!(blocks.as_array().unwrap()[..end])).unwrap();
            if let Ok(content) = content_of(blocks, Path::new("/project"), &PromptLimits::default()) {
                let has_file = end >= 3;
                prop_assert_eq!(content.text().contains("<file-"), has_file);
            }
        }
    }

    #[test]
    fn calls_are_described_whatever_the_model_wrote(name in ".{0,30}", path in ".{0,60}") {
        let view = CallView::new(&name, None, &json!({"path": path}), Path::new("/project"));
        let hidden = view.title.contains(['\n', '\u{1b}', '\u{202e}']);
        prop_assert!(!hidden);
        prop_assert!(view.locations.iter().all(|location| location.path.starts_with("/project")));
    }
}
