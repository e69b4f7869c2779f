# Machine images of nodes: what makes them is in this directory, the tests are in tests/images.

COMPUTES += tests/images/run.sh
