//! The clipboard of the system: images are read from it by programs of the desktop, and texts are sent to it through the terminal.

use std::{fs, io, process::Stdio, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use tempfile::TempDir;
use tokio::{process::Command, time::timeout};

use crate::{bmp, process::variable};

/// The time that the program which reads the clipboard may take.
const LIMIT: Duration = Duration::from_secs(10);

/// The advice without a clipboard.
const OTHERWISE: &str = "Or save the image to a file and write @PATH.";

/// Prints the image of the clipboard of Windows as base64.
const POWERSHELL: &str = "Add-Type -AssemblyName System.Windows.Forms,System.Drawing; \
    $image = [Windows.Forms.Clipboard]::GetImage(); if ($image) { $bytes = New-Object IO.MemoryStream; \
    $image.Save($bytes, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($bytes.ToArray()) }";

/// Images that were pasted, as files that are removed at the end of the chat.
#[derive(Debug, Default)]
pub struct PastedImages {
    folder: Option<TempDir>,
    count: u32,
}

/// A program that prints the image in the clipboard.
#[derive(Debug, PartialEq, Eq)]
struct Helper {
    program: &'static str,
    /// How to install it.
    package: &'static str,
    /// The arguments of each attempt.
    attempts: Vec<Vec<&'static str>>,
}

impl PastedImages {
    /// Saves the image in the clipboard to a file that only its owner can read. Returns how a message mentions it.
    ///
    /// # Errors
    /// Why there is no image, and what to do.
    pub async fn paste(&mut self) -> Result<String, String> {
        let image = read(&helpers(variable)).await?;
        let failed = |error: io::Error| format!("the image cannot be saved: {error}");
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => tempfile::Builder::new().prefix("agcore-").tempdir().map_err(failed)?,
        };
        self.count += 1;
        let file = folder.path().join(format!("image-{}.png", self.count));
        self.folder = Some(folder);
        fs::write(&file, image).map_err(failed)?;
        Ok(format!("@\"{}\" ", file.display()))
    }
}

/// Returns the sequence (OSC 52) that asks a terminal to put a text into the clipboard, which also works over SSH.
///
/// ```
/// use agcore_terminal::clipboard::copy_sequence;
///
/// assert_eq!(copy_sequence("你好"), "\u{1b}]52;c;5L2g5aW9\u{7}");
/// ```
pub fn copy_sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}

/// Returns the programs that may read the clipboard of this system.
fn helpers(variable: impl Fn(&str) -> Option<String>) -> Vec<Helper> {
    let mut helpers = Vec::new();
    let is_set = |name: &str| variable(name).is_some();
    if cfg!(target_os = "macos") {
        helpers.push(Helper {
            program: "pngpaste",
            package: "brew install pngpaste",
            attempts: vec![vec!["-"]],
        });
    }
    if is_set("WAYLAND_DISPLAY") {
        let attempt = |kind| vec!["--no-newline", "--type", kind];
        helpers.push(Helper {
            program: "wl-paste",
            package: "the package wl-clipboard",
            attempts: vec![attempt("image/png"), attempt("image/bmp")],
        });
    }
    if is_set("DISPLAY") {
        let attempt = |kind| vec!["-selection", "clipboard", "-target", kind, "-out"];
        helpers.push(Helper {
            program: "xclip",
            package: "the package xclip",
            attempts: vec![attempt("image/png"), attempt("image/bmp")],
        });
    }
    if cfg!(windows) || is_set("WSL_DISTRO_NAME") {
        helpers.push(Helper {
            program: "powershell.exe",
            package: "PowerShell",
            attempts: vec![vec!["-NoProfile", "-STA", "-Command", POWERSHELL]],
        });
    }
    helpers
}

/// Reads the image with the first program that finds one.
async fn read(helpers: &[Helper]) -> Result<Vec<u8>, String> {
    let mut missing = Vec::new();
    let mut problem = None;
    for helper in helpers {
        for arguments in &helper.attempts {
            match output(helper.program, arguments).await {
                Ok(output) => {
                    if let Some(image) = image(&output) {
                        return image;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    missing.push(format!("`{}` ({})", helper.program, helper.package));
                    break;
                }
                Err(error) => problem = Some(format!("`{}` failed: {error}. {OTHERWISE}", helper.program)),
            }
        }
    }
    Err(match (problem, missing.len()) {
        (Some(problem), _) => problem,
        (None, _) if helpers.is_empty() => format!(
            "the clipboard cannot be reached: neither WAYLAND_DISPLAY nor DISPLAY is set, for example because of SSH. {OTHERWISE}"
        ),
        (None, count) if count == helpers.len() => format!(
            "reading the clipboard needs {}, which is not installed. {OTHERWISE}",
            missing.join(" or ")
        ),
        (None, _) => format!("the clipboard contains no image. {OTHERWISE}"),
    })
}

async fn output(program: &str, arguments: &[&str]) -> io::Result<Vec<u8>> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    match timeout(LIMIT, command.output()).await {
        Ok(output) => Ok(output?.stdout),
        Err(_) => Err(io::Error::other(format!("it took more than {} s", LIMIT.as_secs()))),
    }
}

/// Returns the image that a program has printed, as PNG. `None` if there is none.
fn image(output: &[u8]) -> Option<Result<Vec<u8>, String>> {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
    if output.starts_with(PNG) {
        return Some(Ok(output.to_vec()));
    }
    if output.starts_with(bmp::START) {
        return Some(
            bmp::to_png(output).map_err(|error| format!("the image in the clipboard cannot be used: {error}")),
        );
    }
    let text = std::str::from_utf8(output).ok()?;
    let decoded = STANDARD.decode(text.trim()).ok()?;
    decoded.starts_with(PNG).then_some(Ok(decoded))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(set: &[&str]) -> Vec<&'static str> {
        let variable = |name: &str| set.contains(&name).then(|| "x".to_owned());
        helpers(variable).iter().map(|helper| helper.program).collect()
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_missing_program_is_named() {
        assert_eq!(programs(&["WAYLAND_DISPLAY", "DISPLAY"]), ["wl-paste", "xclip"]);
        assert_eq!(programs(&["WSL_DISTRO_NAME"]), ["powershell.exe"]);
        let error = read(&[]).await.unwrap_err();
        assert!(
            error.contains("neither WAYLAND_DISPLAY nor DISPLAY") && error.contains("@PATH"),
            "{error}"
        );
        let helper = |program| Helper {
            program,
            package: "the package x",
            attempts: vec![vec![]],
        };
        let error = read(&[helper("agcore-no-such-program")]).await.unwrap_err();
        assert!(
            error.contains("needs `agcore-no-such-program` (the package x)"),
            "{error}"
        );
        let error = read(&[helper("agcore-no-such-program"), helper("true")])
            .await
            .unwrap_err();
        assert!(error.starts_with("the clipboard contains no image"), "{error}");
    }

    #[test]
    fn images_are_recognized_by_their_first_bytes() {
        let png = b"\x89PNG\r\n\x1a\nrest".to_vec();
        assert_eq!(image(&png), Some(Ok(png.clone())));
        let encoded = format!("{}\r\n", STANDARD.encode(&png));
        assert_eq!(image(encoded.as_bytes()), Some(Ok(png)));
        assert_eq!(image(b"plain text"), None);
        assert_eq!(image(b""), None);
        assert!(image(b"BM").is_some_and(|image| image.is_err()));
    }
}
