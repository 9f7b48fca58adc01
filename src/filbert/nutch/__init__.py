"""Data of other crawlers' making: Hadoop's containers, the records of Nutch 0.6, 0.7 and 1.x.

Guarantee: pure reading and writing; nothing here knows a crawl folder of ours. What is damaged is
an error that names the place, never another error, a hang or boundless memory.
Source: Nutch 0.6, 0.7.2 and 1.22; Hadoop 2 and 3.
"""
