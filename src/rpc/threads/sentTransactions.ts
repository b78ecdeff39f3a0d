import { type Address, asAddress } from "../../primitives/address.ts";

/*
 * Transactions on their way to the pool, as one piece of memory, since an object for each would cost both threads more than
 * all else that they do with it:
 *
 *   length u32 | sender, 20 bytes | canonical encoding          once for each
 */
const LEAD = 4 + 20;

export interface SentItem {
  readonly raw: Uint8Array;
  readonly sender: Address;
}

export function packTransactions(items: readonly SentItem[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(items.reduce((sum, { raw }) => sum + LEAD + raw.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { raw, sender } of items) {
    view.setUint32(at, raw.length);
    bytes.set(sender, at + 4);
    bytes.set(raw, at + LEAD);
    at += LEAD + raw.length;
  }
  return bytes;
}

/** The transactions in their order. Each has bytes of its own, since the pool keeps some and drops others. */
export function* unpackTransactions(bytes: Uint8Array<ArrayBuffer>): Generator<SentItem, void> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; ) {
    const length = view.getUint32(at);
    const from = at + LEAD;
    yield { sender: asAddress(bytes.slice(at + 4, from)), raw: bytes.slice(from, from + length) };
    at = from + length;
  }
}
