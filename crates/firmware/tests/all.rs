//! Every test of the firmware program, in one program.
