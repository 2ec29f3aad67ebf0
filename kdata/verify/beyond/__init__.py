"""A candidate beyond the sizes and branches of its trials. The trusted side."""
