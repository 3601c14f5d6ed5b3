//! All tests of the trees in one program, so that shared code is compiled and linked once.

mod fitting;
mod guide;
mod stored_trees;
