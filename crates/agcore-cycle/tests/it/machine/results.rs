//! Truncation of long results.

use agcore_chat::{Content, ContentPart, Fault, FaultKind, Message, ToolOutcome, ToolResult};
use agcore_cycle::machine::Limits;
use serde_json::json;

use super::support::{TestRun, call_reply, started, tool};

/// Returns the content that enters the history for a tool's outcome, with this limit in bytes.
fn kept(limit: usize, outcome: ToolOutcome) -> Content {
    let mut run = TestRun::started_with(Limits::new().with_max_tool_result_bytes(limit));
    run.absorb(call_reply(&["a"]));
    run.absorb(started(&["a"]));
    run.absorb(tool("a", outcome));
    let Some(Message::Tool(result)) = run.machine.history().last().map(|message| &**message) else {
        panic!()
    };
    result.content.clone()
}

#[test]
fn keeps_short_results() {
    for text in ["", "x", "0123456789"] {
        assert_eq!(kept(10, ToolOutcome::done(text)), Content::from(text));
    }
    let parts = Content::Parts(vec![
        "01234".into(),
        ContentPart::image_url("data:image/png;base64,AAAA"),
        "56789".into(),
    ]);
    assert_eq!(kept(10, ToolOutcome::done(parts.clone())), parts);
}

#[test]
fn truncates_long_text_at_a_character_boundary() {
    for text in ["天气很好".repeat(100), "x".repeat(1000), "é🦀".repeat(200)] {
        for limit in [60, 61, 62, 63, 64, 200, 999] {
            let size = text.len();
            let Content::Text(cut) = kept(limit, ToolOutcome::done(text.as_str())) else {
                panic!()
            };
            let note = format!("\n[cut: this is the beginning of {size} bytes]");
            let start = cut.strip_suffix(&note).unwrap_or_else(|| panic!("{cut} has no note"));
            assert!(
                cut.len() <= limit && cut.len() + 4 > limit,
                "{} bytes of {limit}",
                cut.len()
            );
            assert!(text.starts_with(start) && !start.is_empty());
        }
    }
}

#[test]
fn the_limit_applies_even_if_the_note_does_not_fit() {
    for limit in [0, 1, 7, 40] {
        let content = kept(limit, ToolOutcome::done("天气很好".repeat(100)));
        assert!(content.text().len() <= limit, "{content:?}");
        let parts = Content::Parts(vec!["天气".into(), "很好".repeat(50).into()]);
        assert!(kept(limit, ToolOutcome::done(parts)).text().len() <= limit);
    }
}

#[test]
fn truncates_text_parts_together_and_keeps_images() {
    let image = ContentPart::image_url("data:image/png;base64,AAAA");
    let parts = vec![
        "天".repeat(20).into(),
        image.clone(),
        "气".repeat(50).into(),
        "tail".into(),
    ];
    let Content::Parts(cut) = kept(120, ToolOutcome::done(Content::Parts(parts))) else {
        panic!()
    };
    let bytes: usize = cut.iter().filter_map(ContentPart::as_text).map(str::len).sum();
    assert!(bytes <= 120 && bytes > 115, "{bytes}");
    assert_eq!(cut[0], ContentPart::text("天".repeat(20)));
    assert_eq!(cut[1], image);
    assert_eq!(
        cut.last().unwrap().as_text(),
        Some("\n[cut: this is the beginning of 214 bytes]")
    );
    assert_eq!(cut.len(), 4, "an empty part is removed: {cut:?}");
}

#[test]
fn truncates_every_kind_of_outcome() {
    let long = "x".repeat(500);
    let divert = ToolOutcome::Divert {
        content: long.as_str().into(),
        data: json!(null),
    };
    let fatal = ToolOutcome::Fatal(Fault::new(FaultKind::Tool, long.as_str()));
    for outcome in [
        ToolOutcome::done(long.as_str()),
        ToolOutcome::error(long.as_str()),
        divert,
        fatal,
    ] {
        assert_eq!(kept(100, outcome).text().len(), 100);
    }
}

#[test]
fn display_data_does_not_enter_the_history() {
    let mut run = TestRun::running(&["a"]);
    let changes = run.absorb(tool(
        "a",
        ToolOutcome::Done(ToolResult::new("ok").with_display(json!({"chart": 1}))),
    ));
    let event = serde_json::to_value(&changes.events[0]).unwrap();
    assert_eq!(event["tool"]["completed"]["display"], json!({"chart": 1}));
    assert_eq!(event["tool"]["completed"]["duration_us"], 7);
    assert!(!serde_json::to_string(run.machine.history()).unwrap().contains("chart"));
}
