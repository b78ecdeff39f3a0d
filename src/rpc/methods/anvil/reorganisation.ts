import type { SignedTransaction } from "../../../dev/signedTransaction.ts";
import type { Address } from "../../../primitives/address.ts";
import { expectDefined } from "../../../primitives/assert.ts";
import { toKey } from "../../../primitives/byteKey.ts";
import { anvilError } from "../../errors/developmentErrors.ts";
import { invalidParams, RpcError } from "../../errors/errors.ts";
import { type ContextOf, defineMethod, optional, required } from "../../method.ts";
import { decodeNumberOrQuantity } from "../../parameters/developmentParameters.ts";
import { decodePartialTransaction, type PartialTransaction } from "../../parameters/fillParameter.ts";
import { decodeData } from "../../parameters/parameters.ts";
import { listOf, NULL_RESULT, NUMBER_OR_QUANTITY } from "../../schemas.ts";
import { unknownAccount } from "../accounts/accountMethod.ts";
import { complete } from "../accounts/sendTransaction.ts";

/** Other blocks in place of the newest ones, as after a fork (development-network.md#snapshots). */

export const anvilRollback = defineMethod({
  name: "anvil_rollback",
  namespace: "ANVIL",
  summary: "Removes so many of the newest blocks, one unless said otherwise.",
  parameters: [optional("depth", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: NULL_RESULT,
  ports: ["development"],
  async run([depth = 1n], context) {
    const rolledBack = await context.backend.development.reorganise({ depth, blocks: [] }, context);
    return rolledBack.ok ? null : anvilError(rolledBack.error);
  },
});

/** A transaction of a new block, which is counted from the first of them. */
interface PlacedTransaction {
  readonly transaction: Uint8Array | PartialTransaction;
  readonly index: number;
}

export const anvilReorg = defineMethod({
  name: "anvil_reorg",
  namespace: "ANVIL",
  summary:
    "Replaces so many of the newest blocks by as many others, which hold the given transactions alone.",
  parameters: [
    required("depth", decodeNumberOrQuantity, NUMBER_OR_QUANTITY),
    required("transactions", decodePlaced, listOf({ type: "array" })),
  ],
  result: NULL_RESULT,
  ports: ["chain", "newestHead", "gasPrices", "simulator", "spec", "settings", "wallet", "development"],
  mayOverlap: "few",
  async run([depth, placed], context) {
    if (depth > MOST_REPLACED) return invalidParams(`at most ${MOST_REPLACED} blocks are replaced`);
    const { number } = context.backend.chain.head.header;
    if (depth > number) return invalidParams(`the chain has ${number} blocks, not ${depth}`);
    if (placed.some(({ index }) => index >= depth))
      return invalidParams(`the new blocks are those from 0 to ${depth - 1n}`);
    const blocks: SignedTransaction[][] = Array.from({ length: Number(depth) }, () => []);
    const nonces = new Nonces(number - depth, context);
    for (const { transaction, index } of [...placed].sort((one, other) => one.index - other.index)) {
      const signed = await signedOf(transaction, nonces, context);
      if (signed instanceof RpcError) return signed;
      blocks[index]?.push(signed);
    }
    const replaced = await context.backend.development.reorganise({ depth, blocks }, context);
    return replaced.ok ? null : anvilError(replaced.error);
  },
});

const MOST_REPLACED = 1000n;
const MOST_PLACED = 1000;

type ReorgContext = ContextOf<
  "chain" | "newestHead" | "gasPrices" | "simulator" | "spec" | "settings" | "wallet" | "development"
>;

async function signedOf(
  transaction: PlacedTransaction["transaction"],
  nonces: Nonces,
  context: ReorgContext,
): Promise<SignedTransaction | RpcError> {
  if (transaction instanceof Uint8Array) return { raw: transaction, impersonated: undefined };
  const { settings, wallet } = context.backend;
  const first = expectDefined(settings.accounts[0], "an account of the development network");
  const from = transaction.call.from ?? first.address;
  const completed = await complete(transaction, from, context);
  if (completed instanceof RpcError) return completed;
  const nonce = transaction.nonce ?? nonces.next(from);
  const signed = await wallet.sign(from, { ...completed, nonce }, context);
  return signed.ok ? signed.value : unknownAccount(from);
}

/** The nonces of accounts after a block, and after the transactions that have got some since. */
class Nonces {
  private readonly used = new Map<string, bigint>();
  private readonly number: bigint;
  private readonly context: ContextOf<"chain">;

  constructor(number: bigint, context: ContextOf<"chain">) {
    this.number = number;
    this.context = context;
  }

  next(address: Address): bigint {
    const key = toKey(address);
    const { chain } = this.context.backend;
    const next = this.used.get(key) ?? chain.stateAt(this.number)?.account(address)?.nonce ?? 0n;
    this.used.set(key, next + 1n);
    return next;
  }
}

/** A list of pairs: a raw transaction, or one to be signed, and the new block that is to hold it. */
function decodePlaced(value: unknown): readonly PlacedTransaction[] | undefined {
  if (!Array.isArray(value) || value.length > MOST_PLACED) return undefined;
  const placed: PlacedTransaction[] = [];
  for (const pair of value as readonly unknown[]) {
    if (!Array.isArray(pair) || pair.length !== 2) return undefined;
    const [given, index] = pair as readonly unknown[];
    const transaction = typeof given === "string" ? decodeData(given) : decodePartialTransaction(given);
    if (transaction === undefined || typeof index !== "number" || !Number.isSafeInteger(index))
      return undefined;
    if (index < 0) return undefined;
    placed.push({ transaction, index });
  }
  return placed;
}
