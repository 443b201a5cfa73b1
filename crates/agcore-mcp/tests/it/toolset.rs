//! Tools of a server in a registry are tools like any other.

use std::sync::{Arc, Mutex};

use agcore_chat::{SystemClock, ToolCall, ToolOutcome, ToolWork};
use agcore_mcp::{McpClient, ToolsetOptions};
use agcore_tools::{
    Approval, ApprovalRequest, Approver, PermissionRules, Rule, RuleState, ToolContext, ToolErrorKind, ToolPolicy,
    ToolRegistry,
};
use async_trait::async_trait;

use crate::support::{connect, server};

fn context() -> ToolContext {
    ToolContext::builder(Arc::new(SystemClock::new())).build()
}

fn names(registry: &ToolRegistry) -> Vec<String> {
    registry.list().iter().map(|tool| tool.name().to_string()).collect()
}

async fn invoke(registry: &ToolRegistry, name: &str, arguments: &str) -> Result<String, agcore_tools::ToolError> {
    let call = ToolCall::function("call_1", name, arguments);
    let output = registry.invoke(call, &context()).await.result?;
    Ok(output.into_content().unwrap().text().into_owned())
}

async fn registered(client: &McpClient, registry: &ToolRegistry) -> agcore_mcp::McpToolset {
    let options = ToolsetOptions::new().with_prefix("t_").with_permissions([]);
    client.register_into(registry, options).await.unwrap()
}

#[tokio::test]
async fn arguments_and_outputs_are_validated() {
    let Some(server) = server("good") else { return };
    let (client, registry) = (connect(server).await, ToolRegistry::new());
    let toolset = registered(&client, &registry).await;
    assert!(toolset.problems().is_empty() && registry.list().len() == 15);

    assert_eq!(invoke(&registry, "t_add", r#"{"a": 1, "b": 2}"#).await.unwrap(), "3");
    let error = invoke(&registry, "t_add", r#"{"a": "x"}"#).await.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
    assert!(error.message().contains("$: \"b\" is a required property"), "{error}");
    let error = invoke(&registry, "t_fail", "{}").await.unwrap_err();
    assert_eq!(
        (error.kind(), &*error.model_text()),
        (ToolErrorKind::ExecutionFailed, "the disk is full")
    );
    assert_eq!(invoke(&registry, "t_wrong_output", "{}").await.unwrap(), "n is x");
    assert_eq!(registry.get("t_rich").unwrap().annotations().read_only, Some(true));
    assert_eq!(registry.find_by_category("mcp:test").len(), 15);

    let error = invoke(&registry, "t_crash", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::NotConnected);
    toolset.unregister();
    assert!(registry.list().is_empty());
}

/// Allows calls once, and remembers them.
#[derive(Default)]
struct Allow(Mutex<Vec<String>>);

#[async_trait]
impl Approver for Allow {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        self.0.lock().unwrap().push(request.tool.to_string());
        Approval::once()
    }
}

#[tokio::test]
async fn permissions_and_approvals_apply() {
    let Some(server) = server("good") else { return };
    let (client, registry) = (connect(server).await, ToolRegistry::new());
    client.register_into(&registry, ToolsetOptions::new()).await.unwrap();
    let work = |name: &str| ToolWork::new(ToolCall::function("call_1", name, r#"{"a": 1, "b": 2}"#));

    // Without a rule, an approver decides; without one, the call is denied.
    let executor = registry.executor(context()).build().unwrap();
    let (outcome, _) = executor.settle(work("add")).await;
    assert!(outcome != ToolOutcome::done("3"), "{outcome:?}");

    let approver = Arc::new(Allow::default());
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Deny, "fail"));
    let policy = ToolPolicy::new(rules).with_approver(Arc::clone(&approver) as Arc<dyn Approver>);
    let executor = registry.executor(context()).with_policy(policy).build().unwrap();
    assert_eq!(executor.settle(work("add")).await.0, ToolOutcome::done("3"));
    executor.settle(work("fail")).await;
    assert_eq!(*approver.0.lock().unwrap(), ["add"]);
}

#[tokio::test]
async fn the_registry_follows_the_server() {
    let Some(server) = server("good") else { return };
    let (client, registry) = (connect(server).await, ToolRegistry::new());
    let _toolset = registered(&client, &registry).await;
    let snapshot = registry.snapshot();
    invoke(&registry, "t_add", r#"{"a": 1, "b": 2}"#).await.unwrap();
    invoke(&registry, "t_grow", "{}").await.unwrap();
    let revision = registry.changed_since(snapshot.revision()).await;
    assert!(revision > snapshot.revision());
    let names = names(&registry);
    assert!(
        names.contains(&"t_new".to_owned()) && !names.contains(&"t_fail".to_owned()),
        "{names:?}"
    );
    // A run in progress keeps its tools, and tools that did not change their statistics.
    assert!(snapshot.get("t_fail").is_some());
    assert_eq!(registry.get("t_add").unwrap().statistics().calls, 1);
}

#[tokio::test]
async fn a_schema_that_changed_without_notice_is_noticed_at_the_call() {
    let Some(server) = server("good") else { return };
    let (client, registry) = (connect(server).await, ToolRegistry::new());
    let _toolset = registered(&client, &registry).await;
    invoke(&registry, "t_change", "{}").await.unwrap();
    let revision = registry.snapshot().revision();
    assert_eq!(registry.get("t_add").unwrap().tool().parameters()["required"][0], "a");
    let stale = call_past_validation(&registry).await;
    assert_eq!(stale.kind(), ToolErrorKind::InvalidArguments);
    assert_eq!(stale.model_text(), "the tool's server refused the call: x is required");
    registry.changed_since(revision).await;
    let schema = registry.get("t_add").unwrap().tool().parameters().clone();
    assert_eq!(schema["required"][0], "x");
}

/// Calls a tool without the validation of the registry, as with a schema that allows anything.
async fn call_past_validation(registry: &ToolRegistry) -> agcore_tools::ToolError {
    let tool = registry.get("t_add").unwrap();
    tool.tool()
        .execute(&agcore_tools::Arguments::new(), &context())
        .await
        .unwrap_err()
}

#[tokio::test]
async fn odd_names_and_broken_tools() {
    let Some(server) = server("names") else { return };
    let (client, registry) = (connect(server).await, ToolRegistry::new());
    let toolset = registered(&client, &registry).await;
    let long = format!("t_{}", "x".repeat(126));
    let expected = [
        "t__",
        "t_fs.read",
        "t_gr__e",
        "t_no_schema",
        "t_read_file",
        "t_read_file_2",
        "t_twice",
        "t_typeless",
    ];
    let mut expected: Vec<String> = expected.map(str::to_owned).into();
    expected.push(long);
    expected.sort();
    let mut actual = names(&registry);
    actual.sort();
    // Letters with an umlaut may be one character or two.
    assert_eq!(actual.len(), expected.len(), "{actual:?}");
    for name in &expected[..] {
        assert!(
            actual.contains(name) || name == "t_gr__e",
            "{name} is not among {actual:?}"
        );
    }
    let problems: Vec<_> = toolset.problems().iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("missing field `inputSchema`"), "{problems:?}");
    assert!(
        problems[1].contains(r#"a tool named "t_twice" is already registered"#),
        "{problems:?}"
    );
    assert!(
        problems[2].contains("t_broken_schema cannot be registered: invalid JSON Schema"),
        "{problems:?}"
    );
}

#[tokio::test]
async fn a_filter_changes_and_leaves_out_tools() {
    let Some(server) = server("good") else { return };
    let (client, registry) = (connect(server).await, ToolRegistry::new());
    let options = ToolsetOptions::new().with_filter(|tool| {
        tool.description.insert_str(0, "Untrusted: ");
        tool.name.starts_with('a')
    });
    client.register_into(&registry, options).await.unwrap();
    assert_eq!(names(&registry), ["add", "ask"]);
    assert_eq!(
        registry.get("add").unwrap().tool().description(),
        "Untrusted: The tool add."
    );
}

#[tokio::test]
async fn ten_thousand_tools_are_registered() {
    let Some(server) = server("many") else { return };
    let (client, registry) = (connect(server).await, ToolRegistry::new());
    let toolset = registered(&client, &registry).await;
    assert!(toolset.problems().is_empty());
    assert_eq!(registry.list().len(), 10_000);
}
