import type { MessageObserver, ObservedMessage } from "../execution/messageObserver.ts";
import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";

/** A contract, and the account that created it, such as a factory. */
interface Creation {
  readonly contract: Address;
  readonly creator: Address;
}

/** The accounts that took part in a transaction, and the contracts that it left behind. */
export interface CollectedParties {
  readonly addresses: Map<string, Address>;
  readonly creations: Creation[];
}

/**
 * Collects the participants in the messages of transactions, one after another: callers and callees, precompiled contracts
 * included, and heirs of destroyed contracts, even if everything was reverted. Creations count only if they lasted.
 */
export class MessageParties implements MessageObserver {
  /** Number of further addresses and creations that may be collected; negative once there were more. */
  private room: number;
  private into: CollectedParties = { addresses: new Map(), creations: [] };
  /** The open messages, outermost first: the creation if it is one, and how many creations came before it. */
  private readonly open: { readonly creation: Creation | undefined; readonly before: number }[] = [];

  /** Collects at most `limit` addresses and creations, in addition to the given ones. */
  constructor(limit: number) {
    this.room = limit;
  }

  /** Whether the limit was exceeded. */
  get isCut(): boolean {
    return this.room < 0;
  }

  begin(into: CollectedParties = { addresses: new Map(), creations: [] }): void {
    this.into = into;
    this.open.length = 0;
  }

  entered({ isCreation, from, to }: ObservedMessage): void {
    this.add(from);
    this.add(to);
    const creation = isCreation ? { contract: to, creator: from } : undefined;
    this.open.push({ creation, before: this.into.creations.length });
  }

  destroyed(from: Address, to: Address): void {
    this.add(from);
    this.add(to);
  }

  left(hasSucceeded: boolean): void {
    const message = this.open.pop();
    if (message === undefined) return;
    if (!hasSucceeded) this.into.creations.length = message.before;
    else if (message.creation !== undefined && this.hasRoom()) this.into.creations.push(message.creation);
  }

  /** Gives up the transaction before its end, when it is not known which of its creations last. */
  abandon(): void {
    this.into.creations.length = 0;
  }

  private add(address: Address): void {
    const { addresses } = this.into;
    const key = toKey(address);
    if (!addresses.has(key) && this.hasRoom()) addresses.set(key, address);
  }

  private hasRoom(): boolean {
    if (this.room >= 0) this.room--;
    return this.room >= 0;
  }
}
