//! [`Attachments`]: files that are sent with a message.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use agcore::chat::{Content, ContentPart};
use agcore_terminal::{
    bmp,
    render::sanitized_line,
    size::{lines, size},
};
use base64::{Engine, engine::general_purpose::STANDARD};

use super::block::block;
use crate::exit::Failure;

/// The maximum size of a text file, in bytes.
const MAX_TEXT: u64 = 256 * 1024;

/// The maximum size of an image, in bytes.
const MAX_IMAGE: u64 = 5 * 1024 * 1024;

/// The maximum size of a BMP image, in bytes. It is not compressed, and becomes much smaller as PNG.
const MAX_BMP: u64 = 64 * 1024 * 1024;

/// The first bytes of images that models accept, and their media type.
const IMAGES: [(&[u8], &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
];

/// Texts and images that are sent with a message.
#[derive(Debug, Default)]
pub(crate) struct Attachments {
    /// Named blocks of text, which follow the text of the message.
    blocks: String,
    images: Vec<ContentPart>,
}

/// The content of a file.
enum Attachment {
    Text(String),
    Image(ContentPart),
}

impl Attachments {
    /// Reads a text file or an image. Returns a description of it.
    ///
    /// # Errors
    /// Why the file cannot be attached.
    pub(crate) fn read(&mut self, name: &str, path: &Path) -> Result<String, String> {
        let (attachment, note) = read(path)?;
        match attachment {
            Attachment::Text(content) => self.push_block(&block("file", &format!(" path=\"{name}\""), &content)),
            Attachment::Image(image) => self.push_image(image),
        }
        Ok(note)
    }

    /// Adds a block of text.
    pub(crate) fn push_block(&mut self, block: &str) {
        self.blocks.push_str(block);
    }

    /// Adds an image.
    pub(crate) fn push_image(&mut self, image: ContentPart) {
        self.images.push(image);
    }

    /// Returns the content of the message with this text.
    pub(crate) fn into_content(self, mut text: String) -> Content {
        text.push_str(&self.blocks);
        match self.images.is_empty() {
            true => Content::from(text),
            false => Content::Parts([ContentPart::text(text)].into_iter().chain(self.images).collect()),
        }
    }
}

/// Returns the content of a message with the files of `--file`.
///
/// # Errors
/// When a file cannot be attached.
pub(crate) fn with_files(text: String, files: &[PathBuf]) -> Result<Content, Failure> {
    let mut attachments = Attachments::default();
    for path in files {
        let name = path.display().to_string();
        attachments
            .read(&name, path)
            .map_err(|error| Failure::usage(format!("cannot attach {}: {error}", sanitized_line(&name))))?;
    }
    Ok(attachments.into_content(text))
}

/// Reads a file and describes it.
fn read(path: &Path) -> Result<(Attachment, String), String> {
    if path.is_dir() {
        return Err("it is a folder; name a file".to_owned());
    }
    // Opening a pipe would wait for its other end.
    if path.exists() && !path.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    })?;
    let mut bytes = Vec::new();
    file.take(MAX_BMP + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.starts_with(bmp::START) && bytes.contains(&0) {
        if bytes.len() as u64 > MAX_BMP {
            return Err(format!("it is larger than {}", size(MAX_BMP)));
        }
        bytes = bmp::to_png(&bytes)?;
    }
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let limit = |limit: u64| match length > limit {
        true => Err(format!("it is larger than {}", size(limit))),
        false => Ok(()),
    };
    if let Some((_, media)) = IMAGES.iter().find(|(start, _)| bytes.starts_with(start)) {
        limit(MAX_IMAGE)?;
        let image = ContentPart::image_url(format!("data:{media};base64,{}", STANDARD.encode(&bytes)));
        return Ok((Attachment::Image(image), format!("{media}, {}", size(length))));
    }
    limit(MAX_TEXT)?;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            let note = format!("{}, {}", lines(&text), size(length));
            Ok((Attachment::Text(text), note))
        }
        _ => Err("it is neither UTF-8 text nor a PNG, JPEG, GIF, WebP or BMP image".to_owned()),
    }
}
