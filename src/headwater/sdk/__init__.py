"""What a program sees of a lake: a face that waits, `headwater.open`; one that awaits, `headwater.aio`; and files."""
