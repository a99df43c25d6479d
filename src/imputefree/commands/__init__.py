"""What the command line can do, one file a group of commands."""
