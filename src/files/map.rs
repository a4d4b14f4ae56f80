//! A file's bytes in memory without a copy of them.

#![allow(unsafe_code)]

use std::fs::File;
use std::{io, ptr, slice};

use rustix::mm::{self, MapFlags, ProtFlags};

/// The first so many bytes of the file, for as long as the process lives.
///
/// # Errors
/// Where the system refuses, as it does where there are none.
pub fn map_file(file: &File, length: usize) -> io::Result<&'static [u8]> {
    // SAFETY: the kernel chooses a place where nothing lies, and it stays there: nobody takes it away. Only files that are
    // replaced whole are read so, and their bytes stay what they are; behind the end of one that was cut short lies
    // nothing, and the watchdog answers for that.
    unsafe {
        let at = mm::mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, file, 0)?;
        Ok(slice::from_raw_parts(at.cast::<u8>(), length))
    }
}
