import type { Address } from "../../../primitives/address.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { compareBytes, equalBytes } from "../../../primitives/hex.ts";
import type { JsonWriter } from "../../../primitives/jsonWriter.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import { bytesToBigint } from "../../../primitives/quantity.ts";
import type { AccountProof } from "../../../state/proof.ts";
import type { Account } from "../../../types/account.ts";
import type { NamedHeader } from "../../../types/block.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { type ContextOf, defineMethod, type JsonStream, type RawJson, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import { decodeAddress, decodeList, decodeStoragePosition, decodeText } from "../../parameters/parameters.ts";
import { writtenAnswer } from "../../results/writtenAnswer.ts";
import { ADDRESS, listOf, NUMBER_TAG_OR_HASH, OBJECT, POSITION } from "../../schemas.ts";

/**
 * Differs from the standard as Besu does: slots are sorted, each once, without leading zero bytes, and an account that does
 * not exist is an error. The method takes the keys as text, because a malformed one is -32603, not -32602.
 */
export const ethGetProof = defineMethod({
  name: "eth_getProof",
  namespace: "ETH",
  summary: "An account and some of its storage with their Merkle proofs.",
  parameters: [
    required("address", decodeAddress, ADDRESS),
    required("keys", decodeKeys, listOf(POSITION)),
    required("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH),
  ],
  result: { name: "proof", schema: OBJECT },
  ports: ["chain", "prove"],
  async run([address, keys, choice], context) {
    const found = findHeader(context.backend.chain, choice);
    if (found instanceof RpcError) return found;
    const slots = sortedSlots(keys);
    if (slots === undefined) return ERRORS.internalError;
    const proof = await proveInSteps(context, found, address, slots);
    return proof?.account === undefined
      ? ERRORS.accountNotFound
      : answerOf({ ...proof, address, account: proof.account });
  },
});

/** Keys between two looks at the clock. */
const KEYS_AT_ONCE = 16;

/**
 * The proofs of an account and of its slots after a block; undefined when its state is not stored, or is removed meanwhile.
 * Other callers have their turns between.
 */
async function proveInSteps(
  context: ContextOf<"chain" | "prove">,
  { header: { number }, hash }: NamedHeader,
  address: Address,
  slots: readonly Hash[],
): Promise<AccountProof | undefined> {
  const { chain, prove } = context.backend;
  const pacer = new EventLoopPacer();
  const first = prove(number, address, slots.slice(0, KEYS_AT_ONCE));
  const storageProof = [...(first?.storageProof ?? [])];
  for (let at = KEYS_AT_ONCE; at < slots.length; at += KEYS_AT_ONCE) {
    if (pacer.isDue()) {
      await pacer.yield();
      const known = chain.headerByNumber(number);
      if (context.isAbandoned() || known === undefined || !equalBytes(known.hash, hash)) return undefined;
    }
    const next = prove(number, address, slots.slice(at, at + KEYS_AT_ONCE));
    if (next === undefined) return undefined;
    storageProof.push(...next.storageProof);
  }
  return first && { ...first, storageProof };
}

interface ShownProof extends AccountProof {
  readonly address: Address;
  readonly account: Account;
}

function answerOf(proof: ShownProof): RawJson | JsonStream {
  const nodes = [proof.accountProof, ...proof.storageProof.map((each) => each.proof)].flat();
  const bytes = nodes.reduce((sum, { length }) => sum + length, 0);
  return writtenAnswer(bytes, (writer) => writeProof(writer, proof));
}

function* writeProof(
  writer: JsonWriter,
  { address, account, accountProof, storageProof }: ShownProof,
): Generator<void, void> {
  writer.beginObject();
  writeNodes(writer, "accountProof", accountProof);
  writer.data("address", address);
  writer.quantity("balance", account.balance);
  writer.data("codeHash", account.codeHash);
  writer.quantity("nonce", account.nonce);
  writer.data("storageHash", account.storageRoot);
  writer.beginList("storageProof");
  for (const { slot, value, proof } of storageProof) {
    writer.beginObject();
    writer.data("key", withoutLeadingZeros(slot));
    writer.quantity("value", bytesToBigint(value));
    writeNodes(writer, "proof", proof);
    writer.endObject();
    yield;
  }
  writer.endList();
  writer.endObject();
}

function writeNodes(writer: JsonWriter, name: string, nodes: readonly Uint8Array[]): void {
  writer.beginList(name);
  for (const node of nodes) writer.dataItem(node);
  writer.endList();
}

/** Each key costs a walk down the trie. */
const KEYS_LIMIT = 1024;

function decodeKeys(value: unknown): readonly string[] | undefined {
  const keys = decodeList(decodeText)(value);
  return keys !== undefined && keys.length > KEYS_LIMIT ? undefined : keys;
}

function sortedSlots(keys: readonly string[]): readonly Hash[] | undefined {
  const slots = decodeList(decodeStoragePosition)(keys);
  const sorted = slots && [...slots].sort(compareBytes);
  return sorted?.filter((slot, index) => index === 0 || !equalBytes(slot, sorted[index - 1] ?? slot));
}

function withoutLeadingZeros(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? bytes.subarray(bytes.length) : bytes.subarray(first);
}
