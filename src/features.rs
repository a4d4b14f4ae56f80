//! What the standard library takes the processor for on x86-64 Linux without glibc: one without extensions.
//!
//! A search for a byte (memchr) asks once a process for AVX2, and std then asks for all there is: seven `cpuid`,
//! for each of which a virtual machine is left for its host. That was measured at a sixth of a hook process. So
//! std's cache is filled beforehand, and each search takes SSE2, which every such processor has.

#![allow(unsafe_code)]

use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};

// `build/features.ld` puts them around the cache; where a compiler names it otherwise, there is nothing between them.
unsafe extern "C" {
    static hookctl_features: AtomicUsize;
    static hookctl_features_end: AtomicUsize;
}

/// A word of the cache that is filled; the other bits are features.
const KNOWN: usize = 1 << (usize::BITS - 1);

/// From now on std finds no feature, and does not look.
pub fn assume_none() {
    let range = &raw const hookctl_features..&raw const hookctl_features_end;
    let words = (range.end as usize - range.start as usize) / size_of::<AtomicUsize>();
    // SAFETY: between the two lie std's atomic words and nothing else; other threads may use them as well.
    let cache = unsafe { slice::from_raw_parts(range.start, words) };
    for word in cache {
        word.store(KNOWN, Ordering::Relaxed);
    }
}
