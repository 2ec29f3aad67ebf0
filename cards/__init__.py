"""Dataset cards: what a set says about itself on the Hub."""
