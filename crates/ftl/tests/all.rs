//! All tests of the firmware in one program, so that shared code is compiled and linked once.

mod block_map;
mod cached_map;
mod collection;
mod compressed_map;
mod contract;
mod damage;
mod external;
mod failures;
mod memory;
mod pace;
mod placement;
mod reclaim_map;
mod refresh;
mod requests;
mod shared;
mod slc_map;
mod temperature;
mod wear;
mod write_amplification;
mod zone_map;
