//! Reads the values of documents as types.

mod failure;
mod path;
mod session;
mod scalar;
mod place;
mod absent;
mod choice;
mod key;
mod deserializer;

use serde::{Deserialize, de::DeserializeOwned};

use self::{deserializer::NodeDeserializer, path::Path, session::Session};
use crate::{document_path::DocumentPath, error::DocumentError, field::Field, node::Node};

impl Node {
    /// Reads the value as a type.
    ///
    /// # Errors
    /// The first problem, in the order in which the type reads the members.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, DocumentError> {
        let session = Session::strict();
        let read = T::deserialize(NodeDeserializer::new(self, Path::Root, &session));
        read.map_err(|failure| failure.into_error(self.place, DocumentPath::default))
    }

    /// Reads the value as a type, and returns all problems in the order of the document. Unknown members and wrong
    /// [fields](Field) are left out of the value; it is `None` if another part of it is wrong.
    pub fn read_all<T: DeserializeOwned>(&self) -> (Option<T>, Vec<DocumentError>) {
        let session = Session::collecting();
        let read = Field::<T>::deserialize(NodeDeserializer::new(self, Path::Root, &session));
        let (value, fatal) = match read {
            Ok(field) => (field.value, None),
            Err(failure) => (None, Some(failure.into_error(self.place, DocumentPath::default))),
        };
        let mut problems = session.into_errors();
        problems.extend(fatal);
        problems.sort_by_key(|problem| problem.place);
        (value, problems)
    }
}
