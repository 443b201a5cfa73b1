//! Calls, turns and tools are measured from their spans.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{ChatRequest, Fault, FaultKind, FinishReason, Message, Usage};
use agcore_llm::{
    Call, LlmProvider, LlmProviderExt, Notice, ProviderInfo, ReplyDelta, ReplyItem, ReplyStream, layer::trace::Trace,
};
use agcore_telemetry::{Histograms, Label, MetricSink, MetricsLayer, installed_histograms};
use agcore_testkit::clock::ManualClock;
use agcore_trace::{CancelGuard, MetricName};
use futures_util::{StreamExt, stream};
use tracing_subscriber::{layer::SubscriberExt, util::SubscriberInitExt};

/// A measurement: the metric, the value and the attributes.
type Measurement = (&'static str, f64, Vec<(String, String)>);

/// Keeps all measurements.
#[derive(Default)]
struct Kept(Mutex<Vec<Measurement>>);

impl MetricSink for Kept {
    fn record(&self, metric: &'static MetricName, value: f64, labels: &[Label<'_>]) {
        let labels = labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.0.lock().unwrap().push((metric.name, value, labels.collect()));
    }
}

impl Kept {
    fn values(&self, metric: &str) -> Vec<f64> {
        let kept = self.0.lock().unwrap();
        kept.iter()
            .filter(|(name, ..)| *name == metric)
            .map(|(_, value, _)| *value)
            .collect()
    }

    fn labels(&self, metric: &str) -> Vec<(String, String)> {
        let kept = self.0.lock().unwrap();
        kept.iter().find(|(name, ..)| *name == metric).unwrap().2.clone()
    }
}

/// A provider whose reply has an item each second.
#[derive(Debug)]
pub(crate) struct Items(
    pub(crate) ProviderInfo,
    pub(crate) Arc<ManualClock>,
    pub(crate) fn() -> Vec<ReplyItem>,
);

impl LlmProvider for Items {
    fn open(&self, _: Call) -> ReplyStream {
        let clock = Arc::clone(&self.1);
        let items = stream::iter((self.2)());
        ReplyStream::new(items.inspect(move |_| clock.advance(Duration::from_secs(1))))
    }

    fn info(&self) -> &ProviderInfo {
        &self.0
    }
}

pub(crate) fn text() -> ReplyItem {
    ReplyItem::Delta(ReplyDelta::Text {
        choice: 0,
        text: "word".into(),
    })
}

fn items() -> Vec<ReplyItem> {
    let usage = Usage {
        prompt_tokens: Some(100),
        completion_tokens: Some(7),
        ..Usage::default()
    };
    let fault = Fault::new(FaultKind::Server, "it broke");
    let lost = Some(Box::new(Usage::new(20, 3)));
    vec![
        text(),
        text(),
        ReplyItem::Notice(Notice::Restarted { fault, usage: lost }),
        text(),
        text(),
        ReplyItem::Delta(ReplyDelta::Finish {
            choice: 0,
            reason: FinishReason::Stop,
        }),
        ReplyItem::Delta(ReplyDelta::Usage(Box::new(usage))),
        ReplyItem::End(Ok(())),
    ]
}

/// Returns the measurements of a call.
async fn measured(streamed: bool) -> Arc<Kept> {
    let (clock, kept) = (Arc::new(ManualClock::new()), Arc::new(Kept::default()));
    let layer = MetricsLayer::new(clock.clone()).with_sink(kept.clone());
    let _listening = tracing_subscriber::registry().with(layer.layer()).set_default();
    let provider = Trace::new(Items(ProviderInfo::new("gemini", "m-1"), clock.clone(), items), clock);
    let request = ChatRequest::new([Message::user("Hi")]);
    match streamed {
        true => drop(provider.chat_stream(request).collect::<Vec<_>>().await),
        false => drop(provider.chat(request).await),
    }
    kept
}

#[tokio::test]
async fn a_streamed_call_has_all_metrics() {
    let kept = measured(true).await;
    assert_eq!(kept.values("gen_ai.client.operation.duration"), [8.0]);
    assert_eq!(kept.values("gen_ai.client.operation.time_to_first_chunk"), [1.0]);
    // Not between the attempts.
    assert_eq!(kept.values("gen_ai.client.operation.time_per_output_chunk"), [1.0, 1.0]);
    // Also of the attempt that has failed.
    assert_eq!(kept.values("gen_ai.client.token.usage"), [120.0, 10.0]);
    let expected = [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "gcp.gemini"),
        ("gen_ai.request.model", "m-1"),
        ("gen_ai.token.type", "input"),
    ];
    let expected: Vec<_> = expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert_eq!(kept.labels("gen_ai.client.token.usage"), expected);
}

#[tokio::test]
async fn a_call_that_is_not_streamed_has_no_pieces() {
    let kept = measured(false).await;
    assert_eq!(kept.values("gen_ai.client.operation.duration").len(), 1);
    for metric in ["time_to_first_chunk", "time_per_output_chunk"] {
        assert_eq!(kept.values(&format!("gen_ai.client.operation.{metric}")), [0.0; 0]);
    }
}

#[test]
fn turns_tools_and_flows_are_measured_and_nothing_else() {
    let (clock, kept) = (Arc::new(ManualClock::new()), Arc::new(Kept::default()));
    let layer = MetricsLayer::new(clock.clone()).with_sink(kept.clone());
    let _listening = tracing_subscriber::registry().with(layer.layer()).set_default();
    let turn = tracing::info_span!(target: "agcore_agent", "invoke_agent", gen_ai.agent.name = "ada", gen_ai.conversation.id = "c");
    let tool = tracing::info_span!(
        target: "agcore_tools", parent: &turn, "execute_tool",
        gen_ai.tool.name = %"add", gen_ai.tool.call.id = "c1", error.type = tracing::field::Empty,
    );
    clock.advance(Duration::from_millis(1500));
    tool.record("error.type", "timeout");
    drop(tool);
    clock.advance(Duration::from_secs(2));
    drop(turn);
    drop(tracing::info_span!(target: "agcore_flow", "invoke_workflow", gen_ai.workflow.name = "w".repeat(900)));
    drop(tracing::info_span!(target: "elsewhere", "execute_tool"));
    drop(tracing::info_span!(target: "agcore_server", "run"));
    assert_eq!(kept.values("gen_ai.execute_tool.duration"), [1.5]);
    assert_eq!(kept.values("gen_ai.invoke_agent.duration"), [3.5]);
    assert_eq!(kept.values("gen_ai.workflow.duration").len(), 1);
    assert_eq!(kept.0.lock().unwrap().len(), 3);
    let owned = |labels: &[(&str, &str)]| -> Vec<(String, String)> {
        labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    // No ids.
    let tool = owned(&[("gen_ai.tool.name", "add"), ("error.type", "timeout")]);
    assert_eq!(kept.labels("gen_ai.execute_tool.duration"), tool);
    assert_eq!(
        kept.labels("gen_ai.invoke_agent.duration"),
        owned(&[("gen_ai.agent.name", "ada")])
    );
    assert!(kept.labels("gen_ai.workflow.duration")[0].1.len() < 300);
}

#[test]
fn work_that_is_dropped_is_no_success() {
    let kept = Arc::new(Kept::default());
    let layer = MetricsLayer::new(Arc::new(ManualClock::new())).with_sink(kept.clone());
    let _listening = tracing_subscriber::registry().with(layer.layer()).set_default();
    let turn = || {
        tracing::info_span!(
            target: "agcore_agent", "invoke_agent",
            error.type = tracing::field::Empty, otel.status_code = tracing::field::Empty,
        )
    };
    for ends in [false, true] {
        let span = turn();
        let guard = CancelGuard::new(&span);
        if ends {
            guard.finish();
        }
    }
    let kept = kept.0.lock().unwrap();
    let labels: Vec<_> = kept.iter().map(|(_, _, labels)| &**labels).collect();
    let cancelled = ("error.type".to_owned(), "cancelled".to_owned());
    assert_eq!(labels, [&[cancelled][..], &[]]);
}

#[test]
fn without_a_sink_no_span_is_enabled() {
    let layer = MetricsLayer::new(Arc::new(ManualClock::new()));
    let _listening = tracing_subscriber::registry().with(layer.layer()).set_default();
    assert!(tracing::info_span!(target: "agcore_tools", "execute_tool").is_disabled());
    assert!(installed_histograms().is_none());
}

#[test]
fn a_server_finds_the_histograms_of_the_program() {
    let histograms = Arc::new(Histograms::new());
    let layer = MetricsLayer::new(Arc::new(ManualClock::new())).with_histograms(Arc::clone(&histograms));
    // As a program does that has several layers.
    let layers = vec![layer.layer()];
    let _listening = tracing_subscriber::registry().with(layers).set_default();
    drop(tracing::info_span!(target: "agcore_tools", "execute_tool", gen_ai.tool.name = "add"));
    let found = installed_histograms().unwrap();
    assert!(Arc::ptr_eq(&found, &histograms));
    assert!(
        found
            .to_text()
            .contains("gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name=\"add\"} 1\n")
    );
}
