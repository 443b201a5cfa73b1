//! [`Extensions`]: values of the application, one per type.

use std::{
    any::{Any, TypeId, type_name},
    fmt,
    sync::Arc,
};

/// Values of the application that a context carries to its tools, one per type.
///
/// ```
/// use agcore_tools::Extensions;
///
/// struct Database(&'static str);
///
/// let mut extensions = Extensions::default();
/// extensions.insert(Database("orders"));
/// assert_eq!(extensions.get::<Database>().unwrap().0, "orders");
/// assert!(!extensions.contains::<String>());
/// ```
#[derive(Clone, Default)]
pub struct Extensions(Vec<Slot>);

/// A value. There are few, and they are looked up in each call, so that a list is faster than a map.
#[derive(Clone)]
struct Slot {
    type_id: TypeId,
    type_name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

impl Extensions {
    /// Inserts a value. Replaces an earlier value of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.insert_shared(Arc::new(value));
    }

    /// Inserts a value that is already shared. Replaces an earlier value of the same type.
    pub fn insert_shared<T: Send + Sync + 'static>(&mut self, value: Arc<T>) {
        let slot = Slot {
            type_id: TypeId::of::<T>(),
            type_name: type_name::<T>(),
            value,
        };
        match self.0.iter_mut().find(|known| known.type_id == slot.type_id) {
            Some(known) => *known = slot,
            None => self.0.push(slot),
        }
    }

    /// Returns the value of type `T`.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.slot::<T>()?.value).downcast().ok()
    }

    /// Returns whether there is a value of type `T`.
    pub fn contains<T: 'static>(&self) -> bool {
        self.slot::<T>().is_some()
    }

    fn slot<T: 'static>(&self) -> Option<&Slot> {
        self.0.iter().find(|slot| slot.type_id == TypeId::of::<T>())
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|slot| slot.type_name)).finish()
    }
}
