"""Which clarifying question is asked, and does it help?"""
