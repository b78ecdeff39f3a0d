/** What a message is for: consensus goes first, and is dropped last. */
export type Urgency = "consensus" | "ordinary";
