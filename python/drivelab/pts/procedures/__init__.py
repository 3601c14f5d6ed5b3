"""The tests of the specification, one per file; `drivelab.pts.every_test` lists them."""
