//! Agents that name tools which do not exist.

use agcore_agent::{AgentError, AgentErrorKind, AgentSpec, RuntimeBundle, SubAgent, agent};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, Registration, ToolRegistry, typed};

fn pay() -> Registration {
    typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }).into()
}

fn clerk(tool: &str) -> AgentSpec {
    AgentSpec::new("clerk", "").with_tools([tool])
}

fn sub_agent(tool: &str) -> SubAgent {
    SubAgent::new(clerk(tool), "Pays invoices.")
}

fn model() -> ScriptedProvider {
    ScriptedProvider::new([ScriptStep::text("Done.")])
}

fn refused(built: Result<impl Sized, AgentError>) -> String {
    let error = built.err().expect("the agent is built");
    assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
    error.to_string()
}

const UNKNOWN: &str = "the agent `clerk` uses the tool `payy`, which is not registered; did you mean pay?";

#[tokio::test]
async fn an_unknown_tool_is_found_when_the_agent_is_built() {
    let builder = || agent(model()).with_tool(pay());
    assert_eq!(refused(builder().with_agent(clerk("payy")).build()), UNKNOWN);
    assert_eq!(refused(builder().with_agent(clerk("payy")).session()), UNKNOWN);
    assert_eq!(refused(builder().with_member(clerk("payy")).session()), UNKNOWN);
    assert_eq!(
        refused(builder().with_tool(sub_agent("payy")).session()),
        format!("the agent cannot be built: ask_clerk cannot be used: {UNKNOWN}")
    );
    assert!(
        refused(builder().with_agent(clerk("weather")).build())
            .ends_with("register it, or remove it from the agent's tools")
    );

    for session in [
        builder().with_agent(clerk("pay")).session(),
        builder().with_tool(sub_agent("pay")).session(),
        // The order does not matter.
        agent(model()).with_tool(sub_agent("pay")).with_tool(pay()).session(),
        // Sub-agents may ask each other.
        builder().with_tool(sub_agent("ask_clerk")).session(),
        // Skills can be set after the bundle was built.
        builder().with_agent(clerk("use_skill")).session(),
    ] {
        session.unwrap();
    }
}

#[tokio::test]
async fn a_sub_agent_with_a_bundle_has_the_tools_of_that() {
    let bundle = |tools: Vec<Registration>| -> RuntimeBundle { agent(model()).with_tools(tools).build().unwrap() };
    let builder = |tool: &str, own| agent(model()).with_tool(sub_agent(tool).with_bundle(own));
    builder("pay", bundle(vec![pay()])).session().unwrap();
    let error = refused(builder("pay", bundle(Vec::new())).with_tool(pay()).session());
    assert!(
        error.contains("the agent `clerk` uses the tool `pay`, which is not registered"),
        "{error}"
    );
}

#[tokio::test]
async fn tools_may_be_added_later_to_a_registry_that_others_have() {
    // As the connection to an MCP server does.
    let registry = ToolRegistry::new();
    let session = agent(model())
        .with_tools(registry.clone())
        .with_agent(clerk("bank_pay"))
        .session()
        .unwrap();
    let error = session.turn("Go").await.unwrap_err();
    assert!(
        error.to_string().contains("`bank_pay`, which is not registered"),
        "{error}"
    );
    registry.register(pay().with_prefix("bank_")).unwrap();
    assert_eq!(session.turn("Go").await.unwrap().text(), "Done.");

    // No one else can add tools to this one.
    let registry = ToolRegistry::new();
    registry.register(pay()).unwrap();
    assert_eq!(
        refused(agent(model()).with_tools(registry).with_agent(clerk("payy")).build()),
        UNKNOWN
    );
}
