"""`python -m ember`: the same as the command `ember`."""

import sys

from ember.cli import main

sys.exit(main())
