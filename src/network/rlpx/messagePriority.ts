/** Priority of a message: consensus is sent first, and dropped last. */
export type MessagePriority = "consensus" | "ordinary";
