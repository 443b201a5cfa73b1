//! The warning about a prompt that fills the context window.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use agcore_wire::{Chat, Close, ReplyHead, Wire, ollama::Ollama};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// A subscriber that collects the fields of warnings.
#[derive(Debug, Clone, Default)]
struct Warnings {
    seen: Arc<Mutex<Vec<String>>>,
    spans: Arc<AtomicU64>,
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = String::new();
        event.record(&mut Line(&mut line));
        self.seen.lock().unwrap().push(line);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

fn warnings(wire: &Ollama, tokens: u64) -> Vec<String> {
    let warnings = Warnings::default();
    let body = format!(r#"{{"message":{{"content":"x"}},"done":true,"prompt_eval_count":{tokens}}}"#);
    tracing::subscriber::with_default(warnings.clone(), || {
        let mut decoder = Wire::<Chat>::decoder(wire, &ReplyHead::default());
        decoder.feed(body.as_bytes(), &mut Vec::new()).unwrap();
        decoder.finish(Close::Clean, &mut Vec::new()).unwrap();
    });
    let seen = warnings.seen.lock().unwrap();
    seen.clone()
}

#[test]
fn warns_if_the_prompt_fills_the_window() {
    let wire = Ollama::new().with_num_ctx(4096);
    let seen = warnings(&wire, 4096);
    assert_eq!(seen.len(), 1);
    assert!(
        seen[0].contains("prompt_tokens=4096") && seen[0].contains("num_ctx=4096"),
        "{seen:?}"
    );
    assert!(warnings(&wire, 4095).is_empty());
    assert!(warnings(&Ollama::new(), 4096).is_empty(), "the window is unknown");
}
