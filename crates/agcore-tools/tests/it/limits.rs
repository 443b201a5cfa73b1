//! Limits of what a tool returns beside its text: structured values, metadata, images and files.

use agcore_chat::{Content, ContentPart, ToolOutcome, ToolResult};
use agcore_tools::{BaseTool, InputRequest, NoArguments, ToolOutput, typed};
use serde_json::{Value, json};

use crate::support::{error_text, executor_for, settle};

fn returns(output: impl Fn() -> ToolOutput + Send + Sync + 'static) -> impl BaseTool + 'static {
    typed("t", "Returns a fixed output.", move |_: NoArguments| {
        let output = output();
        async move { Ok(output) }
    })
}

async fn done(output: impl Fn() -> ToolOutput + Send + Sync + 'static) -> ToolResult {
    let executor = executor_for([returns(output)])
        .with_max_data_bytes(100)
        .with_max_media_bytes(1000)
        .build()
        .unwrap();
    let ToolOutcome::Done(result) = settle(&executor, "t", json!({})).await else {
        panic!("not done")
    };
    result
}

#[tokio::test]
async fn data_for_observers_is_replaced_by_a_note() {
    let long = || Value::from("x".repeat(200));
    let result = done(move || ToolOutput::content_and_value("text", long()).with_metadata(json!({"a": "short"}))).await;
    let note = json!({"omitted": "202 bytes, which is more than the limit of 100"});
    assert_eq!(result.display.unwrap()["structured"], note);
    let result = done(move || ToolOutput::text("text").with_metadata(json!([long()]))).await;
    assert_eq!(
        *result.display.unwrap(),
        json!({"metadata": {"omitted": "204 bytes, which is more than the limit of 100"}})
    );
    assert_eq!(result.content, Content::from("text"));
}

#[tokio::test]
async fn images_and_files_over_the_limit_are_replaced_by_a_note() {
    let image = |bytes: usize| ContentPart::image_url(format!("data:image/png;base64,{}", "A".repeat(bytes)));
    let result = done(move || ToolOutput::content(vec![image(500), image(5000), image(400), image(90)])).await;
    let Content::Parts(parts) = result.content else {
        panic!("no parts")
    };
    assert_eq!(parts.len(), 4);
    assert_eq!(parts[0], image(500));
    assert_eq!(
        parts[1].as_text(),
        Some("[an image of 5022 bytes was omitted: the images and files of a result are limited to 1000 bytes]")
    );
    assert_eq!(parts[2], image(400));
    assert!(
        parts[3]
            .as_text()
            .unwrap()
            .starts_with("[an image of 112 bytes was omitted")
    );
}

#[tokio::test]
async fn a_question_with_too_much_context_fails() {
    let executor = executor_for([returns(|| {
        ToolOutput::awaiting_input(InputRequest::new("?").with_context(Value::from("x".repeat(200))))
    })])
    .with_max_data_bytes(100)
    .build()
    .unwrap();
    assert_eq!(
        error_text(&settle(&executor, "t", json!({})).await),
        "the tool asked a question with data of more than 100 bytes, which cannot be saved"
    );
}

#[tokio::test]
async fn the_size_of_a_huge_value_is_counted_only_in_part() {
    let huge = || Value::from(vec![json!(1_000_000_007_u64); 2_000_000]);
    let result = done(move || ToolOutput::value(huge())).await;
    let text = result.content.text();
    assert!(text.starts_with("[1000000007,1000000007,"), "{}", &text[..40]);
    assert!(text.len() <= 65_536);
    assert!(
        text.ends_with("of more than 4194304 bytes; request less at a time]"),
        "{}",
        &text[text.len() - 100..]
    );
}
