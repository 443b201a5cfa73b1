//! Several layers, each with a filter of its own, as in the program.

use std::sync::{Arc, Mutex};

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{LlmProviderExt, ProviderInfo, ReplyItem, layer::trace::Trace};
use agcore_telemetry::{Histograms, LogForm, LogLayer, MetricsLayer};
use agcore_testkit::clock::ManualClock;
use futures_util::StreamExt;
use tracing::{Id, Subscriber, span::Attributes};
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, Targets},
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
    util::SubscriberInitExt,
};

use crate::metrics::{Items, text};

/// Keeps the names of spans, as an exporter does that has a filter.
struct Names(Arc<Mutex<Vec<&'static str>>>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Names {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        self.0.lock().unwrap().push(attributes.metadata().name());
    }
}

#[tokio::test]
async fn every_layer_sees_the_span_after_a_streamed_reply() {
    let clock = Arc::new(ManualClock::new());
    let (lines, names) = (Arc::new(Mutex::new(String::new())), Arc::new(Mutex::new(Vec::new())));
    let histograms = Arc::new(Histograms::new());
    let written = Arc::clone(&lines);
    let log = LogLayer::new(LevelFilter::INFO, LogForm::Json, clock.clone(), move |lines| {
        written.lock().unwrap().push_str(lines);
    });
    let ours = Targets::new().with_target("agcore", LevelFilter::INFO);
    let layers = vec![
        log.layer(),
        Box::new(Names(Arc::clone(&names)).with_filter(ours)),
        MetricsLayer::new(clock.clone())
            .with_histograms(Arc::clone(&histograms))
            .layer(),
    ];
    let _listening = tracing_subscriber::registry().with(layers).set_default();

    // Ends after its first piece, for which there is no event.
    let one = || vec![text(), ReplyItem::End(Ok(()))];
    let provider = Trace::new(Items(ProviderInfo::new("gemini", "m-1"), clock.clone(), one), clock);
    drop(
        provider
            .chat_stream(ChatRequest::new([Message::user("Hi")]))
            .collect::<Vec<_>>()
            .await,
    );
    drop(tracing::info_span!(target: "agcore_tools", "execute_tool", gen_ai.tool.name = "add"));

    assert_eq!(*names.lock().unwrap(), ["chat", "execute_tool"]);
    assert_eq!(lines.lock().unwrap().lines().count(), 2, "{lines:?}");
    let count = "gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name=\"add\"} 1\n";
    assert!(histograms.to_text().contains(count));
}
