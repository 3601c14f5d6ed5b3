//! Tests of requests and histograms in one program: what they share is compiled, and linked, once.

mod batch_means;
mod histogram;
mod window;
