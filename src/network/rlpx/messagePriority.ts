/** What a message is for: consensus goes first, and is dropped last. */
export type MessagePriority = "consensus" | "ordinary";
