//! SSD firmware: mapping and garbage collection, without a clock or I/O
