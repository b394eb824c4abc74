"""Wires that are networks: CAN over UDP multicast, ROS 2 over DDS, a Universal Robots controller."""
