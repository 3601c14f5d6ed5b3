"""The tests of the specification, one a file; `drivelab.pts.every_test` lists them."""
