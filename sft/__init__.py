"""From dataset to model."""
