"""What changes when more passages are judged?"""
