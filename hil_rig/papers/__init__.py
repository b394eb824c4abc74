"""The published systems and public recordings that jointwatch reproduces: a folder each, beside what was published."""
