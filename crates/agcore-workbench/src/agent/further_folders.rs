//! [`FurtherFolders`]: names the folders to the model that its tools may use besides the current directory.

use std::sync::Arc;

use agcore::{
    Message,
    chat::{ChatRequest, Content, ContentPart},
    llm::{Hook, HookContext, RequestVerdict},
};
use agcore_terminal::render::sanitized_line;
use async_trait::async_trait;

use crate::program_tools::ToolFolder;

/// Adds the further folders to the instructions of each request that offers tools. A chat can add folders between two requests.
#[derive(Debug)]
pub(super) struct FurtherFolders(pub(super) ToolFolder);

impl FurtherFolders {
    fn text(&self) -> Option<String> {
        let folders = self.0.further();
        let lines: String = folders
            .iter()
            .map(|folder| format!("\n- {}", sanitized_line(&folder.display().to_string())))
            .collect();
        (!folders.is_empty()).then(|| {
            format!(
                "# Further folders\n\nThe tools for files may also use these folders. Name their files with absolute paths:\n{lines}"
            )
        })
    }
}

#[async_trait]
impl Hook for FurtherFolders {
    fn name(&self) -> &'static str {
        "further folders"
    }

    async fn pre_request(&self, _: &HookContext<'_>, request: &Arc<ChatRequest>) -> RequestVerdict {
        match self.text().filter(|_| !request.tools.is_empty()) {
            Some(text) => RequestVerdict::Replace(Arc::new(with_instructions(request, text))),
            None => RequestVerdict::Continue,
        }
    }
}

/// Returns the request with a text at the end of its instructions.
fn with_instructions(request: &ChatRequest, text: String) -> ChatRequest {
    let mut request = request.clone();
    match request.messages.first_mut().map(Arc::make_mut) {
        Some(Message::System(instructions) | Message::Developer(instructions)) => {
            let content = std::mem::take(&mut instructions.content);
            instructions.content = match content {
                Content::Text(before) => Content::Text(format!("{before}\n\n{text}")),
                Content::Parts(mut parts) => {
                    parts.push(ContentPart::text(format!("\n\n{text}")));
                    Content::Parts(parts)
                }
            };
        }
        _ => request.messages.insert(0, Arc::new(Message::system(text))),
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_at_the_end_of_the_instructions() {
        let (main, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let other = other.path().canonicalize().unwrap();
        let notice = FurtherFolders(ToolFolder::at(main.path(), Vec::new()).unwrap());
        assert_eq!(notice.text(), None);
        notice.0.add(&other).unwrap();
        let text = notice.text().unwrap();
        assert!(
            text.ends_with(&format!("absolute paths:\n\n- {}", other.display())),
            "{text}"
        );
        let request = ChatRequest::new([Message::system("Be kind."), Message::user("Hi")]);
        let changed = with_instructions(&request, text.clone());
        let Message::System(instructions) = &*changed.messages[0] else {
            panic!("{changed:?}")
        };
        assert_eq!(instructions.content.text(), format!("Be kind.\n\n{text}"));
        let bare = with_instructions(&ChatRequest::new([Message::user("Hi")]), text);
        assert_eq!(bare.messages.len(), 2);
    }
}
