//! What a rule speaks of or a call has, at a glance. The build, which signs the shipped rules, reads this file too.

/// Bits that names share: of events, tools, words and programs. Where a rule's and a call's have none in common the rule says
/// nothing of the call, and nearly all of many rules are told by that. As a text it is of one length and ASCII: six bits of a
/// byte are names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature(pub [u64; 4]);

/// The bit that every call has: of a rule that speaks of any.
pub const ANY: u64 = 0x40;
/// All there are.
pub const ALL: u64 = 0x7f7f_7f7f_7f7f_7f7f;

impl Signature {
    /// Its length as a text.
    pub const LENGTH: usize = 32;

    /// Of a rule: its events, tools, words and programs, with commas between them. An empty list means any.
    pub fn of_lists(lists: [&str; 4]) -> Signature {
        Signature(lists.map(|list| if list.is_empty() { ANY } else { bits(list.split(',')) }))
    }

    /// Could a rule of the one speak of a call of the other?
    pub fn meets(&self, other: &Signature) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own & other != 0)
    }

    /// As a text.
    pub fn write(&self, out: &mut String) {
        out.extend(self.0.iter().flat_map(|bits| bits.to_le_bytes()).map(char::from));
    }

    /// Of its text.
    pub fn read(text: &str) -> Option<Signature> {
        let (bits, rest) = text.as_bytes().as_chunks();
        let bits: &[[u8; 8]; 4] = bits.try_into().ok().filter(|_| rest.is_empty())?;
        Some(Signature(bits.map(u64::from_le_bytes)))
    }
}

/// Their bits: a name's own goes by what stands before its first blank or dot (`git push`, `git.*`).
pub fn bits<'n>(names: impl IntoIterator<Item = &'n str>) -> u64 {
    names.into_iter().fold(0, |bits, name| {
        let end = name.bytes().position(|byte| matches!(byte, b' ' | b'.')).unwrap_or(name.len());
        let fold = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let hash = name[..end].bytes().fold(0x811c_9dc5, fold) >> 8;
        bits | if name[..end].contains('*') { ANY } else { 1 << (hash % 6 + hash / 6 % 8 * 8) }
    })
}
