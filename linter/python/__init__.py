"""The Python front end: a file's text -> its facts."""
