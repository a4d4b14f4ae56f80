//! Which file it is, on Windows: the standard library tells volume and number of a file to nobody yet.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::mem::MaybeUninit;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsRawHandle as _;
use std::path::Path;

/// What the file system knows a file by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The volume's number and the file's on it.
    pub id: (u64, u64),
    /// How many names it has.
    pub names: u64,
}

/// `BY_HANDLE_FILE_INFORMATION`; of numbers in two halves the high one comes first.
#[repr(C)]
struct Information {
    attributes: u32,
    times: [[u32; 2]; 3],
    volume: u32,
    size: [u32; 2],
    names: u32,
    index: [u32; 2],
}

#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetFileInformationByHandle(file: *mut c_void, information: *mut Information) -> i32;
}

/// Of an open file. None where its file system does not tell.
pub fn of_file(file: &File) -> Option<Identity> {
    let mut information = MaybeUninit::<Information>::uninit();
    // SAFETY: the handle is open as long as the file is borrowed, and there is room for all that is written.
    let told =
        unsafe { GetFileInformationByHandle(file.as_raw_handle(), information.as_mut_ptr()) };
    if told == 0 {
        return None;
    }
    // SAFETY: the system says that it has written all of it, and any bytes are numbers.
    let information = unsafe { information.assume_init() };
    let [high, low] = information.index.map(u64::from);
    let id = (information.volume.into(), high << 32 | low);
    Some(Identity { id, names: information.names.into() })
}

/// Of what lies at that path, links followed. Its content is not opened: nobody else's lock is in the way.
pub fn of_path(path: &Path) -> Option<Identity> {
    /// `FILE_FLAG_BACKUP_SEMANTICS`: directories as well.
    const ANY: u32 = 0x0200_0000;
    of_file(&OpenOptions::new().access_mode(0).custom_flags(ANY).open(path).ok()?)
}
