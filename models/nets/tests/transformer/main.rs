//! The transformer: what it promises as a decoder, and that it equals a plain one.

mod properties;
