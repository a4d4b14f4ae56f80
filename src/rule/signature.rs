//! What a rule speaks of or a call has, at a glance. The build, which signs the shipped rules, reads this file too.

/// Bits that names share: of events, tools, words and programs. Where a rule's and a call's have none in common the rule says
/// nothing of the call, and nearly all of many rules are told by that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature(pub [u64; 4]);

/// The bit that every call has: of a rule that speaks of any.
pub const ANY: u64 = u64::MAX ^ (u64::MAX / 2);
/// All there are.
pub const ALL: u64 = u64::MAX;

impl Signature {
    /// Of a rule: its events, tools, words and programs, with commas between them. An empty list means any.
    pub fn of_lists(lists: [&str; 4]) -> Signature {
        Signature(lists.map(|list| if list.is_empty() { ANY } else { bits(list.split(',')) }))
    }

    /// Could a rule of the one speak of a call of the other?
    pub fn meets(&self, other: &Signature) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own & other != 0)
    }
}

/// Their bits.
pub fn bits<'n>(names: impl IntoIterator<Item = &'n str>) -> u64 {
    names.into_iter().fold(0, |bits, name| bits | bit(name.bytes()))
}

/// A name's own: it goes by what stands before its first dot (`git.*`).
pub fn bit(name: impl IntoIterator<Item = u8>) -> u64 {
    let mut hash = 0x811c_9dc5_u32;
    for byte in name {
        match byte {
            b'.' => break,
            b'*' => return ANY,
            _ => hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193),
        }
    }
    1 << (hash % 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_star_may_be_any() {
        for name in ["*", "g*", "*x"] {
            assert_eq!(bit(name.bytes()), ANY, "{name}");
        }
        // What stands behind the first dot does not count.
        assert_eq!(bit("git.*".bytes()), bit("git.push".bytes()));
        assert_ne!(bit("git.*".bytes()), ANY);
        assert_ne!(bit("read".bytes()), bit("write".bytes()));
    }
}
