//! Flow files, and the errors of flows.

use std::{fs, path::Path};

use agcore::{
    flow::{FileFlow, FileFlowBuilder, FlowError, FlowErrorKind, FlowFile},
    llm::SystemClock,
};

use crate::exit::{Failure, FailureKind};

/// Reads a flow file, and the files that it names, from its directory.
pub(super) fn read(path: &Path) -> Result<FlowFile, Failure> {
    let name = path.display().to_string();
    let folder = path.parent().unwrap_or(Path::new(""));
    let text = fs::read_to_string(path).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    let load = |other: &str| fs::read_to_string(folder.join(other)).map_err(|error| error.to_string());
    FlowFile::parse(&name, &text, load).map_err(|error| {
        let lines: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
        Failure::usage(lines.join("\n"))
    })
}

/// Builds a flow.
pub(super) fn build(builder: FileFlowBuilder) -> Result<FileFlow, Failure> {
    builder.build(SystemClock::new()).map_err(|error| failure(&error))
}

/// Converts an error of a flow, with its causes.
pub(super) fn failure(error: &FlowError) -> Failure {
    let kind = match error.kind() {
        FlowErrorKind::Cancelled => return Failure::cancelled(),
        FlowErrorKind::InvalidInput | FlowErrorKind::InvalidGraph | FlowErrorKind::OtherFlow => FailureKind::Usage,
        FlowErrorKind::LimitReached => FailureKind::Limit,
        _ => FailureKind::Task,
    };
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        message += &format!(": {error}");
        cause = error.source();
    }
    Failure::new(kind, message)
}
