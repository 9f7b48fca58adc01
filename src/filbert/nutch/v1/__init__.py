"""The records of Nutch 1.x, its folders, and the text that its readers print of them.

Guarantee: what Nutch 1.22 wrote comes out again byte for byte; older versions of a record are read,
the current one is written.
Source: Nutch 1.22; Hadoop 3 `io`.
"""
