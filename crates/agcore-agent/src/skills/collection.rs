//! [`Skills`]: instructions for special tasks, in folders, which a model reads when it needs them.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::file::SkillFiles;
use crate::{data_text::escaped, error::AgentError, front_matter::Front};

/// The file of a skill.
pub(super) const FILE: &str = "SKILL.md";

/// The largest number of skills.
const MAX_SKILLS: usize = 200;

/// The longest name, in characters.
const MAX_NAME: usize = 64;

/// The longest description, in characters. It is part of every request.
const MAX_DESCRIPTION: usize = 1024;

/// Instructions for special tasks, such as filling in a form or writing release notes: folders with a file `SKILL.md`, whose front
/// matter has a `name` and a `description`, and with further files that it mentions.
///
/// An agent [with skills](crate::AgentBuilder::with_skills) lists names and descriptions in its system prompt. The model reads the
/// rest with the tool `use_skill` when a task fits, so that skills that are not needed cost only a line. Files are read when they
/// are used, and only inside of the folder of their skill; links that lead out of it are refused.
///
/// What a skill contains are instructions: use only folders that you trust.
///
/// ```
/// use std::fs;
///
/// use agcore_agent::{Skills, agent};
/// use agcore_chat::ToolCall;
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap().block_on(async {
/// let folder = tempfile::tempdir()?;
/// fs::create_dir(folder.path().join("tea"))?;
/// let text = "---\nname: tea\ndescription: How to make tea.\n---\nBoil the water first.";
/// fs::write(folder.path().join("tea/SKILL.md"), text)?;
///
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::calls([ToolCall::function("call_1", "use_skill", r#"{"name": "tea"}"#)]),
/// #     ScriptStep::text("Boil the water first."),
/// # ]);
/// let session = agent(model).with_skills(Skills::read(folder.path())?).session()?;
/// session.turn("How do I make tea?").await?;
/// assert!(session.messages().await[2].text().contains("Boil the water first."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct Skills(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Sorted by name.
    skills: Vec<Skill>,
    problems: Vec<String>,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skill {
    /// The name: lower-case letters, digits and hyphens.
    pub name: String,
    /// A description of what it is for and when to use it.
    pub description: String,
    /// The folder: without links, or as it was given for [files in memory](Skills::from_files).
    pub folder: PathBuf,
    pub(super) files: SkillFiles,
}

impl Skills {
    /// Reads the skills in the folders below a folder. Folders without `SKILL.md` are skipped, and skills that cannot be used are
    /// listed in [`problems`](Self::problems). If the folder does not exist, there are no skills.
    ///
    /// # Errors
    /// [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) if the folder cannot be read.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, AgentError> {
        let folder = folder.as_ref();
        let failed = |error: &io::Error| {
            AgentError::invalid_skills(format!("the skills in {} cannot be read: {error}", folder.display()))
        };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed(&error)),
        };
        let mut paths: Vec<PathBuf> = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| failed(&error))?.path();
            if path.join(FILE).is_file() {
                paths.push(path);
            }
        }
        paths.sort();
        let mut inner = Inner::default();
        for path in paths {
            let folder = fs::canonicalize(&path).map_err(|error| error.to_string());
            let skill = folder.and_then(|folder| Skill::new(folder.clone(), SkillFiles::Folder(folder)));
            inner.add(skill, &path);
        }
        Ok(Self(Arc::new(inner.sorted())))
    }

    /// Reads skills from files that were read before, so that the checked content is the one that is used. Their paths
    /// are relative to `folder`, which need not exist, and have `/` between their parts: `tea/SKILL.md`.
    ///
    /// ```
    /// use agcore_agent::Skills;
    ///
    /// let tea = "---\nname: tea\ndescription: How to make tea.\n---\nBoil the water first.";
    /// let skills = Skills::from_files("skills", [("tea/SKILL.md", tea), ("tea/times.md", "2 minutes")]);
    /// assert_eq!(skills.list()[0].name, "tea");
    /// assert!(skills.problems().is_empty());
    /// ```
    pub fn from_files<N: Into<String>, B: Into<Vec<u8>>>(
        folder: impl AsRef<Path>,
        files: impl IntoIterator<Item = (N, B)>,
    ) -> Self {
        let mut folders: BTreeMap<String, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
        for (name, bytes) in files {
            if let Some((skill, file)) = name.into().split_once('/') {
                let files = folders.entry(skill.to_owned()).or_default();
                files.insert(file.to_owned(), bytes.into());
            }
        }
        folders.retain(|_, files| files.contains_key(FILE));
        let mut inner = Inner::default();
        for (name, files) in folders {
            let path = folder.as_ref().join(name);
            inner.add(Skill::new(path.clone(), SkillFiles::Memory(Arc::new(files))), &path);
        }
        Self(Arc::new(inner.sorted()))
    }

    /// Adds the skills of another folder. Of skills with the same name, the one that is here already is kept.
    #[must_use]
    pub fn with(self, other: &Self) -> Self {
        let mut skills = self.0.skills.clone();
        let new = other.0.skills.iter().filter(|skill| self.get(&skill.name).is_none());
        skills.extend(new.cloned());
        skills.sort_by(|one, other| one.name.cmp(&other.name));
        let problems = [&self.0.problems[..], &other.0.problems].concat();
        Self(Arc::new(Inner { skills, problems }))
    }

    /// Returns the skills with these names. Names of skills that do not exist are skipped.
    #[must_use]
    pub fn only<T: AsRef<str>>(&self, names: &[T]) -> Self {
        let is_named = |skill: &&Skill| names.iter().any(|name| name.as_ref() == skill.name);
        Self(Arc::new(Inner {
            skills: self.0.skills.iter().filter(is_named).cloned().collect(),
            problems: Vec::new(),
        }))
    }

    /// Returns the skills, sorted by name.
    pub fn list(&self) -> &[Skill] {
        &self.0.skills
    }

    /// Returns a skill by its name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.0.skills.iter().find(|skill| skill.name == name)
    }

    /// Returns why skills cannot be used, one sentence for each.
    pub fn problems(&self) -> &[String] {
        &self.0.problems
    }

    /// Returns the part of the system prompt that lists the skills, if there are any.
    pub(crate) fn prompt(&self) -> Option<String> {
        if self.0.skills.is_empty() {
            return None;
        }
        let lines = self.0.skills.iter().map(|skill| {
            let description = escaped(&skill.description).replace(['\r', '\n'], " ");
            format!("\n- {}: {description}", skill.name)
        });
        let head = "These skills contain instructions for special tasks. Before such a task, read the skill with the tool `use_skill`.";
        Some(head.to_owned() + &lines.collect::<String>())
    }
}

impl Inner {
    fn add(&mut self, skill: Result<Skill, String>, path: &Path) {
        let problem = match skill {
            Err(problem) => problem,
            Ok(skill) if self.skills.iter().any(|known| known.name == skill.name) => {
                format!("there is another skill with the name `{}`", skill.name)
            }
            Ok(_) if self.skills.len() == MAX_SKILLS => format!("there are more than {MAX_SKILLS} skills"),
            Ok(skill) => return self.skills.push(skill),
        };
        self.problems.push(format!("{}: {problem}", path.join(FILE).display()));
    }

    fn sorted(mut self) -> Self {
        self.skills.sort_by(|one, other| one.name.cmp(&other.name));
        self
    }
}

impl Skill {
    /// Reads the head of a skill.
    fn new(folder: PathBuf, files: SkillFiles) -> Result<Self, String> {
        let text = files.read_text(FILE)?;
        let front = Front::of(&text)?;
        let (name, description) = (front.text("name"), front.text("description"));
        let is_portable = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || name.chars().count() > MAX_NAME || !name.chars().all(is_portable) {
            return Err(format!(
                "the name must have 1 to {MAX_NAME} lower-case letters, digits and hyphens"
            ));
        }
        if description.trim().is_empty() || description.chars().count() > MAX_DESCRIPTION {
            return Err(format!("the description must have 1 to {MAX_DESCRIPTION} characters"));
        }
        Ok(Self {
            name,
            description,
            folder,
            files,
        })
    }
}

impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.skills.iter().map(|skill| &skill.name))
            .finish()
    }
}
