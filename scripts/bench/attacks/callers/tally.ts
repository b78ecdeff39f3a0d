/** Counts of what happened during an attack, by its name. */
export class Tally {
  private readonly counts = new Map<string, number>();

  note(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  /** All counts, the largest first; "nothing" without any. */
  get text(): string {
    const entries = [...this.counts].toSorted(([, one], [, other]) => other - one);
    return entries.map(([what, count]) => `${what}: ${count}`).join("; ") || "nothing";
  }
}
