"""The only room that knows a path: the crawl folder, its tables, segments and captures."""
