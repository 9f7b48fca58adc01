"""`python -m filbert.cli`: the same as `filbert`."""

from filbert.cli import main

if __name__ == "__main__":
    main()
