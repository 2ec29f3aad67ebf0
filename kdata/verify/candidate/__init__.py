"""The candidate's side: what runs in the child that holds hostile code, and what may stand in its text."""
