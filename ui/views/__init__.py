"""What one page shows."""
