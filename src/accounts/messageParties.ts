import type { MessageObserver, ObservedMessage } from "../execution/messageObserver.ts";
import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";

/** A contract, and the account that created it: for one made by a factory, the factory. */
interface Creation {
  readonly contract: Address;
  readonly creator: Address;
}

/** Who took part in a transaction, and which contracts it left behind. */
export interface CollectedParties {
  readonly addresses: Map<string, Address>;
  readonly creations: Creation[];
}

/**
 * Collects who takes part in the messages of transactions, one after another: callers and callees, precompiled contracts
 * too, and heirs of destroyed contracts, even where it was all undone. Creations count only where they lasted.
 */
export class MessageParties implements MessageObserver {
  private into: CollectedParties = { addresses: new Map(), creations: [] };
  /** Of the open messages: the creation if it is one, and how many creations came before it. */
  private readonly open: { readonly creation: Creation | undefined; readonly before: number }[] = [];

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
    else if (message.creation !== undefined) this.into.creations.push(message.creation);
  }

  private add(address: Address): void {
    this.into.addresses.set(toKey(address), address);
  }
}
