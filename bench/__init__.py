"""What `make bench` runs: the promises of this project, measured."""
