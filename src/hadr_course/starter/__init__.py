"""What a student's repository has of its own: agent.py in phase 0 and in phase 1, a README, a CI script."""
