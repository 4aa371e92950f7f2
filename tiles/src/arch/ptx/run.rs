//! Nothing: on the device blocks are run by the launch alone.
