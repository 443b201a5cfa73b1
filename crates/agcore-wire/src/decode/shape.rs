//! [`ResponseShape`]: where the replies of a server that is not a chat contain what.

mod path;
mod usage;

pub(crate) use usage::read_usage;

use std::collections::BTreeMap;

use serde_json::Value;

use self::path::{check, select};
use crate::error::{LlmError, LlmErrorKind};

/// The form of requests and replies for models that do not chat: a built-in one, with replies described by JSON pointers where
/// a server deviates from it.
///
/// The built-in forms are that of OpenAI and most compatible servers, and that of DashScope. A pointer follows RFC 6901, and
/// in addition a segment `*` stands for every entry of a list.
///
/// ```
/// # #[cfg(feature = "rerank")] {
/// use agcore_wire::{Close, Decoder, ReplyHead, ResponseShape, Wire, operation::{Rerank, RerankItem}, rerank::RerankWire};
///
/// // A server with results under other names.
/// let shape = ResponseShape::openai()
///     .with_path("/v2/ranking")
///     .with_pointer("results", "/data/*")
///     .with_pointer("score", "/similarity");
/// let wire = RerankWire::new(shape)?;
///
/// let (mut decoder, mut items) = (Wire::<Rerank>::decoder(&wire, &ReplyHead::default()), Vec::new());
/// decoder.feed(br#"{"data": [{"index": 1, "similarity": 0.75}]}"#, &mut items)?;
/// decoder.finish(Close::Clean, &mut items)?;
/// assert_eq!(items, [RerankItem::Score { index: 1, score: 0.75 }]);
/// # }
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ResponseShape {
    form: Form,
    path: Option<String>,
    pointers: BTreeMap<String, String>,
}

/// A built-in form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    OpenAi,
    DashScope,
}

/// The names of the built-in forms.
const FORMS: &[(&str, Form)] = &[("openai", Form::OpenAi), ("dashscope", Form::DashScope)];

/// A pointer that a kind of model has: its name, and its default in each form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointerSpec {
    pub(crate) name: &'static str,
    pub(crate) openai: &'static str,
    pub(crate) dashscope: &'static str,
}

impl ResponseShape {
    /// Creates the shape of OpenAI. Servers of Cohere, Jina, SiliconFlow, vLLM and others share it where OpenAI has no such model.
    pub fn openai() -> Self {
        Self::new(Form::OpenAi)
    }

    /// Creates the shape of DashScope, the native API of Alibaba Cloud Model Studio.
    pub fn dashscope() -> Self {
        Self::new(Form::DashScope)
    }

    /// Returns the built-in form with this name: `openai` or `dashscope`.
    ///
    /// ```
    /// use agcore_wire::ResponseShape;
    ///
    /// assert_eq!(ResponseShape::named("dashscope"), Some(ResponseShape::dashscope()));
    /// assert_eq!(ResponseShape::named("other"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let (_, form) = FORMS.iter().find(|(known, _)| *known == name)?;
        Some(Self::new(*form))
    }

    /// Returns the names of the built-in forms.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FORMS.iter().map(|(name, _)| *name)
    }

    /// Returns the name of the built-in form.
    pub fn name(&self) -> &'static str {
        let known = FORMS.iter().find(|(_, form)| *form == self.form);
        known.map_or("", |(name, _)| *name)
    }

    /// Sets the path of requests below the base URL, with a leading slash.
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets the JSON pointer to a value in replies. The wires list the names of their pointers.
    pub fn with_pointer(mut self, name: impl Into<String>, pointer: impl Into<String>) -> Self {
        self.pointers.insert(name.into(), pointer.into());
        self
    }

    fn new(form: Form) -> Self {
        Self {
            form,
            path: None,
            pointers: BTreeMap::new(),
        }
    }
}

/// A shape that was checked against the pointers of a kind of model.
#[derive(Debug, Clone)]
pub(crate) struct CheckedShape {
    shape: ResponseShape,
    specs: &'static [PointerSpec],
}

impl CheckedShape {
    /// Checks the path and the pointers of a shape.
    pub(crate) fn new(shape: ResponseShape, specs: &'static [PointerSpec]) -> Result<Self, LlmError> {
        let invalid = |message: String| Err(LlmError::new(LlmErrorKind::InvalidRequest, message));
        if let Some(path) = shape.path.as_ref().filter(|path| !is_path(path)) {
            return invalid(format!(
                "`{}` is not a path of requests: write one such as /rerank",
                path.escape_debug()
            ));
        }
        for (name, pointer) in &shape.pointers {
            if !specs.iter().any(|spec| spec.name == name) {
                let known: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
                let known = known.join(", ");
                return invalid(format!(
                    "there is no pointer `{}` for this kind of model: the pointers are {known}",
                    name.escape_debug()
                ));
            }
            if let Err(problem) = check(pointer) {
                return invalid(format!(
                    "the pointer `{name}` is invalid: `{}` {problem}",
                    pointer.escape_debug()
                ));
            }
        }
        Ok(Self { shape, specs })
    }

    pub(crate) fn form(&self) -> Form {
        self.shape.form
    }

    /// Returns the path of requests: the one that was set, or the default one of the form.
    pub(crate) fn path(&self, openai: &'static str, dashscope: &'static str) -> &str {
        match (&self.shape.path, self.shape.form) {
            (Some(path), _) => path,
            (None, Form::OpenAi) => openai,
            (None, Form::DashScope) => dashscope,
        }
    }

    /// Returns everything that the pointer with this name selects, in order.
    pub(crate) fn all<'v>(&self, value: &'v Value, name: &str) -> Vec<&'v Value> {
        let mut found = Vec::new();
        select(value, self.pointer(name), &mut found);
        found
    }

    /// Returns the first thing that the pointer with this name selects, unless it is null.
    pub(crate) fn first<'v>(&self, value: &'v Value, name: &str) -> Option<&'v Value> {
        self.all(value, name).into_iter().find(|value| !value.is_null())
    }

    /// Returns the pointer with this name, for messages.
    pub(crate) fn pointer(&self, name: &str) -> &str {
        if let Some(pointer) = self.shape.pointers.get(name) {
            return pointer;
        }
        let spec = self.specs.iter().find(|spec| spec.name == name);
        spec.map_or("", |spec| match self.shape.form {
            Form::OpenAi => spec.openai,
            Form::DashScope => spec.dashscope,
        })
    }
}

fn is_path(path: &str) -> bool {
    path.starts_with('/')
        && path
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"#\\\"<>".contains(&byte))
}
