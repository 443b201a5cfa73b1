//! The files of a user.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_files::{FileKind, StorageErrorKind};
use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, Uri};
use serde::Deserialize;

use super::{body, query};
use crate::{
    api::{FileList, FileView},
    files::{FileError, FileQuota, Shortage, check_name},
    problem::{Problem, ProblemCode},
    service::App,
};

#[derive(Deserialize)]
struct UploadQuery {
    name: Option<String>,
}

/// `POST /files`: stores a file.
pub(super) async fn upload(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    uri: Uri,
    headers: HeaderMap,
    content: Body,
) -> Result<Response, Problem> {
    let service = &app.service;
    let files = service.kept_files()?;
    let UploadQuery { name } = query::parameters(&uri)?;
    let name = name.ok_or_else(|| Problem::invalid("the parameter `name` is missing; send the name of the file"))?;
    let name = check_name(&name).map_err(|rule| Problem::invalid(format!("`name` {rule}")))?;
    let limits = &service.limits;
    let quota = FileQuota::new(limits);
    files
        .check_space(&actor, body::declared_length(&headers).unwrap_or(0), &quota)
        .await?;
    let content = body::read_file(&headers, content, limits, &*service.clock).await?;
    if content.is_empty() {
        return Err(Problem::new(
            ProblemCode::InvalidBody,
            "the file is empty; send its content as the body",
        ));
    }
    let kind = FileKind::detect(name, &content);
    if !limits.file_kinds.contains(&kind) {
        let known: Vec<&str> = limits.file_kinds.iter().map(|kind| kind.as_str()).collect();
        let detail = format!("the content is of the kind `{kind}`; send one of {}", known.join(", "));
        return Err(Problem::new(ProblemCode::UnsupportedMediaType, detail));
    }
    // One upload of a user at a time: if the last place is left, two would refuse each other.
    let lock = service.admission.of_files(&actor);
    let _guard = lock.lock().await;
    let id = service.new_id("file");
    let file = files.add(&actor, id, name, kind, content.to_vec(), &quota).await?;
    Ok((StatusCode::CREATED, Json(FileView::from(file))).into_response())
}

/// `GET /files`: the files, the oldest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
) -> Result<Json<FileList>, Problem> {
    let files = app.service.kept_files()?.list(&actor).await?;
    Ok(Json(FileList {
        files: files.into_iter().map(FileView::from).collect(),
    }))
}

/// `DELETE /files/{file}`: deletes a file.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(actor): Extension<Actor>,
    Path(file): Path<String>,
) -> Result<StatusCode, Problem> {
    match app.service.kept_files()?.delete(&actor, &file).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::unknown("file")),
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Store(error) => error.into(),
            FileError::Full(shortage) => Self::new(ProblemCode::TooManyFiles, full(shortage)),
            FileError::Storage(error) => {
                tracing::warn!(?error, "the storage of files failed");
                match error.kind() {
                    StorageErrorKind::Unavailable => Self::new(
                        ProblemCode::StoreUnavailable,
                        "the files cannot be reached at the moment; try again later",
                    ),
                    StorageErrorKind::NotFound => Self::unknown("file"),
                    _ => Self::new(
                        ProblemCode::Internal,
                        "the request failed; the log of the server has the reason",
                    ),
                }
            }
        }
    }
}

/// Explains what to do without space.
fn full(shortage: Shortage) -> String {
    match shortage {
        Shortage::User(count) => format!("there are {count} files, which is the limit; delete one of them"),
        Shortage::Tenant => {
            "the users of your tenant have as many files as allowed; delete some that are not needed".to_owned()
        }
        Shortage::TenantBytes => "the files of your tenant would be larger than allowed together; delete some that \
                                    are not needed, or send a smaller one"
            .to_owned(),
    }
}
