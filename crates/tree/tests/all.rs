//! The trees' tests in one program: what they share is compiled, and linked, once.

mod fitting;
mod guide;
mod stored_trees;
