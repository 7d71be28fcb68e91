//! The transformer: what it promises as a decoder, and that it equals a plain one.

#![expect(clippy::panic, reason = "a test fails by panicking")]

mod properties;
