"""The judge: runs a candidate beside its reference, each in its own process, and writes down what was seen."""
