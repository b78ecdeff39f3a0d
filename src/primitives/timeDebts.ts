import { dropOldest } from "./boundedCache.ts";
import type { Requester } from "./requester.ts";

/**
 * How much time each remote host and each of its clients took lately, so that queues can serve those first that took little.
 * Debts decay by half-lives, so a host that was busy an hour ago is like a new one.
 */
export class TimeDebts {
  private readonly nowMs: () => number;
  /** Debts by remote host, the most recently charged at the end. */
  private readonly remoteHosts = new Map<string, Debt>();
  private readonly clients = new WeakMap<object, Debt>();

  /** `nowMs` is a clock in milliseconds. */
  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  /** Adds the time that a job of the requester took, milliseconds. */
  charge({ remoteHost, client }: Pick<Requester, "remoteHost" | "client">, tookMs: number): void {
    const ofHost = this.raised(this.remoteHosts.get(remoteHost), tookMs);
    this.remoteHosts.delete(remoteHost);
    this.remoteHosts.set(remoteHost, ofHost);
    dropOldest(this.remoteHosts, REMOTE_HOSTS_LIMIT);
    this.clients.set(client, this.raised(this.clients.get(client), tookMs));
  }

  /**
   * The time at which a job of this remote host that begins to wait now is due: the earliest is served first. A debt delays
   * it, but not for ever, however many hosts without a debt come.
   */
  dueOfHost(remoteHost: string): number {
    return this.due(this.remoteHosts.get(remoteHost));
  }

  /** Like dueOfHost, among the clients of one remote host. */
  dueOfClient(client: object): number {
    return this.due(this.clients.get(client));
  }

  private due(debt: Debt | undefined): number {
    return this.nowMs() + this.left(debt) * DELAY_PER_DEBT;
  }

  private raised(debt: Debt | undefined, tookMs: number): Debt {
    return { ms: Math.min(this.left(debt) + tookMs, HIGHEST_DEBT_MS), atMs: this.nowMs() };
  }

  private left(debt: Debt | undefined): number {
    if (debt === undefined) return 0;
    const passedMs = Math.max(0, this.nowMs() - debt.atMs);
    return debt.ms * 2 ** (-passedMs / HALF_LIFE_MS);
  }
}

interface Debt {
  readonly ms: number;
  /** The time at which the debt was `ms`. */
  readonly atMs: number;
}

/** Time in which a debt halves. */
const HALF_LIFE_MS = 30_000;
/** With the delay for each millisecond of debt, this bounds how long a job can wait for newcomers: ten minutes. */
const HIGHEST_DEBT_MS = 30_000;
const DELAY_PER_DEBT = 20;
/** Number of remote hosts whose debts are remembered, the most recently charged; each takes about 200 bytes. */
const REMOTE_HOSTS_LIMIT = 4096;
