//! Tests of generators and traces in one program: what they share is compiled, and linked, once.

mod allocation;
mod generator;
mod replay;
mod request_list;
mod stimulus;
mod whole_pass;
mod windows;
