//! Failures of a provider that cannot be built or used.

use agcore::{LlmError, llm::LlmErrorKind};
use agcore_settings::FolderReport;

use super::Failure;

/// Converts an error of a provider that cannot be built or used, and adds what to do about a missing key.
pub(crate) fn setup_failure(report: &FolderReport, error: LlmError) -> Failure {
    let is_missing_key = error.kind() == LlmErrorKind::Authentication && error.status().is_none();
    let provider = error.provider().map(str::to_owned);
    let failure = Failure::setup(error);
    if !is_missing_key {
        return failure;
    }
    let ignored = report.ignored_files().map(|ignored| format!("\n{ignored}"));
    let store = provider.map_or_else(
        || "Or run `agcore init`".to_owned(),
        |provider| format!("Or store the key with `agcore keys set {provider}`; `agcore init` asks for everything"),
    );
    Failure::new(
        failure.kind(),
        format!(
            "{failure}{}\n{store}.\nOr use a local model: agcore -m ollama:llama3.2\nOr try the program without a model: \
             agcore demo --chat",
            ignored.unwrap_or_default()
        ),
    )
}
