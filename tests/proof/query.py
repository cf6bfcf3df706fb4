# SPDX-License-Identifier: MIT
"""What a query is: its name, the answer that must come, the function that builds its assertions from Sources, about the seconds it takes
(only for the order in which queries are begun), and whether it is of every `make check-all`."""
from collections import namedtuple

Query = namedtuple('Query', 'name expects make seconds quick')
