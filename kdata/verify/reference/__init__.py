"""The reference's side: a child that never sees the candidate makes inputs, answers and what they may miss."""
