//! [`ResourceInfo`], [`ResourceTemplate`] and [`ResourceContents`]: the resources that a server offers.

/// A resource that a server offers: data under a URI.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct ResourceInfo {
    /// The URI, in any scheme.
    pub uri: String,
    /// The name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// A description for people and models.
    pub description: Option<String>,
    /// The media type, such as `text/markdown`.
    pub mime_type: Option<String>,
    /// The size of the contents in bytes.
    pub size: Option<u64>,
}

/// A family of resources, by a template of their URIs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template, as in RFC 6570: `file:///{path}`.
    pub uri_template: String,
    /// The name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// A description for people and models.
    pub description: Option<String>,
    /// The media type of all resources of the family.
    pub mime_type: Option<String>,
}

/// The contents of a resource, or of a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct ResourceContents {
    /// The URI.
    pub uri: String,
    /// The media type.
    pub mime_type: Option<String>,
    /// The data.
    pub body: ResourceBody,
}

/// The data of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes, as base64.
    Base64(String),
}

impl ResourceInfo {
    /// Creates a resource.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// Sets the description.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type.
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

impl ResourceTemplate {
    /// Creates a template.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// Sets the description.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type.
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

impl ResourceContents {
    /// Creates text contents.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: Some("text/plain".to_owned()),
            body: ResourceBody::Text(text.into()),
        }
    }

    /// Creates binary contents from base64 text.
    pub fn base64(uri: impl Into<String>, mime_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: Some(mime_type.into()),
            body: ResourceBody::Base64(data.into()),
        }
    }

    /// Sets the media type.
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Returns the text, if these are text contents.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            ResourceBody::Text(text) => Some(text),
            ResourceBody::Base64(_) => None,
        }
    }
}
