//! The operations on the files of a user.

use serde_json::json;

use super::{
    operation::{Answer, Content, Link, Operation},
    parts::{answer, empty, get, operation, path, post, query},
};
use crate::{
    api::{FileList, FileView},
    problem::ProblemCode as Code,
};

/// The operations on a file that was stored.
const STORED: &[Link] = &[("delete_files_file", &[("file", "fileId")])];

/// Returns the operations on files.
pub(super) fn uploads() -> Vec<Operation> {
    let stored = Answer {
        status: 201,
        links: STORED,
        ..answer::<FileView>("The file was stored")
    };
    let name = query(
        "name",
        true,
        json!({"type": "string", "minLength": 1, "maxLength": 255}),
        "The name of the file, without a path",
    );
    let content = Content::new(|_| json!({"type": "string", "format": "binary"}));
    vec![
        Operation {
            body_type: "application/octet-stream",
            ..post("/api/v1/agent/files", "Stores a file for the runs of flows", stored)
                .with_body(content)
                .with([name])
                .failing([Code::NotFound, Code::TooManyFiles])
        },
        get(
            "/api/v1/agent/files",
            "Lists the files",
            answer::<FileList>("The files"),
        )
        .failing([Code::NotFound]),
        operation(
            "delete",
            "/api/v1/agent/files/{file}",
            "Deletes a file",
            Answer {
                description: "The file was deleted",
                ..empty()
            },
        )
        .with([path("file", "The id of the file")])
        .failing([Code::NotFound]),
    ]
}
