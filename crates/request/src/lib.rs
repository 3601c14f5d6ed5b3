//! Units as types, the request and the latency histogram
