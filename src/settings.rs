//! Lossless edits of other programs settings files.
