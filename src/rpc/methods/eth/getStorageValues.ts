import type { Address } from "../../../primitives/address.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { equalBytes, toHex, toWordHex } from "../../../primitives/hex.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import type { NamedHeader } from "../../../types/block.ts";
import { invalidParams, RpcError } from "../../errors/errors.ts";
import { type ContextOf, defineMethod, optional, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import { decodeAddress, decodeList, decodeStoragePosition, isObject } from "../../parameters/parameters.ts";
import { DATA, listOf, NUMBER_TAG_OR_HASH, OBJECT, orNull, POSITION } from "../../schemas.ts";

/** Slots of one request, as in go-ethereum: each costs a walk down a trie. */
const SLOTS_LIMIT = 1024;

/** Not in Besu, but in execution-apis. */
export const ethGetStorageValues = defineMethod({
  name: "eth_getStorageValues",
  namespace: "ETH",
  summary: "Values of storage slots of several accounts; null when the state of that block is not stored.",
  parameters: [
    {
      ...required("requests", decodeRequests, {
        type: "object",
        additionalProperties: listOf(POSITION),
      }),
      explain: (given) => explainCount(slotsIn(given)),
    },
    optional("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH),
  ],
  result: { name: "values", schema: orNull({ ...OBJECT, additionalProperties: listOf(DATA) }) },
  ports: ["chain"],
  async run([requests, choice = "latest"], context) {
    const found = findHeader(context.backend.chain, choice);
    if (found instanceof RpcError) return found;
    const words = await readSlots(context, found, requests.flatMap(slotsOfRequest));
    if (words === undefined) return null;
    return Object.fromEntries(
      requests.map(({ address, slots }) => [toHex(address), words.splice(0, slots.length)]),
    );
  },
});

interface SlotRequest {
  readonly address: Address;
  readonly slots: readonly Hash[];
}

interface WantedSlot {
  readonly address: Address;
  readonly slot: Hash;
}

function slotsOfRequest({ address, slots }: SlotRequest): readonly WantedSlot[] {
  return slots.map((slot) => ({ address, slot }));
}

/** The values of the slots after a block; undefined when its state is not stored. */
async function readSlots(
  context: ContextOf<"chain">,
  { header: { number }, hash }: NamedHeader,
  wanted: readonly WantedSlot[],
): Promise<string[] | undefined> {
  const { chain } = context.backend;
  const words: string[] = [];
  const pacer = new EventLoopPacer();
  let state = chain.stateAt(number);
  for (const { address, slot } of wanted) {
    if (state === undefined) return undefined;
    words.push(toWordHex(state.storage(address, slot)));
    if (!pacer.isDue()) continue;
    await pacer.yield();
    if (context.isAbandoned()) return undefined;
    // The reader of the head's state has moved on with the head, and a rewind may have removed the block.
    const known = chain.headerByNumber(number);
    state = known !== undefined && equalBytes(known.hash, hash) ? chain.stateAt(number) : undefined;
  }
  return state && words;
}

function decodeRequests(value: unknown): readonly SlotRequest[] | undefined {
  const count = slotsIn(value);
  if (!isObject(value) || count === 0 || count > SLOTS_LIMIT) return undefined;
  const requests: SlotRequest[] = [];
  for (const [name, positions] of Object.entries(value)) {
    const address = decodeAddress(name);
    const slots = decodeList(decodeStoragePosition)(positions);
    if (address === undefined || slots === undefined) return undefined;
    requests.push({ address, slots });
  }
  return requests;
}

/**
 * Number of positions that a request has, before any of them is read; NaN for what is no request. An account without any counts
 * as one beside others with some, because it is read and answered, too.
 */
function slotsIn(value: unknown): number {
  if (!isObject(value)) return Number.NaN;
  const counts = Object.values(value).map((positions) =>
    Array.isArray(positions) ? positions.length : Number.NaN,
  );
  if (counts.every((count) => count === 0)) return 0;
  return counts.reduce((sum, count) => sum + Math.max(1, count), 0);
}

function explainCount(count: number): RpcError | undefined {
  if (count === 0) return invalidParams("parameter 1 (requests) asks for no slot");
  return count > SLOTS_LIMIT
    ? invalidParams(`parameter 1 (requests) asks for more than ${SLOTS_LIMIT} slots`)
    : undefined;
}
