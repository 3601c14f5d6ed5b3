//! All tests of generators and traces in one program, so that shared code is compiled and linked
//! once.

mod allocation;
mod generator;
mod replay;
mod request_list;
mod stimulus;
mod whole_pass;
mod windows;
