"""What an audit sees and says: cases, findings, intervals, neighbours."""
