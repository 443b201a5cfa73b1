//! [`content_of`]: the blocks of a prompt as the content of a message.

use std::{collections::HashSet, iter, path::Path};

use agcore_chat::{Content, ContentPart};
use agent_client_protocol::v1::schema::{
    AudioContent, BlobResourceContents, ContentBlock, EmbeddedResourceResource, ImageContent, ResourceLink,
    TextResourceContents,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use url::Url;

use crate::error::AcpError;

/// The longest path or name in a tag, in characters.
const MAX_ATTRIBUTE: usize = 4096;

/// The largest sizes of a prompt, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptLimits {
    /// All texts together, those of embedded files included; 2 MiB by default.
    pub text: usize,
    /// All images, sounds and documents together, decoded; 20 MiB by default.
    pub media: usize,
}

impl Default for PromptLimits {
    fn default() -> Self {
        Self {
            text: 2 * 1024 * 1024,
            media: 20 * 1024 * 1024,
        }
    }
}

/// Translates the blocks of a prompt into the content of a message, in their order.
///
/// Links become a line with the path or the URI, which the model can read with its tools. Embedded files become their text between
/// tags with the path. Paths below `root`, the folder of the session, are relative to it. Images, sounds and PDF documents become
/// parts.
///
/// ```
/// use std::path::Path;
///
/// use agcore_acp::{PromptLimits, content_of, schema};
/// use schema::{ContentBlock, ResourceLink, TextContent};
///
/// let blocks = vec![
///     ContentBlock::Text(TextContent::new("Explain ")),
///     ContentBlock::ResourceLink(ResourceLink::new("main.rs", "file:///project/src/main.rs")),
/// ];
/// let content = content_of(blocks, Path::new("/project"), &PromptLimits::default())?;
/// assert_eq!(content.text(), "Explain \n<linked-file path=\"src/main.rs\"/>\n");
/// # Ok::<(), agcore_acp::AcpError>(())
/// ```
///
/// # Errors
/// When there is nothing in the prompt, a block has a form that models do not read, or a size exceeds its limit.
pub fn content_of(blocks: Vec<ContentBlock>, root: &Path, limits: &PromptLimits) -> Result<Content, AcpError> {
    content_below(blocks, &[root], limits)
}

/// Like [`content_of`], for a folder that has several names.
pub(crate) fn content_below(
    blocks: Vec<ContentBlock>,
    roots: &[&Path],
    limits: &PromptLimits,
) -> Result<Content, AcpError> {
    let mut prompt = Prompt {
        roots,
        limits,
        parts: Vec::new(),
        text: 0,
        media: 0,
    };
    blocks.into_iter().try_for_each(|block| prompt.push(block))?;
    let is_blank = |part: &ContentPart| part.as_text().is_some_and(|text| text.trim().is_empty());
    if prompt.parts.iter().all(is_blank) {
        return Err(AcpError::invalid("the prompt is empty: send some text or a file"));
    }
    Ok(match prompt.parts.iter().all(|part| part.as_text().is_some()) {
        true => Content::from(Content::Parts(prompt.parts).text().into_owned()),
        false => Content::Parts(prompt.parts),
    })
}

/// The parts so far, with their sizes.
struct Prompt<'a> {
    roots: &'a [&'a Path],
    limits: &'a PromptLimits,
    parts: Vec<ContentPart>,
    text: usize,
    media: usize,
}

impl Prompt<'_> {
    fn push(&mut self, block: ContentBlock) -> Result<(), AcpError> {
        match block {
            ContentBlock::Text(text) => self.push_text(text.text),
            ContentBlock::ResourceLink(link) => self.push_text(self.link(&link)),
            ContentBlock::Resource(resource) => match resource.resource {
                EmbeddedResourceResource::TextResourceContents(file) => self.push_text(self.file(&file)),
                EmbeddedResourceResource::BlobResourceContents(blob) => self.push_blob(blob),
                _ => Err(unknown("an embedded resource")),
            },
            ContentBlock::Image(image) => self.push_image(&image),
            ContentBlock::Audio(audio) => self.push_audio(audio),
            _ => Err(unknown("a block")),
        }
    }

    fn push_text(&mut self, text: String) -> Result<(), AcpError> {
        self.text += text.len();
        if self.text > self.limits.text {
            return Err(AcpError::invalid(format!(
                "the texts of the prompt have more than {} bytes; link large files and they are read in parts",
                self.limits.text
            )));
        }
        self.parts.push(ContentPart::text(text));
        Ok(())
    }

    fn link(&self, link: &ResourceLink) -> String {
        match file_path(&link.uri, self.roots) {
            Some(path) => format!("\n<linked-file path=\"{}\"/>\n", attribute(&path)),
            None => format!(
                "\n<link uri=\"{}\" name=\"{}\"/>\n",
                attribute(&link.uri),
                attribute(&link.name)
            ),
        }
    }

    fn file(&self, file: &TextResourceContents) -> String {
        let name = file_path(&file.uri, self.roots).unwrap_or_else(|| file.uri.clone());
        let tag = tag_for(&file.text);
        let end = if file.text.ends_with('\n') { "" } else { "\n" };
        format!("\n<{tag} path=\"{}\">\n{}{end}</{tag}>\n", attribute(&name), file.text)
    }

    fn push_blob(&mut self, blob: BlobResourceContents) -> Result<(), AcpError> {
        let kind = blob.mime_type.unwrap_or_default();
        if kind.starts_with("image/") {
            return self.push_image(&ImageContent::new(blob.blob, kind));
        }
        if kind.starts_with("audio/") {
            return self.push_audio(AudioContent::new(blob.blob, kind));
        }
        if kind != "application/pdf" {
            return Err(AcpError::invalid(format!(
                "a file of the type `{}` cannot be sent to a model; send text, an image, a sound or a PDF document",
                attribute(&kind)
            )));
        }
        let data = self.checked(&blob.blob)?;
        let name = file_path(&blob.uri, self.roots).unwrap_or_else(|| "document.pdf".to_owned());
        let data = format!("data:{kind};base64,{data}");
        self.parts.push(ContentPart::file_data(name, data));
        Ok(())
    }

    fn push_image(&mut self, image: &ImageContent) -> Result<(), AcpError> {
        let kind = media_type(&image.mime_type, "image/")?;
        let data = self.checked(&image.data)?;
        let url = format!("data:{kind};base64,{data}");
        self.parts.push(ContentPart::image_url(url));
        Ok(())
    }

    fn push_audio(&mut self, audio: AudioContent) -> Result<(), AcpError> {
        let kind = media_type(&audio.mime_type, "audio/")?;
        let format = match kind.trim_start_matches("audio/") {
            "mpeg" => "mp3",
            "wave" | "x-wav" | "vnd.wave" => "wav",
            other => other,
        };
        self.checked(&audio.data)?;
        self.parts.push(ContentPart::input_audio(audio.data, format));
        Ok(())
    }

    /// Returns base64 data that is complete and within the limit.
    fn checked<'d>(&mut self, data: &'d str) -> Result<&'d str, AcpError> {
        self.media += data.len() / 4 * 3;
        if self.media > self.limits.media {
            return Err(AcpError::invalid(format!(
                "the images, sounds and documents of the prompt have more than {} bytes",
                self.limits.media
            )));
        }
        match STANDARD.decode(data) {
            Ok(bytes) if !bytes.is_empty() => Ok(data),
            _ => Err(AcpError::invalid(
                "the data of an image, a sound or a document is not base64, or is empty",
            )),
        }
    }
}

/// Returns the path of a `file:` URI: relative to the folder if it is below it.
fn file_path(uri: &str, roots: &[&Path]) -> Option<String> {
    let path = Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    let path = path.to_file_path().ok()?;
    let relative = roots.iter().find_map(|root| path.strip_prefix(root).ok());
    Some(relative.unwrap_or(&path).display().to_string())
}

/// Returns a media type of a kind such as `image/`, without parameters.
fn media_type<'t>(text: &'t str, kind: &str) -> Result<&'t str, AcpError> {
    let bare = text.split(';').next().unwrap_or_default().trim();
    let is_plain =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    match bare.strip_prefix(kind).is_some_and(is_plain) {
        true => Ok(bare),
        false => Err(AcpError::invalid(format!(
            "`{}` is not a media type that begins with {kind}",
            attribute(text)
        ))),
    }
}

/// Returns a text that stays within the quotation marks of an attribute.
fn attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().take(MAX_ATTRIBUTE) {
        match c {
            '"' => out.push_str("&quot;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    if text.chars().nth(MAX_ATTRIBUTE).is_some() {
        out.push_str("… (shortened)");
    }
    out
}

/// Returns a tag that the text does not close.
fn tag_for(text: &str) -> String {
    let ends = text.split("</file").skip(1).filter_map(|rest| rest.split_once('>'));
    let used: HashSet<&str> = ends.map(|(number, _)| number).collect();
    let numbered = (2..).map(|number| format!("-{number}"));
    let mut free = iter::once(String::new()).chain(numbered);
    // There are fewer used ones than numbers.
    let number = free.find(|number| !used.contains(number.as_str())).unwrap_or_default();
    format!("file{number}")
}

fn unknown(place: &str) -> AcpError {
    AcpError::invalid(format!(
        "{place} of the prompt has a type that this version does not know; update agcore"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_each_name_of_the_folder() {
        let roots = [Path::new("/link"), Path::new("/real")];
        assert_eq!(file_path("file:///link/a.rs", &roots).as_deref(), Some("a.rs"));
        assert_eq!(file_path("file:///real/a.rs", &roots).as_deref(), Some("a.rs"));
        assert_eq!(file_path("file:///other/a.rs", &roots).as_deref(), Some("/other/a.rs"));
    }

    #[test]
    fn a_text_does_not_close_its_tag() {
        assert_eq!(tag_for("a</file-2>"), "file");
        assert_eq!(tag_for("a</file></file-3><</file-2>"), "file-4");
        assert_eq!(tag_for("</file</file>"), "file-2");
    }

    #[test]
    fn a_path_that_is_cut_is_marked() {
        assert!(attribute(&"x".repeat(MAX_ATTRIBUTE + 1)).ends_with("x… (shortened)"));
        assert!(attribute(&"x".repeat(MAX_ATTRIBUTE)).ends_with('x'));
    }
}
