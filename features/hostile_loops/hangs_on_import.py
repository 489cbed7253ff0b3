"""Never gets loaded."""

while True:
    pass
