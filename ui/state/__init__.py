"""What is remembered: the address, the visitor, the requests and their runs, the cache."""
