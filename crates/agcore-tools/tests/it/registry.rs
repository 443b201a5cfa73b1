//! The registry: names, order, changes at run time, views.

use std::sync::Arc;

use agcore_chat::{Tool, ToolExecutor};
use agcore_tools::{BaseTool, NoArguments, Registration, ToolErrorKind, ToolRegistry, typed};
use serde_json::json;

use crate::support::{Echo, context, error_text, registry, settle, text};

fn names(tools: &[agcore_tools::RegisteredTool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name().as_str()).collect()
}

#[test]
fn lists_tools_sorted_and_builds_definitions_once() {
    let tools = registry([Echo::new("b"), Echo::new("a"), Echo::new("c.d/e")]);
    assert_eq!(names(&tools.list()), ["a", "b", "c.d/e"]);
    let definitions = tools.definitions();
    assert_eq!(
        definitions.iter().map(Tool::name).collect::<Vec<_>>(),
        ["a", "b", "c.d/e"]
    );
    assert!(
        Arc::ptr_eq(&definitions, &tools.definitions()),
        "built once per snapshot"
    );
    let executor = tools.executor(context()).build().unwrap();
    assert!(Arc::ptr_eq(&definitions, &executor.definitions()));
}

#[test]
fn rejects_a_name_that_is_already_registered() {
    let tools = registry([Echo::new("a")]);
    let error = tools.register(Echo::new("a")).unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Duplicate);
    tools
        .register(Registration::new(Echo::new("a")).with_prefix("other_"))
        .unwrap();
    assert_eq!(names(&tools.list()), ["a", "other_a"]);
}

#[test]
fn register_all_is_atomic() {
    let tools = registry([Echo::new("a")]);
    let before = tools.snapshot().revision();
    let error = tools
        .register_all([Echo::new("b"), Echo::new("c"), Echo::new("b")])
        .unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Duplicate);
    assert_eq!(names(&tools.list()), ["a"]);
    assert_eq!(tools.snapshot().revision(), before);
}

#[test]
fn rejects_invalid_names() {
    let tools = ToolRegistry::new();
    for name in ["", "two words", "line\nbreak", "nul\0", &"x".repeat(129)] {
        let error = tools.register(Echo::new(name)).expect_err(name);
        assert_eq!(error.kind(), ToolErrorKind::Config, "{error}");
    }
    for name in ["ünï", "a🙂", "a:b"] {
        let error = tools.register(Echo::new(name)).expect_err(name);
        assert!(error.to_string().contains("use letters, digits"), "{error}");
    }
    tools.register(Echo::new("fs.read")).unwrap();
    tools.register(Echo::new("github/search")).unwrap();
}

#[test]
fn rejects_names_that_a_vendor_could_not_distinguish() {
    for (first, second) in [("fs.read", "fs_read"), ("fs_read", "fs.read"), ("fs.read", "fs/read")] {
        let tools = registry([Echo::new(first)]);
        let error = tools.register(Echo::new(second)).unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Duplicate);
        let expected =
            format!("the tools {second:?} and {first:?} cannot be registered together: both are \"fs_read\"");
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(tools.register_all([Echo::new("a.b"), Echo::new("a_b")]).is_err());

        // The name is free again, and a tool may be replaced by one with the same name.
        tools.change(|change| change.replace(Echo::new(first))).unwrap();
        tools.unregister(first);
        tools.register(Echo::new(second)).unwrap();
    }
    let long = |end: char| format!("{}{end}", "x".repeat(100));
    registry([Echo::new(&long('a')), Echo::new(&long('b'))]);
}

struct IntegerArguments;

#[async_trait::async_trait]
impl BaseTool for IntegerArguments {
    fn name(&self) -> &str {
        "integer"
    }

    fn description(&self) -> &str {
        "Declares a number as its arguments, which no model can send."
    }

    fn parameters(&self) -> &serde_json::Value {
        static SCHEMA: std::sync::LazyLock<serde_json::Value> = std::sync::LazyLock::new(|| json!({"type": "integer"}));
        &SCHEMA
    }

    async fn execute(
        &self,
        _: &agcore_tools::Arguments,
        _: &agcore_tools::ToolContext,
    ) -> Result<agcore_tools::ToolOutput, agcore_tools::ToolError> {
        Ok("".into())
    }
}

#[test]
fn arguments_must_be_an_object() {
    let error = ToolRegistry::new().register(IntegerArguments).unwrap_err();
    assert!(
        error
            .message()
            .starts_with("integer cannot be registered: invalid JSON Schema: "),
        "{error}"
    );
}

#[test]
fn all_clones_refer_to_the_same_registry() {
    let tools = ToolRegistry::new();
    let other = tools.clone();
    tools.register(Echo::new("a")).unwrap();
    assert!(other.get("a").is_some());
    assert_eq!(&**other.unregister("a").unwrap().name(), "a");
    assert!(tools.get("a").is_none() && tools.unregister("a").is_none());
}

#[tokio::test]
async fn an_executor_keeps_its_snapshot() {
    let (old, new) = (Echo::new("a"), Echo::new("a"));
    let tools = registry([old.clone()]);
    let executor = tools.executor(context()).build().unwrap();
    tools
        .change(|change| {
            assert!(change.replace(new.clone())?.is_some());
            change.add(Echo::new("b"))
        })
        .unwrap();
    text(&settle(&executor, "a", json!({})).await);
    error_text(&settle(&executor, "b", json!({})).await);
    assert_eq!((old.count(), new.count(), executor.definitions().len()), (1, 0, 1));
    let next = tools.executor(context()).build().unwrap();
    text(&settle(&next, "a", json!({})).await);
    text(&settle(&next, "b", json!({})).await);
    assert_eq!((old.count(), new.count()), (1, 1));
}

#[test]
fn a_failed_change_has_no_effect() {
    let tools = registry([Echo::new("a")]);
    let failed = tools.change(|change| {
        change.retain(|_| false);
        assert!(change.get("a").is_none() && change.remove("a").is_none());
        change.add(Echo::new(""))
    });
    assert!(failed.is_err());
    assert_eq!(names(&tools.list()), ["a"]);
    assert!(tools.change(|change| Ok(change.remove("unknown"))).unwrap().is_none());
    assert_eq!(tools.snapshot().revision(), 1, "no change, so no new revision");
}

#[tokio::test]
async fn waits_for_changes() {
    let tools = ToolRegistry::new();
    assert_eq!(tools.snapshot().revision(), 0);
    let waiting = tokio::spawn({
        let tools = tools.clone();
        async move { tools.changed_since(0).await }
    });
    tokio::task::yield_now().await;
    tools.register(Echo::new("a")).unwrap();
    assert_eq!(waiting.await.unwrap(), 1);
    assert_eq!(
        tools.changed_since(0).await,
        1,
        "returns immediately for an earlier change"
    );
}

#[test]
fn finds_tools_by_tag_and_category() {
    let tools = ToolRegistry::new();
    let tool = |name| Registration::new(Echo::new(name));
    tools
        .register_all([
            tool("read").with_category("files").with_tag("safe").with_version("1.2"),
            tool("write").with_category("files"),
            tool("add").with_tag("safe").with_tag("math"),
        ])
        .unwrap();
    assert_eq!(names(&tools.find_by_tag("safe")), ["add", "read"]);
    assert_eq!(names(&tools.find_by_category("files")), ["read", "write"]);
    assert_eq!(tools.find_by_tag("nothing").len(), 0);
    let groups = tools.groups();
    assert_eq!(groups.keys().collect::<Vec<_>>(), ["", "files"]);
    assert_eq!(names(&groups[""]), ["add"]);
    let read = tools.get("read").unwrap();
    assert_eq!(
        (read.version(), read.category(), read.has_tag("safe")),
        (Some("1.2"), Some("files"), true)
    );
    assert_eq!(tools.get("add").unwrap().tags().collect::<Vec<_>>(), ["math", "safe"]);
}

#[tokio::test]
async fn tools_outside_a_view_cannot_be_called() {
    let tools = registry([Echo::new("fs.read"), Echo::new("fs.write"), Echo::new("mail")]);
    let view = tools
        .subset(|tool| tool.name().starts_with("fs."))
        .subset(|tool| !tool.name().ends_with("write"));
    assert_eq!(names(&view.list()), ["fs.read"]);
    let executor = view.executor(context()).build().unwrap();
    assert_eq!(executor.definitions().len(), 1);
    text(&settle(&executor, "fs.read", json!({})).await);
    for hidden in ["fs.write", "mail"] {
        let shown = error_text(&settle(&executor, hidden, json!({})).await);
        assert!(
            shown.contains("there is no tool named") && !shown.contains("or fs.write"),
            "{shown}"
        );
    }
    // The view is live, and caches its snapshot until the registry changes.
    assert!(Arc::ptr_eq(&view.snapshot(), &view.snapshot()));
    tools.register(Echo::new("fs.list")).unwrap();
    assert_eq!(names(&view.list()), ["fs.list", "fs.read"]);
    assert!(view.get("mail").is_none());
}

#[test]
fn holds_ten_thousand_tools() {
    let tools = ToolRegistry::new();
    for number in 0..100 {
        let many = (0..100).map(|step| Echo::new(&format!("tool_{number}_{step}")));
        tools.register_all(many).unwrap();
    }
    tools.register(Echo::new("single")).unwrap();
    assert_eq!((tools.list().len(), tools.definitions().len()), (10_001, 10_001));
    assert!(tools.get("tool_77_77").is_some());
    let error = tools.snapshot().find("tool_77_7x").unwrap_err();
    assert_eq!(error.near_names().len(), 3);
}

#[tokio::test]
async fn statistics_count_calls_and_failures() {
    let fails = typed("fails", "Fails.", |_: NoArguments| async move {
        Err::<u8, _>(agcore_tools::ToolError::failed("no"))
    });
    let tools = ToolRegistry::new();
    tools.register(fails).unwrap();
    tools.register(Echo::new("t")).unwrap();
    let executor = tools.executor(context()).build().unwrap();
    for _ in 0..3 {
        settle(&executor, "t", json!({})).await;
        settle(&executor, "fails", json!({})).await;
    }
    let statistics = |name: &str| tools.get(name).unwrap().statistics();
    assert_eq!((statistics("t").calls, statistics("t").failures), (3, 0));
    assert_eq!((statistics("fails").calls, statistics("fails").failures), (3, 3));
    assert!(statistics("t").p50 <= statistics("t").p95 && statistics("t").p50.is_some());
}

/// Readers never see half of a change, even while others write.
#[test]
fn readers_see_consistent_snapshots_during_writes() {
    let tools = registry([Echo::new("pair_a"), Echo::new("pair_b")]);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..2_000 {
                tools
                    .change(|change| {
                        change.remove("pair_a");
                        change.remove("pair_b");
                        Ok(())
                    })
                    .unwrap();
                tools.register_all([Echo::new("pair_a"), Echo::new("pair_b")]).unwrap();
            }
        });
        let mut reads = 0;
        while !writer.is_finished() || reads == 0 {
            let count = tools.list().len();
            assert!(count == 0 || count == 2, "half a change: {count}");
            reads += 1;
        }
    });
}

#[test]
fn registers_the_valid_tools_and_reports_the_others() {
    let tools = registry([Echo::new("taken")]);
    let broken = Echo::new("broken").with_parameters(serde_json::json!({"type": "array"}));
    let errors = tools.register_valid([Echo::new("a"), broken, Echo::new("taken"), Echo::new("b")]);
    assert_eq!(names(&tools.list()), ["a", "b", "taken"]);
    let errors: Vec<_> = errors.iter().map(|error| (error.kind(), error.to_string())).collect();
    assert_eq!(errors.len(), 2);
    assert_eq!(errors[0].0, ToolErrorKind::Config);
    assert!(
        errors[0].1.starts_with("broken cannot be registered: "),
        "{}",
        errors[0].1
    );
    assert_eq!(errors[1].0, ToolErrorKind::Duplicate);
    assert!(errors[1].1.contains("taken"), "{}", errors[1].1);
}

#[test]
fn tools_of_different_types_are_registered_together() {
    let one = typed("one", "Is one.", |_: NoArguments| async { Ok(1) });
    let tools = ToolRegistry::new();
    tools
        .register_all(agcore_tools::tools![
            one,
            Echo::new("two"),
            Registration::new(Echo::new("three")).with_tag("x")
        ])
        .unwrap();
    assert_eq!(names(&tools.list()), ["one", "three", "two"]);
    assert!(tools.get("three").unwrap().has_tag("x"));
}
