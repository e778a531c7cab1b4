"""A course with nbgrader: notebooks to give out, a folder to collect in, marks that go into the gradebook."""
