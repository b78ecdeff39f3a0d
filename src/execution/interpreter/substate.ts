import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { Log } from "../../types/log.ts";

/** The sizes of a substate at some point. */
export interface SubstateMark {
  readonly logs: number;
  readonly effectBytes: number;
  readonly destroyed: number;
  readonly created: number;
}

/**
 * What a top-level message collects apart from the state (yellow paper §6.1): logs, accounts to destroy, accounts created.
 * All its frames share one, and the additions of a failed frame are truncated.
 */
export class Substate {
  readonly logs: Log[] = [];
  /** Cost of the logs and of stored code (effectCost.ts). */
  effectBytes = 0;
  private readonly destroyed: Address[] = [];
  private readonly created: string[] = [];
  /** The sets are created on first use: most messages destroy and create nothing. */
  private destroyedKeys: Set<string> | undefined = undefined;
  private createdKeys: Set<string> | undefined = undefined;

  isDestroyed(address: Address): boolean {
    return this.destroyedKeys?.has(toKey(address)) ?? false;
  }

  destroy(address: Address): void {
    const key = toKey(address);
    this.destroyedKeys ??= new Set();
    if (this.destroyedKeys.has(key)) return;
    this.destroyedKeys.add(key);
    this.destroyed.push(address);
  }

  isCreated(address: Address): boolean {
    return this.createdKeys?.has(toKey(address)) ?? false;
  }

  create(address: Address): void {
    const key = toKey(address);
    this.createdKeys ??= new Set();
    if (this.createdKeys.has(key)) return;
    this.createdKeys.add(key);
    this.created.push(key);
  }

  /** Accounts that SELFDESTRUCT marked, in order. */
  get destroyedAccounts(): readonly Address[] {
    return this.destroyed;
  }

  /** A mark for revertTo. */
  mark(): SubstateMark {
    const { logs, effectBytes, destroyed, created } = this;
    if (logs.length === 0 && destroyed.length === 0 && created.length === 0) return EMPTY;
    return { logs: logs.length, effectBytes, destroyed: destroyed.length, created: created.length };
  }

  /** Removes what was added since the mark. */
  revertTo({ logs, effectBytes, destroyed, created }: SubstateMark): void {
    this.logs.length = logs;
    this.effectBytes = effectBytes;
    if (this.destroyed.length > destroyed)
      for (const address of this.destroyed.splice(destroyed)) this.destroyedKeys?.delete(toKey(address));
    if (this.created.length > created)
      for (const key of this.created.splice(created)) this.createdKeys?.delete(key);
  }
}

const EMPTY: SubstateMark = { logs: 0, effectBytes: 0, destroyed: 0, created: 0 };
