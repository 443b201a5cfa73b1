//! The user's editor for texts that are longer than a line.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write},
    process::{Command, ExitStatus},
};

use crate::{console::Cooked, process::variable};

/// Opens the text in `$VISUAL` or `$EDITOR` and returns the edited text. The file is readable by its owner only and is
/// removed afterwards.
///
/// # Errors
/// When no editor is set, or it fails; the text is then unchanged.
pub async fn edit(text: &str) -> Result<String, String> {
    let Some(editor) = variable("VISUAL").or_else(|| variable("EDITOR")) else {
        return Err("no editor is set; set VISUAL or EDITOR, for example to `nano`".to_owned());
    };
    let text = text.to_owned();
    let edited = tokio::task::spawn_blocking(move || edit_file(&editor, &text)).await;
    edited.map_err(|error| error.to_string())?
}

fn edit_file(editor: &str, text: &str) -> Result<String, String> {
    let failed = |error: io::Error| format!("cannot edit the input with `{editor}`: {error}");
    let mut builder = tempfile::Builder::new();
    let mut file = builder.prefix("agcore-").suffix(".md").tempfile().map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    let status = {
        let _cooked = Cooked::enter();
        run(editor, file.path().as_os_str()).map_err(failed)?
    };
    if !status.success() {
        return Err(format!("`{editor}` ended with {status}; the input is unchanged"));
    }
    let edited = fs::read_to_string(file.path()).map_err(failed)?;
    Ok(edited.trim_end().to_owned())
}

/// Runs the editor, which may be a command with options.
fn run(editor: &str, file: &OsStr) -> io::Result<ExitStatus> {
    if cfg!(windows) {
        return Command::new(editor).arg(file).status();
    }
    let script = format!("{editor} \"$1\"");
    Command::new("/bin/sh").args(["-c", &script, "sh"]).arg(file).status()
}
