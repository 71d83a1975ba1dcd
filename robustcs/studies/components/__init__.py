"""Which component loses answers in a grid of wordings and rankers?"""
