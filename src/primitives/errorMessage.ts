/** The message of a thrown value, which need not be an Error when a library throws it. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
