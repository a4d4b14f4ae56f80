//! The allocator of the static Linux binary: a bump arena for the hook path, dlmalloc behind it.
//!
//! A hook process makes some four thousand small allocations and lives for half a millisecond.
//! Taking and giving back a lock for each of them, and keeping books on what is free, was measured
//! at a quarter of its instructions. So the first allocations come out of a fixed arena, where only
//! the last block can grow in place or be given back: that alone keeps most pages from being
//! touched, and a page costs two microseconds. What does not fit, and everything after, is
//! dlmalloc's as usual.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Enough for an event with a few hundred rules; only touched pages cost anything.
const ARENA: usize = 1 << 20;
/// A larger allocation (a payload, a file) goes to dlmalloc, which gives it back.
const LARGEST: usize = 16 << 10;

#[repr(align(4096))]
struct Arena(UnsafeCell<[u8; ARENA]>);

// SAFETY: every byte below `NEXT` belongs to one block: it moves by one atomic step per allocation,
// and back only over a block that its owner gives up.
unsafe impl Sync for Arena {}

static MEMORY: Arena = Arena(UnsafeCell::new([0; ARENA]));
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// See the module.
pub struct Allocator;

/// Sizes are rounded up so that every block begins on a 16-byte boundary.
const fn rounded(size: usize) -> usize {
    (size + 15) & !15
}

/// The start of the arena.
fn base() -> *mut u8 {
    MEMORY.0.get().cast()
}

/// Is this a block of the arena?
fn inside(block: *mut u8) -> bool {
    (block as usize).wrapping_sub(base() as usize) < ARENA
}

// SAFETY: blocks of the arena are distinct, aligned and live as long as the process; all others
// are dlmalloc's from beginning to end, because `inside` tells the two apart by address.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() <= LARGEST && layout.align() <= 16 {
            let size = rounded(layout.size());
            let mut at = NEXT.load(Ordering::Relaxed);
            while at + size <= ARENA {
                match NEXT.compare_exchange_weak(
                    at,
                    at + size,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                ) {
                    // SAFETY: `at + size` lies inside the arena.
                    Ok(_) => return unsafe { base().add(at) },
                    Err(now) => at = now,
                }
            }
        }
        // SAFETY: the caller's promises are those dlmalloc asks for.
        unsafe { dlmalloc::GlobalDlmalloc.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !inside(block) {
            // SAFETY: the block came from dlmalloc with this layout.
            return unsafe { dlmalloc::GlobalDlmalloc.dealloc(block, layout) };
        }
        let at = block as usize - base() as usize;
        // Only the last block: if another came in between, the exchange fails and nothing happens.
        let end = at + rounded(layout.size());
        let _ = NEXT.compare_exchange(end, at, Ordering::Relaxed, Ordering::Relaxed);
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !inside(block) {
            // SAFETY: the block came from dlmalloc with this layout.
            return unsafe { dlmalloc::GlobalDlmalloc.realloc(block, layout, size) };
        }
        let (old, new) = (rounded(layout.size()), rounded(size));
        // What was rounded up is still free.
        if new <= old {
            return block;
        }
        let at = block as usize - base() as usize;
        if at + new <= ARENA
            && new <= LARGEST
            && NEXT
                .compare_exchange(at + old, at + new, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            return block;
        }
        // SAFETY: the new layout has the old one's alignment and a size the caller vouches for;
        // both blocks are valid for the smaller of the two sizes and do not overlap.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, layout.size().min(size));
            }
            new
        }
    }
}
