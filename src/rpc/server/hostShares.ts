import type { SharedHosts } from "./sharedHosts.ts";

/**
 * A table with a limit for all remote hosts: one of them may have half of the room that the others leave, so that the next one
 * always finds some. Clients behind one proxy are one host, which is why a host has no fixed share.
 */
export class HostShares {
  private readonly limit: number;
  private readonly shared: SharedHosts | undefined;
  /** What each host has on this thread; hosts that have nothing are left out. */
  private readonly ownOf = new Map<string, number>();
  private own = 0;

  /** `shared` is what hosts have on other threads. */
  constructor(limit: number, shared?: SharedHosts) {
    this.limit = limit;
    this.shared = shared;
  }

  /** What all hosts have on this thread. */
  get held(): number {
    return this.own;
  }

  /**
   * Adds to what the host has, unless that were more than its share. Counted first, so that two threads cannot both take what is
   * left. What is large finds room when nobody has anything.
   */
  take(remoteHost: string, amount: number): boolean {
    if (amount === 0) return true;
    this.count(remoteHost, amount);
    const before = this.own - amount + (this.shared?.others ?? 0);
    const ofHost = (this.ownOf.get(remoteHost) ?? 0) + (this.shared?.othersOf(remoteHost) ?? 0);
    if (before === 0 || ofHost <= this.limit - before) return true;
    this.count(remoteHost, -amount);
    return false;
  }

  giveBack(remoteHost: string, amount: number): void {
    this.count(remoteHost, -amount);
  }

  private count(remoteHost: string, by: number): void {
    this.own += by;
    this.shared?.add(remoteHost, by);
    const own = (this.ownOf.get(remoteHost) ?? 0) + by;
    if (own === 0) this.ownOf.delete(remoteHost);
    else this.ownOf.set(remoteHost, own);
  }
}
