//! Enums of words: what rule files, answers and the journal call each of a few things, said once.

/// An enum, and the word for each of its variants.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$own:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$own])* $variant,)+ }

        impl $name {
            /// Each by its word, in this order.
            pub const NAMES: &'static [(&'static str, $name)] = &[$(($word, $name::$variant),)+];

            /// The word for it.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }
    };
}
