"""What several pages show: the controls, the player, the frame of a lesson, the share panel."""
