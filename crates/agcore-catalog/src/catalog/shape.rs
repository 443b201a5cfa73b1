//! [`ShapeRow`]: the form of requests and replies of a model that does not chat.

use std::collections::BTreeMap;

use agcore_document::{Node, Value};

use super::{
    fields::{Fields, Problems},
    kind::ModelKind,
};
use crate::problem::Problem;

/// The form of requests and replies of a model that does not chat: a built-in one, and what replaces parts of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ShapeRow {
    /// The name of the built-in form, `openai` or `dashscope`; `None` for that of the endpoint's API.
    pub form: Option<String>,
    /// The path of requests below the base URL.
    pub path: Option<String>,
    /// The JSON pointers that replace built-in ones, by name.
    pub pointers: BTreeMap<String, String>,
}

/// The built-in forms.
pub(crate) const FORMS: [&str; 2] = ["openai", "dashscope"];

/// Returns the names of the pointers for replies of a kind; `None` if its replies have no shape.
pub(crate) fn pointers(kind: ModelKind) -> Option<&'static [&'static str]> {
    match kind {
        ModelKind::Rerank => Some(&["results", "index", "score"]),
        ModelKind::TextToImage => Some(&["images", "bytes", "url"]),
        ModelKind::Speech => Some(&["audio", "url"]),
        ModelKind::TextToVideo => Some(&["id", "status", "url", "error"]),
        ModelKind::Transcription => Some(&["text", "segments", "start", "end", "segment_text"]),
        _ => None,
    }
}

/// Reads a shape: the name of a form, or a table of the form, the path and pointers.
pub(super) fn read(node: &Node, path: &str, kind: ModelKind, problems: &Problems) -> ShapeRow {
    let Some(names) = pointers(kind) else {
        let rule = format!("replies of models of the kind {kind} have no shape; leave it out");
        problems.add(node.place, Problem::shown(path, node.shown(), rule));
        return ShapeRow::default();
    };
    if let Value::Text(form) = &node.value {
        check_form(form, path, node, problems);
        return ShapeRow {
            form: Some(form.clone()),
            ..ShapeRow::default()
        };
    }
    let known = [&["form", "path"][..], names].concat();
    let fields = Fields::of(node, path, &known, problems);
    let form = fields.text("form");
    if let Some((form, node)) = form.zip(fields.get("form")) {
        check_form(form, &fields.path_of("form"), node, problems);
    }
    let request_path = fields.text("path");
    if let Some((_, node)) = request_path
        .zip(fields.get("path"))
        .filter(|(path, _)| !path.starts_with('/'))
    {
        fields.wrong("path", node, "a path begins with a slash");
    }
    let mut pointers = BTreeMap::new();
    for name in names {
        let Some((pointer, node)) = fields.text(name).zip(fields.get(name)) else {
            continue;
        };
        if !is_pointer(pointer) {
            fields.wrong(
                name,
                node,
                "a JSON pointer such as /data/*/score is expected, in which a tilde is written as ~0",
            );
        }
        pointers.insert((*name).to_owned(), pointer.to_owned());
    }
    ShapeRow {
        form: form.map(str::to_owned),
        path: request_path.map(str::to_owned),
        pointers,
    }
}

fn check_form(form: &str, path: &str, node: &Node, problems: &Problems) {
    if !FORMS.contains(&form) {
        let rule = format!("the forms are {}", FORMS.join(", "));
        problems.add(node.place, Problem::text(path, form, rule));
    }
}

fn is_pointer(pointer: &str) -> bool {
    pointer.starts_with('/') && pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}
