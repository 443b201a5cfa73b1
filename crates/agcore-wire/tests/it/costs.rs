//! The cost that servers report, on every wire, whole and streamed.

use agcore_chat::{Money, Usage};
use agcore_wire::{APIS, Close, Fold, ReplyHead};

/// Decodes a reply, and returns its usage.
fn usage(api: &str, body: &str) -> Usage {
    let api = APIS.iter().find(|known| known.name == api).unwrap();
    let mut decoder = api.wire().decoder(&ReplyHead::default());
    let (mut deltas, mut fold) = (Vec::new(), Fold::new());
    decoder.feed(body.as_bytes(), &mut deltas).unwrap();
    decoder.finish(Close::Clean, &mut deltas).unwrap();
    deltas.into_iter().for_each(|delta| fold.push_owned(delta));
    fold.response().usage.unwrap()
}

#[track_caller]
fn check(api: &str, body: &str, micros: i64, member: &str) {
    let usage = usage(api, body);
    assert_eq!(usage.cost, Some(Money::from_micros(micros, "USD").into()), "{body}");
    assert!(
        usage.extra.get(member).is_some(),
        "the vendor's own member is kept: {usage:?}"
    );
}

#[test]
fn chat_replies_carry_the_cost() {
    for (cost, micros, member) in [
        (r#""cost": 0.0195, "is_byok": false"#, 19_500, "cost"),
        (r#""cost_in_usd_ticks": 37760000"#, 3776, "cost_in_usd_ticks"),
        (
            r#""cost": {"input_tokens_cost": 0.001, "total_cost": 0.006}"#,
            6000,
            "cost",
        ),
    ] {
        let usage = format!(r#""usage": {{"prompt_tokens": 5, "completion_tokens": 2, {cost}}}"#);
        let whole = format!(r#"{{"choices": [{{"message": {{"content": "Hi"}}, "finish_reason": "stop"}}], {usage}}}"#);
        check("openai-chat", &whole, micros, member);
        let text = r#"{"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}"#;
        let streamed = format!("data: {text}\n\ndata: {{\"choices\": [], {usage}}}\n\ndata: [DONE]\n\n");
        check("openai-chat", &streamed, micros, member);
        // A later chunk has the other counts only.
        let later = r#"{"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}"#;
        let twice = format!("data: {text}\n\ndata: {{\"choices\": [], {usage}}}\n\ndata: {later}\n\ndata: [DONE]\n\n");
        check("openai-chat", &twice, micros, member);
    }
}

#[cfg(feature = "openai-responses")]
#[test]
fn responses_carry_the_cost() {
    let body = r#"{"id": "r", "object": "response", "status": "completed", "output": [],
        "usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7, "cost": 0.25}}"#;
    check("openai-responses", body, 250_000, "cost");
}

#[cfg(feature = "anthropic")]
#[test]
fn messages_of_a_gateway_carry_the_cost() {
    let body = r#"{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 2, "cost": 0.25}}"#;
    check("anthropic", body, 250_000, "cost");
}
