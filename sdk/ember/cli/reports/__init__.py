"""What commands found becomes what a person reads: tables, a page, a JUnit report."""
