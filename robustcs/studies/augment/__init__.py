"""What changes once more passages are judged?"""
