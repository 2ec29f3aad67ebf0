"""The problems of TritonBench-T as tasks."""
