//! The wording of the schemas by which models are asked for results.

use std::collections::BTreeSet;

use agcore_flow_files::FlowFile;
use serde_json::{Value, json};

use super::{parse, planner, router, serve, staged};

/// The members of the results of all tasks, in the order of the shapes.
const MEMBERS: &[(&str, &[&str])] = &[
    (
        "intent_recognition",
        &[
            "route",
            "intent_summary",
            "assistant_text",
            "execution_brief",
            "safety_flags",
        ],
    ),
    (
        "task_execution",
        &[
            "status",
            "execution_summary",
            "execution_data",
            "report_brief",
            "error_message",
        ],
    ),
    ("result_reporting", &["assistant_text", "response_metadata"]),
    (
        "router",
        &[
            "route",
            "intent_summary",
            "assistant_text",
            "execution_brief",
            "skills",
            "safety_flags",
        ],
    ),
    (
        "scenario",
        &[
            "summary",
            "scenario",
            "goals",
            "output_style",
            "output_structure",
            "output_structure.id",
            "output_structure.expected",
            "output_structure.type",
        ],
    ),
    (
        "planner",
        &[
            "summary",
            "next",
            "calls",
            "todo",
            "new_todos",
            "new_todos.id",
            "new_todos.task",
            "new_todos.dependencies",
            "new_todos.suggested_tools",
            "new_todos.priority",
            "new_todos.max_retry",
            "new_todos.execution_tips",
            "new_todos.success_criteria",
            "skipped_todos",
            "goals",
            "outputs",
        ],
    ),
    (
        "reflection",
        &[
            "summary",
            "relevance",
            "is_todo_done",
            "todo_result",
            "retry_after_seconds",
            "is_finished",
        ],
    ),
    ("archive", &["preferences", "facts"]),
];

/// Returns a file that describes every member by the names of its task and itself, and these descriptions.
fn described(text: &str) -> (FlowFile, BTreeSet<String>) {
    let mut json = FlowFile::to_json("shape.flow.yaml", text).unwrap();
    let mut all = BTreeSet::new();
    for (task, members) in MEMBERS {
        let Some(found) = json["tasks"].get_mut(*task) else {
            continue;
        };
        let fields: serde_json::Map<String, Value> = members
            .iter()
            .map(|member| ((*member).to_owned(), json!(format!("{task}: {member}"))))
            .collect();
        all.extend(fields.values().map(|text| text.as_str().unwrap().to_owned()));
        found["fields"] = Value::Object(fields);
    }
    (parse(&json.to_string()), all)
}

/// Collects the descriptions in the schema of a result.
fn descriptions(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            found.extend(members.get("description").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| descriptions(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| descriptions(item, found)),
        _ => {}
    }
}

/// The schemas of results have the descriptions of the file, each member its own, and no others.
#[tokio::test]
async fn the_wording_of_schemas_is_that_of_the_file() {
    for shape in [staged(), router(), planner()] {
        let (file, expected) = described(shape.file);
        let (requests, ..) = serve(shape, file).await;
        let mut found = BTreeSet::new();
        for request in &requests {
            descriptions(&request["response_format"], &mut found);
        }
        assert_eq!(found, expected);
    }
}
