"""The records of Nutch 0.6 and 0.7 (2005, 2006), their segments and their web database.

Source: Nutch at its first import to Apache (2005-03-01, "0.06-dev") and release 0.7.2.
"""
