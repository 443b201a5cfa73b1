//! [`check`]: what messages of users may contain beside text.
//!
//! The server opens no address itself, but a model server may: one that runs in the operator's network would fetch addresses there
//! for every user.

use agcore_chat::{Block, Content, ContentPart, Message};
use agcore_llm::transport::address::{is_private_name, is_public, literal};
use url::Url;

use crate::{problem::Problem, settings::MediaSources};

/// Checks the parts of a message that a client has sent, whatever its role.
///
/// # Errors
/// `invalid_request` if there is a part of an unknown kind, or one that names a place from which media may not come.
pub(super) fn check(message: &Message, allowed: MediaSources) -> Result<(), Problem> {
    match message {
        Message::User(message) => check_content(&message.content, allowed),
        Message::Tool(result) => check_content(&result.content, allowed),
        Message::System(message) | Message::Developer(message) => check_content(&message.content, allowed),
        Message::Assistant(reply) => {
            let is_known = |block: &Block| !matches!(block, Block::Hosted(_) | Block::Other(_));
            match reply.blocks.iter().all(is_known) {
                true => Ok(()),
                false => Err(Problem::invalid(
                    "a reply has a part of an unknown kind; send its texts and calls",
                )),
            }
        }
        _ => Ok(()),
    }
}

/// Checks the parts of what a user has sent.
///
/// # Errors
/// As for [`check`].
pub(in crate::service::start) fn check_content(content: &Content, allowed: MediaSources) -> Result<(), Problem> {
    let Content::Parts(parts) = content else {
        return Ok(());
    };
    for part in parts {
        match part {
            ContentPart::Text(_) | ContentPart::InputAudio(_) => {}
            ContentPart::ImageUrl(image) => check_url(&image.image_url.url, allowed)?,
            ContentPart::File(file) => {
                if let Some(url) = file.file.file_data.as_deref().filter(|data| data.contains("://")) {
                    check_url(url, allowed)?;
                }
                // An id of the vendor: a file of the operator's account, which any user may have uploaded.
                if file.file.file_id.is_some() && allowed != MediaSources::Any {
                    return Err(Problem::invalid(
                        "a part names a file by an id of the vendor; send its content",
                    ));
                }
            }
            _ => {
                let detail = "a part of the message is of an unknown kind; send texts, images, audio and documents with their content";
                return Err(Problem::invalid(detail));
            }
        }
    }
    Ok(())
}

fn check_url(text: &str, allowed: MediaSources) -> Result<(), Problem> {
    let url = Url::parse(text).map_err(|_| Problem::invalid("the address of an image is not a URL"))?;
    let is_allowed = match (url.scheme(), allowed) {
        ("data", _) => true,
        ("http" | "https", MediaSources::Any) => true,
        ("http" | "https", MediaSources::Public) => is_public_host(&url),
        _ => false,
    };
    if is_allowed {
        return Ok(());
    }
    let detail = match allowed {
        MediaSources::Data => "images cannot be named by an address here; send the content",
        _ => "the address of an image must be on the internet, with https or http; send the content instead",
    };
    Err(Problem::invalid(detail))
}

/// Returns whether the host is one on the internet, judging by its name.
fn is_public_host(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    match literal(host) {
        Some(address) => is_public(address),
        None => !is_private_name(host),
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::AssistantMessage;

    use super::*;

    #[track_caller]
    fn urls(allowed: MediaSources, expected: bool, urls: &[&str]) {
        for url in urls {
            assert_eq!(check_url(url, allowed).is_ok(), expected, "{url}");
        }
    }

    #[test]
    fn images_come_from_the_internet_or_from_the_message() {
        let data = "data:image/png;base64,AAAA";
        let public = [
            "https://example.org/a.png",
            "http://93.184.216.34/a.png",
            "https://[2606:4700::1]/a.png",
        ];
        let private = [
            "http://127.0.0.1:8080/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://LOCALHOST/",
            "http://localhost./",
            "http://db/",
            "http://db.internal/",
            "http://a.svc/",
            "http://10.0.0.7/",
            "http://169.254.169.254/latest/meta-data/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.7]/",
            "http://[fd00::1]/",
            "http://user@192.168.0.1/",
            "http://%31%32%37.0.0.1/",
        ];
        let other = [
            "file:///etc/passwd",
            "ftp://example.org/a",
            "gopher://example.org",
            "/etc/passwd",
            "",
        ];
        urls(MediaSources::Public, true, &public);
        urls(MediaSources::Public, true, &[data]);
        urls(MediaSources::Public, false, &private);
        urls(MediaSources::Data, true, &[data]);
        urls(MediaSources::Data, false, &public);
        urls(MediaSources::Any, true, &private);
        for allowed in [MediaSources::Data, MediaSources::Public, MediaSources::Any] {
            urls(allowed, false, &other);
        }
    }

    #[test]
    fn messages_of_every_role_are_checked() {
        let image = || Content::Parts(vec![ContentPart::image_url("http://169.254.169.254/")]);
        let reply = AssistantMessage::from_blocks([Block::Other(serde_json::json!({
            "type": "image_url", "image_url": {"url": "http://169.254.169.254/"},
        }))]);
        for message in [
            Message::user(image()),
            Message::system(image()),
            Message::developer(image()),
            Message::tool("c", image()),
            Message::Assistant(reply),
        ] {
            assert!(check(&message, MediaSources::Public).is_err(), "{message:?}");
        }
        assert!(check(&Message::assistant("Hi"), MediaSources::Public).is_ok());
    }

    #[test]
    fn parts_of_unknown_kinds_and_files_of_the_operator_are_refused() {
        let message = |part: ContentPart| {
            Message::User(agcore_chat::UserMessage {
                content: Content::Parts(vec![ContentPart::text("Look."), part]),
                ..Default::default()
            })
        };
        let check = |part, allowed| check(&message(part), allowed).is_ok();
        let unknown = || {
            ContentPart::Other(serde_json::json!({"type": "video", "source": {"type": "url", "value": "http://a/"}}))
        };
        assert!(!check(unknown(), MediaSources::Any));
        assert!(!check(ContentPart::file_id("file-1"), MediaSources::Public));
        assert!(check(ContentPart::file_id("file-1"), MediaSources::Any));
        assert!(check(
            ContentPart::file_data("a.pdf", "data:application/pdf;base64,AAAA"),
            MediaSources::Data
        ));
        assert!(!check(
            ContentPart::file_data("a.pdf", "http://127.0.0.1/a.pdf"),
            MediaSources::Public
        ));
    }
}
