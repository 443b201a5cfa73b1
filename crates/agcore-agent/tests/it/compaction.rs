//! Requested compaction of a session, and budgets shared by sessions.

use agcore_agent::{AgentBuilder, AgentConfig, AgentErrorKind, AgentSpec};
use agcore_chat::{CompactionMethod, Fault, FaultKind, validate_messages};
use agcore_cycle::{Budget, BudgetPool, Budgets, CompactionSettings};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};

fn builder(provider: &ScriptedProvider, config: AgentConfig) -> AgentBuilder {
    AgentBuilder::new()
        .with_provider(provider.clone())
        .with_clock(ManualClock::jumping())
        .with_config(config)
}

#[tokio::test]
async fn a_session_continues_after_a_requested_compaction() {
    let long = "Once upon a time. ".repeat(50);
    let steps = [&long, &long, &long, "They told stories.", "The end."];
    let provider = ScriptedProvider::new(steps.map(ScriptStep::text));
    let mut compaction = CompactionSettings::new();
    compaction.window.keep_recent = 2;
    let config = AgentConfig::new().with_compaction(compaction);
    let session = builder(&provider, config)
        .build()
        .unwrap()
        .session("s", AgentSpec::new("ada", "Tell."));
    assert!(session.compact().await.unwrap().is_unchanged());
    for _ in 0..3 {
        session.turn("A story!").await.unwrap();
    }
    let report = session.compact().await.unwrap();
    assert_eq!(
        (report.method, report.fault),
        (Some(CompactionMethod::Summary), None::<Fault>)
    );
    assert!(report.tokens_after < report.tokens_before);
    let messages = session.messages().await;
    validate_messages(&messages).unwrap();
    assert!(messages[0].text().starts_with("A story!") && messages[0].text().contains("They told stories."));
    session.turn("And now?").await.unwrap();
    assert_eq!(session.usage().await.calls, 5);
}

#[tokio::test]
async fn sessions_share_a_pool() {
    let provider = ScriptedProvider::new(["One.", "Two."].map(ScriptStep::text));
    let pool = BudgetPool::new(Budget::new().with_model_calls(1));
    let bundle = builder(
        &provider,
        AgentConfig::new().with_budgets(Budgets::new().with_pool(pool.clone())),
    )
    .build()
    .unwrap();
    let (first, second) = (
        bundle.session("1", AgentSpec::new("ada", "Be Ada.")),
        bundle.session("2", AgentSpec::new("ada", "Be Ada.")),
    );
    first.turn("Hello").await.unwrap();
    let error = second.turn("Hello").await.unwrap_err();
    assert!(
        error.kind() == AgentErrorKind::LimitReached && error.message().contains("pool.model_calls"),
        "{error}"
    );
    assert_eq!(error.fault().kind, FaultKind::Limit);
    assert_eq!(
        (pool.spent().model_calls, first.spent().await.tokens, provider.unused()),
        (1, 15, 1)
    );
}
