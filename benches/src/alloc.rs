//! A counting allocator for the whole process, which has a single thread.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// The system allocator with counters. Growing counts as an allocation of the new size.
struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The number and total size of allocations.
#[derive(Debug, Clone, Copy, Default)]
pub struct Allocated {
    /// The number of allocations.
    pub count: u64,
    /// Their total size.
    pub bytes: u64,
}

thread_local! {
    static IS_COUNTING: Cell<bool> = const { Cell::new(false) };
    static ALLOCATED: Cell<Allocated> = const { Cell::new(Allocated { count: 0, bytes: 0 }) };
}

/// Runs `work` and counts the allocations of this thread.
pub fn count<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    ALLOCATED.set(Allocated::default());
    IS_COUNTING.set(true);
    let result = work();
    IS_COUNTING.set(false);
    (result, ALLOCATED.get())
}

fn record(size: usize) {
    // Thread-local variables are not accessible while the thread exits.
    let is_counting = IS_COUNTING.try_with(Cell::get).unwrap_or(false);
    if is_counting {
        let Allocated { count, bytes } = ALLOCATED.get();
        ALLOCATED.set(Allocated {
            count: count + 1,
            bytes: bytes + size as u64,
        });
    }
}

#[expect(unsafe_code, reason = "only a global allocator can count allocations")]
// SAFETY: every call is forwarded unchanged to the system allocator; counting neither allocates nor panics.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: the caller upholds the contract, which is that of the system allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        record(size);
        // SAFETY: as above; `pointer` was allocated by the system allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; `pointer` was allocated by the system allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}
