//! [`Recording`]: the exchanges of a chat with the model, in a cassette.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use agcore::{
    LlmProvider,
    llm::{
        SystemClock,
        cassette::{CassetteWriter, RecordingProvider},
    },
};

use crate::exit::Failure;

/// The start of every cassette.
const START: &[u8] = b"{\"agcore_cassette\"";

/// The exchanges of a chat with the model, which are appended to a cassette.
#[derive(Debug)]
pub(in crate::command::chat) struct Recording {
    file: PathBuf,
    provider: Arc<RecordingProvider<Arc<dyn LlmProvider>>>,
}

impl Recording {
    /// Records what passes through a provider. The file is created, unless it is a cassette already.
    ///
    /// # Errors
    /// When the file cannot be written, or contains something else.
    pub(in crate::command::chat) fn start(file: &Path, provider: Arc<dyn LlmProvider>) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::usage(format!("cannot record to {}: {error}", file.display()));
        let (out, is_new) = open(file).map_err(failed)?;
        let writer = match is_new {
            true => CassetteWriter::new(out),
            false => CassetteWriter::appending(out),
        };
        let provider = RecordingProvider::new(provider, writer, Arc::new(SystemClock::new()));
        Ok(Self {
            file: file.to_owned(),
            provider: Arc::new(provider),
        })
    }

    /// Returns the provider whose exchanges are recorded.
    pub(in crate::command::chat) fn provider(&self) -> Arc<dyn LlmProvider> {
        self.provider.clone()
    }

    /// Returns a message for each exchange that could not be recorded.
    pub(in crate::command::chat) fn problems(&self) -> Vec<String> {
        let problems = self.provider.problems().into_iter();
        let file = self.file.display();
        problems
            .map(|problem| format!("the recording {file} is not complete: {problem}"))
            .collect()
    }
}

/// Opens a file to append to, and returns whether it is empty. Only its owner can read a new one.
fn open(path: &Path) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(START.len() as u64).read_to_end(&mut start)?;
    if start.is_empty() || start == START {
        return Ok((file, start.is_empty()));
    }
    Err(io::Error::other(
        "the file exists and is not a cassette; choose another name",
    ))
}

#[cfg(test)]
mod tests {
    use agcore::{
        ChatRequest, LlmProviderExt, Message,
        chat::ChatResponse,
        llm::{cassette::Cassette, provider_fn},
    };

    use super::*;

    async fn record(file: &Path) -> Result<(), Failure> {
        let model = provider_fn(|_| async { Ok(ChatResponse::from_text("Paris")) });
        let recording = Recording::start(file, Arc::new(model))?;
        let request = ChatRequest::new([Message::user(
            "Capital of France? sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
        )]);
        recording.provider().chat(request).await.unwrap();
        assert_eq!(recording.problems(), [""; 0]);
        Ok(())
    }

    #[tokio::test]
    async fn recordings_are_appended_without_keys() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("chat.cassette");
        for count in 1..=2 {
            record(&file).await.unwrap();
            let bytes = std::fs::read(&file).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("sk-proj-abc"));
            let cassette = Cassette::parse(&bytes).unwrap().into_intact().unwrap();
            assert_eq!(cassette.exchanges().len(), count);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
        }
    }

    #[tokio::test]
    async fn other_files_are_not_touched() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("notes.txt");
        std::fs::write(&file, "my notes").unwrap();
        let error = record(&file).await.unwrap_err();
        assert!(error.to_string().contains("is not a cassette"), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), b"my notes");
        assert!(record(&directory.path().join("missing/x")).await.is_err());
    }
}
