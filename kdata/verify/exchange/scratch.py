"""Files that the judge and its processes leave for each other in a scratch folder, by name."""

from __future__ import annotations

SOURCE = "candidate.py"  # the candidate's text
GIVEN = "given.bin"  # tensors that candidates are given
KEPT = "kept.bin"  # tensors that stay with the judge
RETURNED = "returned.bin"  # tensors that trials left
VALUE = "value.json"  # what trials gave, where a process is asked more than once
OWN = "own.bin"  # tensors that candidates are given at a task's own sizes
OUTPUT = "output.bin"  # what a call at these sizes returned
TAKEN = "candidate.bin"  # the same, in the reference's process
LIBRARIES = "libraries.json"  # of a candidate in CUDA: the file of each compiled library, by the call that asked for it
COMPILATION = "compiled.bin"  # what torch.compile made of a task
LATE = "late"  # how a call ends of which some programs run, where it takes longer than its share
