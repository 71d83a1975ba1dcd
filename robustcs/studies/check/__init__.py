"""Do the inputs fit together?"""
