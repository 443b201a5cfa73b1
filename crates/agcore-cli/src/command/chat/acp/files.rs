//! [`EditorFiles`]: the files of the tools as the editor has them.

use std::path::Path;

use agcore_acp::Editor;
use agcore_workbench::program_tools::OpenFiles;

/// Reads and writes the files of the tools in the editor, if it offers that.
pub(super) struct EditorFiles(pub(super) Editor);

impl OpenFiles for EditorFiles {
    fn read(&self, path: &Path) -> Option<String> {
        // What the editor cannot read is read from the disk, with the reason if that fails as well.
        self.0
            .reads_files()
            .then(|| self.0.read_text_blocking(path).ok())
            .flatten()
    }

    fn write(&self, path: &Path, text: &str) -> Result<bool, String> {
        if !self.0.writes_files() {
            return Ok(false);
        }
        let written = self.0.write_text_blocking(path, text.to_owned());
        written.map(|()| true).map_err(|error| error.to_string())
    }
}
