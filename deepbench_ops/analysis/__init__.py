"""What results say: derived figures and comparisons; nothing here measures or draws."""
