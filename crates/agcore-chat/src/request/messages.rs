//! [`Messages`]: a list of messages that is cheap to clone.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    slice,
    sync::Arc,
    vec,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::conversation::message::Message;

/// The messages of a request: a list that clones share until one of them changes it.
///
/// It is used like a `Vec`. Changing a list that other clones share copies it, which costs one reference per message.
///
/// ```
/// use agcore_chat::{Message, Messages};
///
/// let sent = Messages::from(vec![Message::user("Hello").into()]);
/// let mut next = sent.clone();
/// next.push(Message::assistant("Hi").into());
/// assert_eq!((sent.len(), next.len()), (1, 2));
/// ```
#[derive(Clone, Default)]
pub struct Messages(Option<Arc<Vec<Arc<Message>>>>);

static EMPTY: Vec<Arc<Message>> = Vec::new();

impl Messages {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self(None)
    }
}

impl Deref for Messages {
    type Target = Vec<Arc<Message>>;

    fn deref(&self) -> &Self::Target {
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

/// Copies a list that is shared.
impl DerefMut for Messages {
    fn deref_mut(&mut self) -> &mut Self::Target {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl From<Vec<Arc<Message>>> for Messages {
    fn from(messages: Vec<Arc<Message>>) -> Self {
        Self((!messages.is_empty()).then(|| Arc::new(messages)))
    }
}

impl From<Messages> for Vec<Arc<Message>> {
    fn from(messages: Messages) -> Self {
        messages.0.map(Arc::unwrap_or_clone).unwrap_or_default()
    }
}

impl FromIterator<Arc<Message>> for Messages {
    fn from_iter<I: IntoIterator<Item = Arc<Message>>>(messages: I) -> Self {
        Vec::from_iter(messages).into()
    }
}

impl IntoIterator for Messages {
    type Item = Arc<Message>;
    type IntoIter = vec::IntoIter<Arc<Message>>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Arc<Message>;
    type IntoIter = slice::Iter<'a, Arc<Message>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Messages {
    type Item = &'a mut Arc<Message>;
    type IntoIter = slice::IterMut<'a, Arc<Message>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<Vec<Arc<Message>>> for Messages {
    fn eq(&self, other: &Vec<Arc<Message>>) -> bool {
        **self == *other
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}
