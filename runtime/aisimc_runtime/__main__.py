"""`python -m aisimc_runtime` is `aisimc`."""

from aisimc_runtime.command.main import main

if __name__ == "__main__":
    main()
