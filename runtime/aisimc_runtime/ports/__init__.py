"""The rim: files and processes of the machine, behind small functions that the rest of the runtime uses."""
