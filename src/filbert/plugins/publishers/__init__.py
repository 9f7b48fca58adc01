"""Publishers: who is told what happens to pages."""
