"""The tests of the specification, one a file; `drivelab.pts.registry` lists them."""
