//! An index of git's as it is right after files were added.

use std::fs;
use std::path::Path;

/// Its bytes.
pub fn index(project: &Path, names: &[String]) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend((names.len() as u32).to_be_bytes());
    for name in names {
        let meta = fs::metadata(project.join(name)).unwrap();
        let since = meta.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
        let mut head = [0_u8; 62];
        head[8..12].copy_from_slice(&(since.as_secs() as u32).to_be_bytes());
        head[12..16].copy_from_slice(&since.subsec_nanos().to_be_bytes());
        head[36..40].copy_from_slice(&(meta.len() as u32).to_be_bytes());
        head[60..].copy_from_slice(&(name.len() as u16).to_be_bytes());
        bytes.extend(head);
        bytes.extend(name.as_bytes());
        let len = 62 + name.len();
        bytes.extend(vec![0; 8 - len % 8]);
    }
    // The checksum, which nobody looks at.
    bytes.extend([0; 20]);
    bytes
}
