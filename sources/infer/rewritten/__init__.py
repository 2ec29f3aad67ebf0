"""Modules that become tasks in another form: what they draw, take or answer is made an input, or tensors."""
