//! All tests of the crate, with one file for each topic.

mod bad_lines;
mod block_layer;
mod cautions;
mod characterize;
mod characterize_known;
mod compression;
mod detection;
mod formats;
mod made;
mod order;
mod parquet_tables;
mod written;
