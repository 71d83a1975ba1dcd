"""What a project is: its inputs, declared once, its file, and what a command works on."""
