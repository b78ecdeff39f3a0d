/**
 * Bytes, more than the kernel takes from one who sends to one who reads nothing, at both ends of a connection on loopback
 * together: a few megabytes as a rule, 52 million where net.ipv4.tcp_wmem and tcp_rmem begin at 16 and 32 MiB. Only what
 * is beyond it is sure to wait in a process.
 */
export const MORE_THAN_KERNELS_TAKE = 64 * 1024 * 1024;
