//! [`Place`]: where the processes of a trial work.

use std::{
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
    process::Stdio,
};

use tempfile::TempDir;

use super::{log::Log, schema::PostgresSchema};

/// Where the processes of a trial work: a temporary folder with a log, and a database.
#[derive(Debug)]
pub struct Place {
    folder: Folder,
    database: Database,
}

/// The database of a [`Place`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Database {
    /// A file in the folder of the place, which may not exist yet.
    File(PathBuf),
    /// A schema of a PostgreSQL server.
    Postgres {
        /// The URL of the server.
        url: String,
        /// The name of the schema, which may not exist yet.
        schema: String,
    },
}

#[derive(Debug)]
enum Folder {
    Own(TempDir),
    Given(PathBuf),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Self::Own(folder) => folder.path(),
            Self::Given(folder) => folder,
        }
    }
}

impl Place {
    /// Creates a place whose database is a file.
    ///
    /// # Panics
    /// If no temporary folder can be created.
    #[expect(clippy::new_without_default, reason = "each place is another folder")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        Self::at(Folder::Own(folder), None)
    }

    /// Creates a place whose database is a schema. Several places may share it: see [`name`](Self::name).
    ///
    /// # Panics
    /// If no temporary folder can be created.
    pub fn in_schema(schema: &PostgresSchema) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let database = Database::Postgres {
            url: schema.url().to_owned(),
            schema: schema.name().to_owned(),
        };
        Self::at(Folder::Own(folder), Some(database))
    }

    fn at(folder: Folder, database: Option<Database>) -> Self {
        let database = database.unwrap_or_else(|| Database::File(folder.path().join("store.db")));
        Self { folder, database }
    }

    /// Returns the folder. It is removed with the place of the test.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Returns a name that no other place has, for example for a session in a schema that places share.
    pub fn name(&self) -> String {
        let name = self.folder().file_name().unwrap_or_default();
        name.to_string_lossy().trim_start_matches('.').to_owned()
    }

    /// Returns the log of what the processes did.
    pub fn log(&self) -> Log {
        Log::new(self.folder().join("log"))
    }

    /// Returns where the processes write their errors.
    pub(super) fn errors(&self) -> Stdio {
        let file = OpenOptions::new().create(true).append(true).open(self.error_file());
        file.map_or_else(|_| Stdio::null(), Stdio::from)
    }

    /// Returns what the processes did, and their errors, for the message of a failed test.
    pub(super) fn report(&self) -> String {
        let errors = fs::read(self.error_file()).unwrap_or_default();
        format!("{}\n{}", self.log().text(), String::from_utf8_lossy(&errors))
    }

    fn error_file(&self) -> PathBuf {
        self.folder().join("errors")
    }

    /// Returns the place as lines for another process.
    pub(super) fn to_text(&self) -> String {
        let folder = self.folder().display();
        match &self.database {
            Database::File(_) => folder.to_string(),
            Database::Postgres { url, schema } => format!("{folder}\n{url}\n{schema}"),
        }
    }

    pub(super) fn from_text(lines: &[String]) -> Self {
        let folder = |path: &String| Folder::Given(PathBuf::from(path));
        match lines {
            [path, url, schema] => {
                let database = Database::Postgres {
                    url: url.clone(),
                    schema: schema.clone(),
                };
                Self::at(folder(path), Some(database))
            }
            lines => Self::at(folder(lines.first().expect("a place has a folder")), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_works_at_the_same_place() {
        let schema = PostgresSchema::new("postgres://localhost:1/none");
        for place in [Place::new(), Place::in_schema(&schema)] {
            let lines: Vec<String> = place.to_text().lines().map(str::to_owned).collect();
            let same = Place::from_text(&lines);
            assert_eq!((same.folder(), same.database()), (place.folder(), place.database()));
            assert_eq!((place.log().text(), same.name()), (String::new(), place.name()));
            same.log().add("one");
            place.log().add("two");
            drop(same);
            assert!(place.log().has("two"));
            assert_eq!(place.log().text(), "one\ntwo\n", "the place belongs to the test");
        }
        assert_ne!(Place::new().name(), Place::new().name());
    }
}
