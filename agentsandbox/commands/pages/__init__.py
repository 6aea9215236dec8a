"""Text in lines and pages: fold, fmt, pr."""
