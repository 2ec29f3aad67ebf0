"""Where cutting a framework's own models ends: what stands for its core, a file for each framework.

A file adds to our stand-in of the same name in ``sources/replacements``: what the two define is taken in place of what
the framework's own files, those of its models left aside, define under these names.  A name that is None is that of
decorators without which a model computes the same.
"""
