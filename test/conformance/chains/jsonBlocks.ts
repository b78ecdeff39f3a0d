import { forkAt } from "../../../src/chainspec/forks.ts";
import { nextBaseFee } from "../../../src/execution/baseFee.ts";
import type { BuiltBlock } from "../../../src/execution/buildBlock.ts";
import { nextGasLimit } from "../../../src/execution/gasLimit.ts";
import { type Address, asAddress } from "../../../src/primitives/address.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, type Hash, ZERO_HASH } from "../../../src/primitives/hash.ts";
import { toDigits, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes, bytesToBigint } from "../../../src/primitives/quantity.ts";
import { err, ok, type Result } from "../../../src/primitives/result.ts";
import { addressOfPrivateKey } from "../../../src/primitives/secp256k1.ts";
import type { Block } from "../../../src/types/block.ts";
import { EMPTY_BLOOM } from "../../../src/types/bloom.ts";
import type { Header } from "../../../src/types/header.ts";
import { rootOfList } from "../../../src/types/listRoot.ts";
import { encodeReceipt } from "../../../src/types/receipt.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { bytesOfHex } from "../suites/preState.ts";
import { buildFrom } from "./builder.ts";
import { nextDifficulty } from "./difficulty.ts";
import type { ForeignChain } from "./foreignChain.ts";
import { termsOf } from "./foreignExecution.ts";

/** A block as Besu's `blocks import --format=JSON` is told to make it: what is in it, not what comes of it. */
export interface JsonBlock {
  readonly number?: number | string;
  readonly parentHash?: string;
  readonly coinbase?: string;
  readonly extraData?: string;
  readonly extradata?: string;
  readonly transactions: readonly JsonTransaction[];
}

/** Signed by the key, without replay protection, with the sender's next nonce. */
export interface JsonTransaction {
  readonly secretKey: string;
  readonly gasLimit: string;
  readonly gasPrice: string;
  readonly to?: string;
  readonly value?: string;
  readonly data?: string;
}

/** What a block has from the moment and the machine of its making. */
export type Circumstances = Pick<Header, "timestamp" | "mixHash" | "nonce">;

type BuildRefusal = "noSuchParent" | "transactionLeftOut" | "unsupportedFields";

/** Builds a block on the head of the chain with our builder of blocks; it is not yet part of the chain. */
export async function buildJsonBlock(
  chain: ForeignChain,
  instructions: JsonBlock,
  circumstances: Circumstances,
): Promise<Result<Block<SentTransaction>, BuildRefusal>> {
  await chain.goTo(chain.head);
  const { number, parentHash } = instructions;
  const isOnHead =
    (number === undefined || BigInt(number) === chain.head.header.number + 1n) &&
    (parentHash === undefined || parentHash === toHex(chain.head.hash));
  if (!isOnHead) return refuse("noSuchParent", "the block is not to be the next one");
  const { coinbase, extraData } = instructions;
  if (chain.rules.isClique && (coinbase !== undefined || extraData !== undefined))
    return refuse("unsupportedFields", "Clique has a use of its own for coinbase and extra data");
  const draft = draftOf(chain, instructions, circumstances);
  const wanted = signAll(chain, instructions.transactions);
  const built = await fill(chain, draft, wanted);
  if (built.transactions.length < wanted.length)
    return refuse(
      "transactionLeftOut",
      `${wanted.length - built.transactions.length} transactions do not fit`,
    );
  const header: Header = {
    ...draft,
    stateRoot: chain.world.stage(built.overlay.changes(), draft.number).root,
    transactionsRoot: rootOfList(built.transactions.map(({ raw }) => raw)),
    receiptsRoot: rootOfList(built.receipts.map(encodeReceipt)),
    logsBloom: built.logsBloom,
    gasUsed: built.gasUsed,
  };
  return ok({ header, transactions: built.transactions, ommers: [] });
}

/** The header, but for what comes of the transactions. */
function draftOf(chain: ForeignChain, instructions: JsonBlock, circumstances: Circumstances): Header {
  const { rules, head } = chain;
  const { timestamp } = circumstances;
  const parent = head.header;
  const number = parent.number + 1n;
  const baseFeePerGas = nextBaseFee(rules.spec, parent, timestamp);
  const fork = forkAt(rules.spec.forks, number, timestamp);
  return {
    parentHash: head.hash,
    ommersHash: EMPTY_LIST_HASH,
    coinbase: addressOf(instructions.coinbase ?? "0x"),
    stateRoot: EMPTY_TRIE_ROOT,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: EMPTY_BLOOM,
    difficulty: rules.fixedDifficulty ?? nextDifficulty(fork, parent, timestamp),
    number,
    gasLimit: nextGasLimit(rules.spec, parent, timestamp, undefined),
    gasUsed: 0n,
    extraData: bytesOfHex(instructions.extraData ?? instructions.extradata ?? "0x"),
    ...circumstances,
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
  };
}

function fill(chain: ForeignChain, header: Header, wanted: readonly SentTransaction[]): Promise<BuiltBlock> {
  const terms = termsOf({
    rules: chain.rules,
    block: { header, ommers: [] },
    parentTotalDifficulty: chain.head.totalDifficulty,
    ancestorHash: chain.hashOf,
  });
  return buildFrom(terms, wanted, chain.world.overlay());
}

function signAll(chain: ForeignChain, transactions: readonly JsonTransaction[]): readonly SentTransaction[] {
  const nonces = new Map<string, bigint>();
  return transactions.map(({ secretKey, gasLimit, gasPrice, to, value, data }) => {
    const privateKey = bytesOfHex(secretKey);
    const sender = addressOfPrivateKey(privateKey);
    const nonce = nonces.get(toDigits(sender)) ?? chain.world.head.account(sender)?.nonce ?? 0n;
    nonces.set(toDigits(sender), nonce + 1n);
    return aTransaction({
      chainId: undefined,
      nonce,
      gasPrice: BigInt(gasPrice),
      gasLimit: BigInt(gasLimit),
      to: to === undefined ? undefined : addressOf(to),
      value: BigInt(value ?? 0),
      data: bytesOfHex(data ?? "0x"),
      privateKey,
    });
  });
}

/** Short ones stand for small numbers. */
function addressOf(text: string): Address {
  return asAddress(bigintToFixedBytes(bytesToBigint(bytesOfHex(text)), 20));
}

function refuse(code: BuildRefusal, message: string): Result<never, BuildRefusal> {
  return err({ code, fault: "caller", message });
}

export const NO_SEAL: { readonly mixHash: Hash; readonly nonce: Uint8Array } = {
  mixHash: ZERO_HASH,
  nonce: new Uint8Array(8),
};
